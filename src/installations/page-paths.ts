type Named = { name: string; account: { login: string } };

/** The page of all repositories of an owner. */
export const ownerPath = (login: string): string => `/repos/${login}`;

/** Where people freeze and unfreeze an owner. Apart from the addresses of repositories, which can have any name. */
export const ownerFormPath = (login: string, form: 'freeze' | 'unfreeze' | 'plans/new'): string =>
  `/owners/${login}/${form}`;

/** The page that shows how many pull requests of a plan or a freeze GitHub holds so far. */
export const progressPath = (login: string, of: { plan: string } | { freeze: string }): string =>
  `/owners/${login}/progress?${new URLSearchParams(of)}`;

/** The calendar of an owner, or of some of its repositories. @param month the first month that it shows: `2026-12`. */
export function calendarPath(
  login: string,
  { month = null, show = null, repositories = [] }: CalendarQuery = {},
): string {
  const query = new URLSearchParams({ ...(month && { month }), ...(show && { show }) });
  for (const name of repositories) query.append('repository', name);
  return `/owners/${login}/calendar${query.size > 0 ? `?${query}` : ''}`;
}

/** Where admins of an owner create calendars for calendar apps. */
export const subscribePath = (login: string): string => `/owners/${login}/calendar/subscribe`;

type CalendarQuery = { month?: string | null; show?: 'quarter' | null; repositories?: string[] };

/** The plans of an owner. */
export const plansPath = (login: string): string => `/owners/${login}/plans`;

/** The settings of an owner, and of a repository. */
export const ownerSettingsPath = (login: string): string => `/owners/${login}/settings`;
export const repositorySettingsPath = (repository: Named): string => `${repositoryPath(repository)}/settings`;

/** The exemptions of an owner. */
export const exemptionsPath = (login: string): string => `/owners/${login}/exemptions`;

/** Who did what in an owner and its repositories. */
export const auditPath = (login: string): string => `/owners/${login}/audit`;

/** Who did what in a repository. */
export const repositoryAuditPath = (repository: Named): string => `${repositoryPath(repository)}/audit`;

/** The page of a plan. */
export const planPath = (login: string, id: string): string => `/owners/${login}/plans/${id}`;

/** The page of a repository's freezes. */
export const repositoryPath = ({ account, name }: Named): string => `/repos/${account.login}/${name}`;

/** The page of one freeze. */
export const freezePath = (repository: Named, id: string): string =>
  `${repositoryPath(repository)}/freezes/${id}`;

/** The page that says what holds a pull request. */
export const pullRequestPath = (repository: Named, number: number): string =>
  `${repositoryPath(repository)}/pulls/${number}`;

/** The page that says what holds a merge group, by its head SHA. */
export const mergeGroupPath = (repository: Named, sha: string): string =>
  `${repositoryPath(repository)}/merge-groups/${sha}`;

/** The accounts of Slack that somebody linked. */
export const slackAccountsPath = '/slack/accounts';

/** Where GitHub sends back the person who created the second App. */
export const lockAppCallbackPath = '/lock-app/callback';

/** Where somebody signs in and then returns to a path of this service. */
export const signInPath = (to: string): string => `/auth/sign-in?to=${encodeURIComponent(to)}`;

/** The page with the steps after the installation on an owner. */
export const firstStepsPath = (login: string): string => `/owners/${login}/first-steps`;
