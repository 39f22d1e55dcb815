import { isGitHubStatus } from '../../github/github-error.ts';
import type { Fact } from '../../github/pull-requests/fact.ts';
import { type Asking, ask } from './ask.ts';

/**
 * Whether GitHub waits for Holdfast before a job deploys to an environment: our protection rule is enabled there. False
 * also if there is no such environment. It takes `actions: read`.
 */
export function waitsForUs(asking: Asking, environment: string): Promise<Fact<boolean>> {
  return ask(asking, 'installation', async ({ rest }, named) => {
    try {
      const about = { ...named, environment_name: environment };
      const { data } = await rest.repos.getAllDeploymentProtectionRules(about);
      return (data.custom_deployment_protection_rules ?? []).some(
        ({ app, enabled }) => enabled && app.id === asking.deps.config.app.id,
      );
    } catch (error) {
      if (isGitHubStatus(error, 404)) return false;
      throw error;
    }
  });
}
