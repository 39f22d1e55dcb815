// The addresses of pages.

type Named = { name: string; account: { login: string } };

export const ownerPath = (login: string): string => `/repos/${login}`;
export const repositoryPath = ({ account, name }: Named): string => `/repos/${account.login}/${name}`;
export const freezePath = (repository: Named, id: string): string =>
  `${repositoryPath(repository)}/freezes/${id}`;
export const pullRequestPath = (repository: Named, number: number): string =>
  `${repositoryPath(repository)}/pulls/${number}`;
/** The deployments of a repository that wait, and where forms about their exemptions go. */
export const deploymentsPath = (repository: Named): string => `${repositoryPath(repository)}#deployments`;
export const deploymentExemptionsPath = (repository: Named): string =>
  `${repositoryPath(repository)}/deployment_exemptions`;
/** By the head SHA of the group. */
export const mergeGroupPath = (repository: Named, sha: string): string =>
  `${repositoryPath(repository)}/merge-groups/${sha}`;
export const repositorySettingsPath = (repository: Named): string => `${repositoryPath(repository)}/settings`;
export const repositoryAuditPath = (repository: Named): string => `${repositoryPath(repository)}/audit`;

// What an owner has is apart from the addresses of its repositories, which can have any name.

export const ownerFormPath = (login: string, form: 'freeze' | 'unfreeze' | 'plans/new'): string =>
  `/owners/${login}/${form}`;
export const plansPath = (login: string): string => `/owners/${login}/plans`;
export const planPath = (login: string, id: string): string => `/owners/${login}/plans/${id}`;
/** One occurrence of a plan, by its start in the plan's zone. */
export const occurrencePath = (login: string, plan: string, start: string): string =>
  `${planPath(login, plan)}/occurrences/${start}`;
/** The settings of an owner: general ones, or another subject (`src/pages/settings/subjects.ts`). */
export const ownerSettingsPath = (login: string, subject: string = 'general'): string =>
  `/owners/${login}/settings${subject === 'general' ? '' : `/${subject}`}`;
/** The page of an outgoing webhook. */
export const webhookPath = (login: string, id: string): string =>
  `${ownerSettingsPath(login, 'webhooks')}/${id}`;
export const exemptionsPath = (login: string): string => `/owners/${login}/exemptions`;
/** The deployments of all repositories of an owner. */
export const ownerDeploymentsPath = (login: string): string => `/owners/${login}/deployments`;
export const auditPath = (login: string): string => `/owners/${login}/audit`;
/** What freezes did each month. */
export const reportsPath = (login: string): string => `/owners/${login}/reports`;
/** The steps after the installation. */
export const firstStepsPath = (login: string): string => `/owners/${login}/first-steps`;
/** Calendars for calendar apps. */
export const subscribePath = (login: string): string => `/owners/${login}/calendar/subscribe`;

/** The streams that tell pages of changes. */
export const homeLivePath = '/owners/live';
export const ownerLivePath = (login: string): string => `/owners/${login}/live`;
export const repositoryLivePath = (repository: Named): string => `${repositoryPath(repository)}/live`;

/** How many pull requests of a plan or a freeze GitHub holds so far. */
export const progressPath = (login: string, of: { plan: string } | { freeze: string }): string =>
  `/owners/${login}/progress?${new URLSearchParams(of)}`;

/**
 * @property month the first one that it shows: `2026-12`. @property day of the week that it shows. @property as `list` for
 *   a list in the place of bars.
 */
type CalendarQuery = {
  month?: string | null;
  day?: string | null;
  show?: 'week' | 'quarter' | null;
  as?: 'list' | null;
  repositories?: string[];
};

export function calendarPath(login: string, { repositories = [], ...asked }: CalendarQuery = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(asked)) if (value) query.set(name, value);
  for (const name of repositories) query.append('repository', name);
  return `/owners/${login}/calendar${query.size > 0 ? `?${query}` : ''}`;
}

/** The accounts of Slack that somebody linked. */
export const slackAccountsPath = '/slack/accounts';

/** Where GitHub sends back people who installed one of the Apps, and where the setup ends. */
export const installedPath = '/installed';

/** Where GitHub sends back the person who created the second App. */
export const lockAppCallbackPath = '/lock-app/callback';

/** @param to the path of this service to which somebody returns. */
export const signInPath = (to: string): string => `/auth/sign-in?to=${encodeURIComponent(to)}`;
