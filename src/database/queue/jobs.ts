// Every kind of durable work: its name, what its jobs carry, and under which key they wait. The code that runs it and
// how many run at once stand together elsewhere, because lower rooms send to higher ones (`defineTask`).

/** A pull request of an event. */
export type PullRequestEvent = {
  number: number;
  /** GitHub's GraphQL id, if the event has it. */
  nodeId?: string;
  /** When it changed, by GitHub's clock. If an answer is older, the job looks again. */
  changedAt?: string;
  /** The number of its stack, null for none; absent if events of this kind do not say. */
  stack?: number | null;
  /** How often an older answer has come. */
  looks?: number;
  /** When its webhook arrived, by our clock. Absent if none did. */
  heardAt?: string;
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

/** A comment on a pull request, or the text of a review, that is a command. */
export type ToldOfComment = {
  /** Of a review, its id below zero: GitHub counts reviews apart from comments. */
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

/** A comment of ours: the answer to a comment with a command, since that was written, or the announcement of a request. */
export type OwnComment = { commentId: string; number: number; since: string } | { requestId: string };

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

/**
 * What a job says: what to look at again, never what is true.
 * @property about what it is about. Jobs about the same thing that wait for another try are one.
 * @property key if a job with the same task and key still waits, it serves both. Usually what it is about, and when.
 */
type Content<Data> = { about: unknown; data: Data; key?: string; at?: Date };

/** @param sentAgainBy what sends waiting jobs again that were lost; null: nothing does, so an archive holds them. */
function jobsOf<Name extends string, Args extends unknown[], Data>(
  task: Name,
  sentAgainBy: string | null,
  contentOf: (...args: Args) => Content<Data>,
) {
  const make = (...args: Args) => {
    const content = contentOf(...args);
    const about = String(content.about);
    return { task, data: content.data, about, key: content.key ?? keyAt(about, content.at), at: content.at };
  };
  return Object.assign(make, { task, sentAgainBy });
}

/**
 * Work on one subject at a time, across all processes: its lane. A job that is sent while another one of the lane runs
 * makes it run once more, at the earliest instant that somebody asked for. One waits for each lane, so jobs of a lane all
 * say the same, and whoever runs one works out what is to do.
 */
export function inLanes<Name extends string, Args extends unknown[], Data>(
  task: Name,
  sentAgainBy: string | null,
  contentOf: (...args: Args) => Omit<Content<Data>, 'key'>,
) {
  const make = (...args: Args) => {
    const { about: subject, data, at } = contentOf(...args);
    const about = String(subject);
    return { task, data, about, key: about, at, lane: `${task} ${about}` };
  };
  return Object.assign(make, { task, sentAgainBy });
}

/** About a repository; with `at`, at that instant. */
const aboutRepository = (id: bigint, at?: Date) => ({ about: id, data: { repositoryId: String(id) }, at });

/** The same for work whose data name the instant: a boundary of a freeze or of its conditions on time. */
const atInstant = (id: bigint, at?: Date) => ({
  about: id,
  data: { repositoryId: String(id), at: at?.toISOString() },
  at,
});

const aboutPlan = (planId: string) => ({ about: planId, data: { planId } });

/** About everything at once; with `at`, at that instant. */
const aboutAll = (at?: Date) => ({ about: 'all', data: {}, at });

/** Makes the jobs of each task. */
export const jobs = {
  /** Look at every open pull request of a repository; with `at`, at that instant (a freeze starts or ends). */
  reconcileRepository: jobsOf(
    'reconcile-repository',
    'the import has the repository reconciled; the sweep, for boundaries to come',
    atInstant,
  ),

  /** Look at one pull request and those that share its head SHA; with `at`, at that instant. */
  reconcilePullRequest: jobsOf(
    'reconcile-pull-request',
    'the import has its repository reconciled',
    (id: bigint, told: PullRequestEvent, at?: Date) => {
      const { number, installationId, changedAt = '', looks = '' } = told;
      const about = `${id}#${number}/${installationId}`;
      // A look for an earlier change does not serve a later event, because its answer may be older.
      const key = `${about}~${changedAt}${looks && `!${looks}`}`;
      return { about, data: { repositoryId: String(id), ...told }, key, at };
    },
  ),

  /** Look at the heads of closed pull requests; with `at`, at that instant. */
  reconcileClosedHeads: jobsOf('reconcile-closed-heads', null, aboutRepository),

  /** Look at the merge queue of a branch; with `at`, at that instant. */
  reconcileMergeQueue: jobsOf(
    'reconcile-merge-queue',
    'the import has its repository reconciled; the sweep, for groups in flight',
    (id: bigint, branch: string, { at, ...told }: ToldOfGroup & { at?: Date } = {}) => {
      const group = told.headSha ? `@${told.headSha}${told.isGone ? '-' : '+'}` : '';
      return { about: `${id}:${branch}${group}`, data: { repositoryId: String(id), branch, ...told }, at };
    },
  ),

  /** Ask GitHub, at an instant, whether it would merge what freezes of a repository hold. */
  askMergeStates: jobsOf(
    'ask-merge-states',
    'the sweep, where merge_state_due_at has passed lately; the hourly check',
    (id: bigint, at: Date) => aboutRepository(id, at),
  ),

  /** Count a status of somebody else, and write ours again if that one differs. */
  correctStatus: jobsOf('correct-status', null, (id: bigint, sha: string, written: ForeignStatus) => ({
    about: `${id}:${sha}@${written.id}`,
    data: { repositoryId: String(id), sha, written },
  })),

  /** Find out whether a merged pull request was frozen at that time. */
  findBypass: jobsOf('find-bypass', null, (id: bigint, number: number) => ({
    about: `${id}#${number}`,
    data: { repositoryId: String(id), number },
  })),

  /** Tell of freezes that name a branch that may have another name now. @param to that name, if it is known. */
  tellRenamed: jobsOf('tell-renamed', null, (id: bigint, branch: string, to: string | null, at: Date) => ({
    about: `${id}:${branch}>${to ?? ''}`,
    data: { repositoryId: String(id), branch, to },
    at,
  })),

  /** End the exemptions of a repository that are over; with `at`, at that instant. */
  endExemptions: jobsOf(
    'end-exemptions',
    'the sweep, where an exemption has expired or its freezes are over',
    atInstant,
  ),

  /** What versions before sent for the lane of a repository's deployments. */
  decideDeployments: jobsOf('decide-deployments', 'the sweep', aboutRepository),
  /** Decide on the deployments of a repository that wait, and tell GitHub. */
  reviewDeployments: inLanes('review-deployments', 'the sweep', aboutRepository),

  /**
   * Look at a run of a workflow that waits. @param environment the one that GitHub asked about. @param installationId of
   * the event. An unknown repository is read through it first.
   */
  lookAtRun: jobsOf(
    'look-at-run',
    'the sweep, for each repository with deployments',
    (
      id: bigint,
      runId: string,
      told: { environment: string | null; requestedAt?: string; installationId: string | null },
    ) => ({
      about: `${id}/${runId}/${told.environment?.toLowerCase() ?? ''}`,
      data: { repositoryId: String(id), runId, ...told },
    }),
  ),

  /** GitHub told that rules may have changed: of a repository, or of all repositories of an owner. */
  noteRules: jobsOf('note-rules', null, (of: { repositoryId: bigint } | { accountId: bigint }) => {
    const [repositoryId, accountId] = 'accountId' in of ? [null, of.accountId] : [of.repositoryId, null];
    return {
      about: repositoryId === null ? `owner ${accountId}` : repositoryId,
      data: { repositoryId: repositoryId && String(repositoryId), accountId: accountId && String(accountId) },
    };
  }),

  /** Ask GitHub which runs of a repository wait. */
  findDeployments: jobsOf('find-deployments', 'the sweep', (id: bigint) => aboutRepository(id)),

  /** Carry out the command of a comment, and have it answered. */
  answerComment: jobsOf('answer-comment', null, (id: bigint, told: ToldOfComment) => ({
    about: told.commentId,
    data: { repositoryId: String(id), ...told },
  })),

  /** Tell the lane of a request of Slack that it came. */
  answerSlack: jobsOf('answer-slack', null, (requestId: string) => ({
    about: requestId,
    data: { requestId },
  })),

  /** Carry out a request of Slack, and answer it. */
  replyInSlack: inLanes('reply-in-slack', null, (requestId: string) => ({
    about: requestId,
    data: { requestId },
  })),

  /** Tell the authors of blocked pull requests in Slack, at an instant, that freezes began or ended. */
  tellAuthors: jobsOf('tell-authors', null, (deliveryId: string, eventIds: bigint[], at: Date) => ({
    about: deliveryId,
    data: { eventIds: eventIds.map(String) },
    at,
  })),

  /** Tell the conversation of a pull request that somebody requested an exemption. */
  announceRequest: jobsOf('announce-request', null, (repositoryId: bigint, id: string) => ({
    about: id,
    data: { repositoryId: String(repositoryId), id },
  })),

  /** Write a comment to the conversation of a pull request, once. */
  writeComment: inLanes('write-comment', null, (repositoryId: bigint, comment: OwnComment) => ({
    about: 'commentId' in comment ? comment.commentId : comment.requestId,
    data: { repositoryId: String(repositoryId), comment },
  })),

  /** Write the waiting statuses of an installation; with `at`, not before that instant. */
  drainOutbox: jobsOf('drain-outbox', 'the sweep, where a status waits', (id: bigint, at?: Date) => ({
    about: id,
    data: { installationId: String(id) },
    at,
  })),

  /** Read every installation from GitHub again. */
  syncInstallations: jobsOf('sync-installations', 'the start of a worker', () => aboutAll()),

  /** Read an installation and its repositories from GitHub again. */
  syncInstallation: jobsOf('sync-installation', 'sync-installations', (id: bigint) => ({
    about: id,
    data: { installationId: String(id) },
  })),

  /** Read one repository from GitHub again, through the installation of its last event; with `at`, at that instant. */
  syncRepository: jobsOf(
    'sync-repository',
    'sync-installation, which reads all repositories',
    (id: bigint, installation: bigint | null, at?: Date) => {
      const installationId = installation?.toString() ?? null;
      // Two installations can send events about one repository (a transfer), and a later look must not replace one now.
      const about = `${id}/${installationId}`;
      return { about, data: { repositoryId: String(id), installationId }, key: at && `${about}@later`, at };
    },
  ),

  /** Adapt the plans of an owner to its repositories. */
  keepPlans: jobsOf('keep-plans', 'sync-installation', (accountId: bigint) => ({
    about: accountId,
    data: { accountId: String(accountId) },
  })),

  /** Find out which teams an owner's settings mean, and their names of today. */
  keepTeams: jobsOf('keep-teams', 'sync-installation', (accountId: bigint) => ({
    about: accountId,
    data: { accountId: String(accountId) },
  })),

  /** Make the freezes of a plan for the time ahead. */
  keepPlan: jobsOf('keep-plan', 'the sweep, for each plan that was not kept for an hour', aboutPlan),

  /**
   * Put the ruleset that holds a repository at once in force or out of force; with `at`, at that instant. A check also
   * compares it with GitHub.
   */
  settleInstantHold: jobsOf(
    'settle-instant-hold',
    'the sweep',
    (id: bigint, { isCheck = false, at }: { isCheck?: boolean; at?: Date } = {}) => {
      const about = `${id}${isCheck ? '?' : ''}`;
      return { about, data: { repositoryId: String(id), isCheck }, at };
    },
  ),
  /** Read the calendar that a plan follows. */
  followSource: jobsOf('follow-source', 'the sweep, every 15 minutes', aboutPlan),

  /** End every session of a person. */
  endSessions: jobsOf('end-sessions', null, (personId: number) => ({ about: personId, data: { personId } })),

  /** Write to the audit log which freezes without an end are still on. */
  remindOfFreezes: jobsOf('remind-of-freezes', 'the sweep', () => aboutAll()),

  /** Tell the lanes of outgoing webhooks that they have deliveries; with `at`, at that instant. */
  sendNotices: jobsOf(
    'send-notices',
    'the sweep, where a delivery is due',
    (webhookId: string, at?: Date) => ({
      about: webhookId,
      data: { webhookIds: [webhookId] },
      at,
    }),
  ),

  /** Send the waiting deliveries of an outgoing webhook of an owner; with `at`, at that instant. */
  sendMessages: inLanes(
    'send-messages',
    'the sweep, where a delivery is due',
    (accountId: bigint, webhookId: string, at?: Date) => ({
      about: webhookId,
      data: { accountId: String(accountId), webhookId },
      at,
    }),
  ),

  /** Record which freezes began, ended, or do so soon; with `at`, at that instant. */
  recordBoundaries: jobsOf('record-boundaries', 'the sweep', (at?: Date) => ({
    about: 'all',
    data: { at: at?.toISOString() },
    at,
  })),

  /** Fill in who acted in the next events of versions before; with `at`, at that instant. */
  fillActorKeys: jobsOf(
    'fill-actor-keys',
    null,
    (progress: { after: string; isAgain: boolean }, at?: Date) => ({ about: 'all', data: progress, at }),
  ),

  /** Look for webhooks that could not be delivered; with `at`, at that instant. */
  recoverDeliveries: jobsOf('recover-deliveries', 'the sweep', aboutAll),

  /** Read a webhook that could not be delivered from GitHub's copy of it. */
  readDelivery: jobsOf('read-delivery', null, (deliveryId: string, guid: string) => ({
    about: guid,
    data: { deliveryId },
  })),

  /** Repair what was missed. */
  sweep: jobsOf('sweep', 'the start of a worker', () => aboutAll()),
};

type Makers = (typeof jobs)[keyof typeof jobs];
export type TaskName = Makers['task'];
/** The data of each task's jobs. */
export type Tasks = { [Name in TaskName]: ReturnType<Extract<Makers, { task: Name }>>['data'] };

/**
 * A job to send, or one that was taken.
 * @property attempt how often it failed; absent: never. @property owner of one that was taken: for whom it is, if it is for
 *   one owner.
 * @property lane absent: any number of jobs runs beside it. @property turn of a job of a lane that was taken: its id, which
 *   is good until somebody takes it from a process that stood still. @property notBefore the lane pauses until then.
 */
export type Job = {
  [Name in TaskName]: {
    task: Name;
    data: Tasks[Name];
    about: string;
    key: string;
    attempt?: number;
    owner?: string;
    at?: Date | undefined;
    lane?: string;
    turn?: bigint;
    notBefore?: Date;
  };
}[TaskName];

export const taskNames: TaskName[] = Object.values(jobs).map(({ task }) => task);
