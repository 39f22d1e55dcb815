/** Every kind of durable work, with what it carries. A job only says what to look at again, never what is true. */
export type Tasks = {
  'reconcile-repository': { repositoryId: string; at?: string };
  'reconcile-pull-request': { repositoryId: string } & Told;
  'reconcile-closed-heads': { repositoryId: string };
  'reconcile-merge-queue': { repositoryId: string; branch: string } & ToldOfGroup;
  'ask-merge-states': { repositoryId: string };
  'correct-status': { repositoryId: string; sha: string; written: ForeignStatus };
  'find-bypass': { repositoryId: string; number: number };
  'end-exemptions': { repositoryId: string; at?: string };
  'answer-comment': { repositoryId: string } & ToldOfComment;
  'drain-outbox': { installationId: string };
  'sync-installations': Record<string, never>;
  'sync-installation': { installationId: string };
  'sync-repository': { repositoryId: string; installationId: string | null };
  'keep-plans': { accountId: string };
  'keep-plan': { planId: string };
  'end-sessions': { personId: number };
  'remind-of-freezes': Record<string, never>;
  'recover-deliveries': Record<string, never>;
  'read-delivery': { deliveryId: string };
  sweep: Record<string, never>;
};

/** A pull request that an event told of. */
export type Told = {
  number: number;
  /** GitHub's GraphQL id, where the event gave it. */
  nodeId?: string;
  /** When it changed, by GitHub's clock: an answer that is older is looked at again. */
  changedAt?: string;
  /** How often an older answer came already. */
  looks?: number;
  /** Who told of it; a repository that is not known yet is read through it first. */
  installationId: string | null;
};

/** The merge group that a webhook told of: that it waits for checks, or that it is gone. */
export type ToldOfGroup = {
  headSha?: string;
  headRef?: string;
  isGone?: boolean;
  installationId?: string | null;
};

/** A comment on a pull request that is a command. */
export type ToldOfComment = {
  commentId: string;
  number: number;
  /** Who wrote it. What they may do is asked when it is carried out. */
  person: { id: number; login: string };
  /** When it was written, by GitHub's clock. */
  at: string;
  /** Its first line, as it was then: nobody changes a command afterwards. Not logged. */
  text: string;
  /** Who told of it. */
  installationId: string | null;
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

/**
 * A job to send. Of two with the same task and key, one that still waits serves both.
 * @property about what it is about: jobs about the same thing that wait for another try are one.
 * @property attempt how often it failed; absent: never.
 */
export type Job = {
  [Name in TaskName]: {
    task: Name;
    data: Tasks[Name];
    about: string;
    key: string;
    attempt?: number;
    at?: Date;
  };
}[TaskName];

export const taskNames: TaskName[] = [
  'reconcile-repository',
  'reconcile-pull-request',
  'reconcile-closed-heads',
  'reconcile-merge-queue',
  'ask-merge-states',
  'correct-status',
  'find-bypass',
  'end-exemptions',
  'answer-comment',
  'drain-outbox',
  'sync-installations',
  'sync-installation',
  'sync-repository',
  'keep-plans',
  'keep-plan',
  'end-sessions',
  'remind-of-freezes',
  'recover-deliveries',
  'read-delivery',
  'sweep',
];

/**
 * An instant at least one step ahead, the same for all that ask within a step: so one job serves them all.
 * @param step milliseconds.
 */
export const inSteps = (now: Date, step: number): Date =>
  new Date((Math.floor(now.getTime() / step) + 2) * step);

/** Of jobs that are planned for instants, one waits for each instant. */
const keyAt = (about: string, at: Date | undefined): string => (at ? `${about}@${at.toISOString()}` : about);

/** Pull requests of which GitHub is asked within so many milliseconds whether it would merge them are asked about together. */
export const askStep = 4_000;

/** How each kind of durable work is asked for. */
export const jobs = {
  /** Look at every open pull request of a repository; with `at`, at that instant (a freeze starts or ends). */
  reconcileRepository(repositoryId: bigint, at?: Date): Job {
    const about = String(repositoryId);
    const data = { repositoryId: about, at: at?.toISOString() };
    return { task: 'reconcile-repository', data, about, key: keyAt(about, at), at };
  },

  /** Look at one pull request and those that share its head SHA; with `at`, at that instant. */
  reconcilePullRequest(repositoryId: bigint, told: Told, at?: Date): Job {
    const { number, installationId, changedAt = '', looks = '' } = told;
    const about = `${repositoryId}#${number}/${installationId}`;
    return {
      task: 'reconcile-pull-request',
      data: { repositoryId: String(repositoryId), ...told },
      about,
      // An event of a later change is not served by a look for an earlier one, whose answer may be as old.
      key: `${about}~${changedAt}${looks && `!${looks}`}`,
      at,
    };
  },

  /** Look at the heads of closed pull requests; with `at`, at that instant. */
  reconcileClosedHeads(repositoryId: bigint, at?: Date): Job {
    const about = String(repositoryId);
    const data = { repositoryId: about };
    return { task: 'reconcile-closed-heads', data, about, key: keyAt(about, at), at };
  },

  /** Look at the merge queue of a branch; with `at`, at that instant. */
  reconcileMergeQueue(
    repositoryId: bigint,
    branch: string,
    { at, ...told }: ToldOfGroup & { at?: Date } = {},
  ): Job {
    const id = String(repositoryId);
    const group = told.headSha ? `@${told.headSha}${told.isGone ? '-' : '+'}` : '';
    const about = `${id}:${branch}${group}`;
    const data = { repositoryId: id, branch, ...told };
    return { task: 'reconcile-merge-queue', data, about, key: keyAt(about, at), at };
  },

  /** Ask GitHub, at an instant, whether it would merge what freezes of a repository hold. */
  askMergeStates(repositoryId: bigint, at: Date): Job {
    const about = String(repositoryId);
    return { task: 'ask-merge-states', data: { repositoryId: about }, about, key: keyAt(about, at), at };
  },

  /** Count a status of somebody else, and write ours again where that one says something else. */
  correctStatus(repositoryId: bigint, sha: string, written: ForeignStatus): Job {
    const about = `${repositoryId}:${sha}@${written.id}`;
    const data = { repositoryId: String(repositoryId), sha, written };
    return { task: 'correct-status', data, about, key: about };
  },

  /** Find out whether a pull request that was merged was frozen then. */
  findBypass(repositoryId: bigint, number: number): Job {
    const about = `${repositoryId}#${number}`;
    return { task: 'find-bypass', data: { repositoryId: String(repositoryId), number }, about, key: about };
  },

  /** End what exemptions of a repository are over; with `at`, at that instant. */
  endExemptions(repositoryId: bigint, at?: Date): Job {
    const about = String(repositoryId);
    const data = { repositoryId: about, at: at?.toISOString() };
    return { task: 'end-exemptions', data, about, key: keyAt(about, at), at };
  },

  /** Carry out the command of a comment, and answer it. */
  answerComment(repositoryId: bigint, told: ToldOfComment): Job {
    const about = told.commentId;
    return {
      task: 'answer-comment',
      data: { repositoryId: String(repositoryId), ...told },
      about,
      key: about,
    };
  },

  /** Write the statuses that wait for an installation; with `at`, not before that instant. */
  drainOutbox(installationId: bigint, at?: Date): Job {
    const about = String(installationId);
    return { task: 'drain-outbox', data: { installationId: about }, about, key: keyAt(about, at), at };
  },

  /** Read every installation from GitHub again. */
  syncInstallations(): Job {
    return { task: 'sync-installations', data: {}, about: 'all', key: 'all' };
  },

  /** Read an installation and its repositories from GitHub again. */
  syncInstallation(installationId: bigint): Job {
    const about = String(installationId);
    return { task: 'sync-installation', data: { installationId: about }, about, key: about };
  },

  /** Read one repository from GitHub again, through the installation that last told of it; with `at`, then. */
  syncRepository(repositoryId: bigint, installationId: bigint | null, at?: Date): Job {
    // Two installations may tell of one repository (a transfer), and a later look must not stand for one now.
    const about = `${repositoryId}/${installationId}`;
    const data = {
      repositoryId: String(repositoryId),
      installationId: installationId?.toString() ?? null,
    };
    return { task: 'sync-repository', data, about, key: `${about}${at ? '@later' : ''}`, at };
  },

  /** Have the plans of an owner follow its repositories. */
  keepPlans(accountId: bigint): Job {
    const about = String(accountId);
    return { task: 'keep-plans', data: { accountId: about }, about, key: about };
  },

  /** Make the freezes of a plan for the time ahead. */
  keepPlan(planId: string): Job {
    return { task: 'keep-plan', data: { planId }, about: planId, key: planId };
  },

  /** End every session of a person. */
  endSessions(personId: number): Job {
    const about = String(personId);
    return { task: 'end-sessions', data: { personId }, about, key: about };
  },

  /** Tell the audit log of freezes without an end that are still on. */
  remindOfFreezes(): Job {
    return { task: 'remind-of-freezes', data: {}, about: 'all', key: 'all' };
  },

  /** Look for webhooks that could not be delivered. */
  recoverDeliveries(): Job {
    return { task: 'recover-deliveries', data: {}, about: 'all', key: 'all' };
  },

  /** Read a webhook that could not be delivered from GitHub's copy of it. */
  readDelivery(deliveryId: string, guid: string): Job {
    return { task: 'read-delivery', data: { deliveryId }, about: guid, key: guid };
  },

  /** Repair what was missed. */
  sweep(): Job {
    return { task: 'sweep', data: {}, about: 'all', key: 'all' };
  },
};
