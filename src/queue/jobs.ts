/** Every kind of durable work, with its data. A job only says what to look at again, never what is true. */
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
  'announce-request': { repositoryId: string; id: string };
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

/** A pull request of an event. */
export type Told = {
  number: number;
  /** GitHub's GraphQL id, if the event has it. */
  nodeId?: string;
  /** When it changed, by GitHub's clock. If an answer is older, the job looks again. */
  changedAt?: string;
  /** The number of its stack, null for none; absent if the event does not say. */
  stack?: number | null;
  /** How often an older answer has come. */
  looks?: number;
  /** The installation of the event. A repository that is not known yet is read through it first. */
  installationId: string | null;
};

/** The merge group of a webhook: it waits for checks, or it is gone. */
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
  /** The author. What they can do is asked when the command is carried out. */
  person: { id: number; login: string };
  /** When it was written, by GitHub's clock. */
  at: string;
  /** Its first line at that time: nobody can change a command afterwards. Not logged. */
  text: string;
  /** The installation of the event. */
  installationId: string | null;
};

/** A status under our context that may not be ours. */
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
 * A job to send. If one with the same task and key still waits, it serves both.
 * @property about what it is about. Jobs about the same thing that wait for another try are one.
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
  'announce-request',
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
 * An instant at least one step ahead. It is the same for all callers within a step, so one job serves them.
 * @param step milliseconds.
 */
export const inSteps = (now: Date, step: number): Date =>
  new Date((Math.floor(now.getTime() / step) + 2) * step);

/** For each planned instant, one job waits. */
const keyAt = (about: string, at: Date | undefined): string => (at ? `${about}@${at.toISOString()}` : about);

/** Milliseconds. Questions within this time whether GitHub would merge pull requests become one question. */
export const askStep = 4_000;

/** Makes the job of each kind of durable work. */
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
      // A look for an earlier change does not serve a later event, because its answer may be older.
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

  /** Count a status of somebody else, and write ours again if that one differs. */
  correctStatus(repositoryId: bigint, sha: string, written: ForeignStatus): Job {
    const about = `${repositoryId}:${sha}@${written.id}`;
    const data = { repositoryId: String(repositoryId), sha, written };
    return { task: 'correct-status', data, about, key: about };
  },

  /** Find out whether a merged pull request was frozen at that time. */
  findBypass(repositoryId: bigint, number: number): Job {
    const about = `${repositoryId}#${number}`;
    return { task: 'find-bypass', data: { repositoryId: String(repositoryId), number }, about, key: about };
  },

  /** End the exemptions of a repository that are over; with `at`, at that instant. */
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

  /** Tell the conversation of a pull request that somebody requested an exemption. */
  announceRequest(repositoryId: bigint, id: string): Job {
    return { task: 'announce-request', data: { repositoryId: String(repositoryId), id }, about: id, key: id };
  },

  /** Write the waiting statuses of an installation; with `at`, not before that instant. */
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

  /** Read one repository from GitHub again, through the installation of its last event; with `at`, at that instant. */
  syncRepository(repositoryId: bigint, installationId: bigint | null, at?: Date): Job {
    // Two installations can send events about one repository (a transfer), and a later look must not replace one now.
    const about = `${repositoryId}/${installationId}`;
    const data = {
      repositoryId: String(repositoryId),
      installationId: installationId?.toString() ?? null,
    };
    return { task: 'sync-repository', data, about, key: `${about}${at ? '@later' : ''}`, at };
  },

  /** Adapt the plans of an owner to its repositories. */
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

  /** Write to the audit log which freezes without an end are still on. */
  remindOfFreezes(): Job {
    return { task: 'remind-of-freezes', data: {}, about: 'all', key: 'all' };
  },

  /** Look for webhooks that could not be delivered; with `at`, at that instant. */
  recoverDeliveries(at?: Date): Job {
    return { task: 'recover-deliveries', data: {}, about: 'all', key: keyAt('all', at), at };
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
