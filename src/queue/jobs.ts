import type { Told } from '../reconcile/pull-requests.ts';

/** Every kind of durable work, with what it carries. A job only says what to look at again, never what is true. */
export type Tasks = {
  'refresh-repository': { repositoryId: string; at?: string };
  'refresh-pull-request': { repositoryId: string } & Told;
  'refresh-closed-heads': { repositoryId: string };
  'refresh-merge-queue': { repositoryId: string; branch: string } & ToldOfGroup;
  'ask-merge-states': { repositoryId: string };
  'correct-status': { repositoryId: string; sha: string; written: ForeignStatus };
  'find-bypass': { repositoryId: string; number: number };
  'post-statuses': { installationId: string };
  'sync-installations': Record<string, never>;
  'sync-installation': { installationId: string };
  'sync-repository': { repositoryId: string; installationId: string | null };
  'end-sessions': { personId: number };
  'recover-deliveries': Record<string, never>;
  'read-delivery': { deliveryId: string };
  sweep: Record<string, never>;
};

/** The merge group that a webhook told of: that it waits for checks, or that it is gone. */
export type ToldOfGroup = {
  headSha?: string;
  headRef?: string;
  isGone?: boolean;
  installationId?: string | null;
};

/** A status under our context that is not known to be our own. */
export type ForeignStatus = {
  id: string;
  /** By GitHub's clock; absent from jobs of versions before this field. */
  at?: string;
  state: string;
  description: string;
  by: string;
  byId: number;
};

export type TaskName = keyof Tasks;

/** A job to send. Of two with the same task and key, one that still waits serves both. */
export type Job = {
  [Name in TaskName]: { task: Name; data: Tasks[Name]; key: string; at?: Date };
}[TaskName];

export const taskNames: TaskName[] = [
  'refresh-repository',
  'refresh-pull-request',
  'refresh-closed-heads',
  'refresh-merge-queue',
  'ask-merge-states',
  'correct-status',
  'find-bypass',
  'post-statuses',
  'sync-installations',
  'sync-installation',
  'sync-repository',
  'end-sessions',
  'recover-deliveries',
  'read-delivery',
  'sweep',
];

/** Look at every open pull request of a repository; with `at`, at that instant (a freeze starts or ends). */
export function refreshRepository(repositoryId: bigint, at?: Date): Job {
  const id = String(repositoryId);
  return {
    task: 'refresh-repository',
    data: { repositoryId: id, at: at?.toISOString() },
    key: at ? `${id}@${at.toISOString()}` : id,
    at,
  };
}

/**
 * An instant at least one step ahead, the same for all that ask within a step: so one job serves them all.
 * @param step milliseconds.
 */
export const inSteps = (now: Date, step: number): Date =>
  new Date((Math.floor(now.getTime() / step) + 2) * step);

/** Look at one pull request and those that share its head SHA; with `at`, at that instant. */
export function refreshPullRequest(repositoryId: bigint, told: Told, at?: Date): Job {
  const { number, installationId, changedAt = '', looks = '' } = told;
  return {
    task: 'refresh-pull-request',
    data: { repositoryId: String(repositoryId), ...told },
    // An event of a later change is not served by a look for an earlier one, whose answer may be as old.
    key: `${repositoryId}#${number}/${installationId}~${changedAt}${looks && `!${looks}`}`,
    at,
  };
}

/** Look at the heads of closed pull requests; with `at`, at that instant. */
export function refreshClosedHeads(repositoryId: bigint, at?: Date): Job {
  const id = String(repositoryId);
  return {
    task: 'refresh-closed-heads',
    data: { repositoryId: id },
    key: at ? `${id}@${at.toISOString()}` : id,
    at,
  };
}

/** Look at the merge queue of a branch; with `at`, at that instant. */
export function refreshMergeQueue(
  repositoryId: bigint,
  branch: string,
  { at, ...told }: ToldOfGroup & { at?: Date } = {},
): Job {
  const id = String(repositoryId);
  const group = told.headSha ? `@${told.headSha}${told.isGone ? '-' : '+'}` : '';
  return {
    task: 'refresh-merge-queue',
    data: { repositoryId: id, branch, ...told },
    key: `${id}:${branch}${group}${at ? `@${at.toISOString()}` : ''}`,
    at,
  };
}

/** Ask GitHub, at an instant, whether it would merge what freezes of a repository hold. */
export function askMergeStates(repositoryId: bigint, at: Date): Job {
  const id = String(repositoryId);
  return { task: 'ask-merge-states', data: { repositoryId: id }, key: `${id}@${at.toISOString()}`, at };
}

/** Count a status of somebody else, and write ours again where that one says something else. */
export function correctStatus(repositoryId: bigint, sha: string, written: ForeignStatus): Job {
  const id = String(repositoryId);
  return {
    task: 'correct-status',
    data: { repositoryId: id, sha, written },
    key: `${id}:${sha}@${written.id}`,
  };
}

/** Find out whether a pull request that was merged was frozen then. */
export function findBypass(repositoryId: bigint, number: number): Job {
  const id = String(repositoryId);
  return { task: 'find-bypass', data: { repositoryId: id, number }, key: `${id}#${number}` };
}

/** Write the statuses that wait for an installation; with `at`, not before that instant. */
export function postStatuses(installationId: bigint, at?: Date): Job {
  const id = String(installationId);
  return {
    task: 'post-statuses',
    data: { installationId: id },
    key: at ? `${id}@${at.toISOString()}` : id,
    at,
  };
}

/** Read an installation and its repositories from GitHub again. */
export function syncInstallation(installationId: bigint): Job {
  const id = String(installationId);
  return { task: 'sync-installation', data: { installationId: id }, key: id };
}

/** Read a webhook that could not be delivered from GitHub's copy of it. */
export function readDelivery(deliveryId: string, guid: string): Job {
  return { task: 'read-delivery', data: { deliveryId }, key: guid };
}

/** Read one repository from GitHub again, through the installation that last told of it; with `at`, then. */
export function syncRepository(repositoryId: bigint, installationId: bigint | null, at?: Date): Job {
  return {
    task: 'sync-repository',
    data: {
      repositoryId: String(repositoryId),
      installationId: installationId?.toString() ?? null,
    },
    // Two installations may tell of one repository (a transfer), and a later look must not stand for one now.
    key: `${repositoryId}/${installationId}${at ? '@later' : ''}`,
    at,
  };
}

/** End every session of a person. */
export const endSessionsOf = (personId: number): Job => ({
  task: 'end-sessions',
  data: { personId },
  key: String(personId),
});
