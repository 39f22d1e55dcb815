import { isRuleEnabled } from '../../deployments/ask-github.ts';
import type { Fact } from '../../github/pull-requests/fact.ts';
import { type Asking, ask } from './ask.ts';
import type { EnvironmentFacts } from './judge-environments.ts';

/**
 * Whether GitHub waits for Holdfast before a job deploys to an environment: our protection rule is enabled there. False
 * also if there is no such environment. It takes `actions: read`.
 */
export const waitsForUs = (asking: Asking, environment: string): Promise<Fact<boolean>> =>
  ask(asking, 'installation', (client, named) =>
    isRuleEnabled(client, named, asking.deps.config.app.id, environment),
  );

/** How many environments we look at. */
const mostEnvironments = 20;

/** The environments of a repository. */
export const readEnvironments = (asking: Asking): Promise<Fact<EnvironmentFacts[]>> =>
  ask(asking, 'installation', async ({ rest }, named) => {
    const { data } = await rest.repos.getAllEnvironments({ ...named, per_page: mostEnvironments });
    return Promise.all(
      (data.environments ?? []).map(async ({ name, ...environment }) => {
        const about = { ...named, environment_name: name };
        const { data: found } = await rest.repos.getAllDeploymentProtectionRules(about);
        const rules = (found.custom_deployment_protection_rules ?? []).filter(({ enabled }) => enabled);
        // GitHub answers with it, and does not document it.
        const { can_admins_bypass: adminsBypass } = environment as { can_admins_bypass?: boolean };
        return {
          name,
          waits: rules.some(({ app }) => app.id === asking.deps.config.app.id),
          rules: rules.length,
          adminsBypass: adminsBypass ?? true,
        };
      }),
    );
  });
