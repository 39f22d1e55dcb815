import { holdsDeployments } from '../../freezes/freeze.ts';
import type { StoredFreeze } from '../../freezes/freeze-columns.ts';
import type { Fact } from '../../github/pull-requests/fact.ts';
import { type Finding, findingsOf } from './finding.ts';
import type { Target } from './judge-branch.ts';

/** An environment of a repository on GitHub. */
export type EnvironmentFacts = {
  name: string;
  /** Whether our protection rule is enabled. */
  waits: boolean;
  /** How many custom protection rules are enabled, of all Apps. */
  rules: number;
  /** Whether administrators can start waiting jobs. */
  adminsBypass: boolean;
};

/** GitHub enables at most this many. */
const mostRules = 6;

/**
 * In which environments GitHub waits for Holdfast. Those without our rule only count if a freeze holds deployments there.
 * @param facts null: we did not look. @param freezes those that are not over.
 */
export function judgeEnvironments(
  facts: Fact<EnvironmentFacts[]> | null,
  freezes: StoredFreeze[],
  { web, repository, appId }: Target,
): Finding[] {
  if (!facts) return [];
  const found = findingsOf('deployments');
  if (!facts.known)
    return [found('unknown', `Holdfast cannot read the environments of ${repository}: ${facts.reason}.`)];
  return facts.value.flatMap(({ name, waits, rules, adminsBypass }) => {
    if (waits && adminsBypass)
      return [
        found(
          'warning',
          `GitHub waits for Holdfast before it deploys to ${name}, but administrators can bypass that.`,
          `Clear “Allow administrators to bypass configured protection rules” of ${name} at ${web}/${repository}/settings/environments.`,
        ),
      ];
    if (waits) return [found('ok', `GitHub waits for Holdfast before it deploys to ${name}.`)];
    if (!freezes.some((freeze) => holdsDeployments(freeze, name))) return [];
    const message = `GitHub does not wait for Holdfast before it deploys to ${name}, so freezes do not block that.`;
    const path = `repos/${repository}/environments/${encodeURIComponent(name)}/deployment_protection_rules`;
    const remedy =
      rules >= mostRules
        ? `Disable one of its ${mostRules} protection rules first, the most that GitHub allows, at ${web}/${repository}/settings/environments.`
        : `An admin can enable the rule at ${web}/${repository}/settings/environments, or with: gh api -X POST ${path} -F integration_id=${appId}`;
    return [found('warning', message, remedy)];
  });
}
