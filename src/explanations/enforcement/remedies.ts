import type { Requirement } from './branch-facts.ts';

/** The values in URLs and commands. */
export type Place = {
  /** `https://github.com` */
  web: string;
  /** `https://api.github.com` */
  api: string;
  /** `owner/name` */
  repository: string;
  /** The name of the status check. */
  context: string;
  appId: number;
};

/** One argument of a POSIX shell, whatever it contains. */
export const shellQuote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** How to require our check on a branch with a new ruleset, which does not touch other rules. */
export function requireCheck({ web, api, repository, context, appId }: Place, branch: string): string {
  const ruleset = {
    name: `${context} on ${branch}`,
    target: 'branch',
    enforcement: 'active',
    conditions: { ref_name: { include: [`refs/heads/${branch}`], exclude: [] } },
    rules: [
      {
        type: 'required_status_checks',
        parameters: {
          strict_required_status_checks_policy: false,
          required_status_checks: [{ context, integration_id: appId }],
        },
      },
    ],
  };
  return (
    `Require ${context} at ${web}/${repository}/settings/rules/new?target=branch, or as an admin: ` +
    `curl -X POST -H "Authorization: Bearer $GITHUB_TOKEN" ${shellQuote(`${api}/repos/${repository}/rulesets`)} ` +
    `-d ${shellQuote(JSON.stringify(ruleset))}`
  );
}

/** The page to change a requirement. */
export function settingsOf({ web, repository }: Place, by: Requirement['by']): string {
  if (by.kind === 'protection') return `${web}/${repository}/settings/branches`;
  if (by.level === 'Organization') return `${web}/organizations/${by.source}/settings/rules/${by.id}`;
  if (by.level === 'Enterprise') return `${web}/enterprises/${by.source}/settings/policies`;
  return `${web}/${repository}/settings/rules/${by.id}`;
}
