/** The state of the sandbox GitHub. Plain data; `access.ts` and `mergeability.ts` have the rules. */
import type { AppIdentity } from './world.ts';

export type Role = 'read' | 'triage' | 'write' | 'maintain' | 'admin';
export type Permissions = Record<string, 'read' | 'write'>;
export type StatusState = 'error' | 'failure' | 'pending' | 'success';
export type ReviewState = 'APPROVED' | 'CHANGES_REQUESTED' | 'COMMENTED' | 'DISMISSED' | 'PENDING';

/** What an account pays for. People have `free` or `pro`, organizations the others. */
export type Plan = 'free' | 'pro' | 'team' | 'enterprise';

export interface Account {
  id: number;
  nodeId: string;
  /** Bots are stored as `dependabot[bot]`, the REST form. */
  login: string;
  /** What a person calls themselves; null: nothing. */
  name: string | null;
  /** Where the picture is. It is on this GitHub, as on an Enterprise Server. */
  readonly avatarUrl: string;
  type: 'User' | 'Organization' | 'Bot';
  plan: Plan;
  /** Organizations only: user id to role. */
  members: Map<number, 'admin' | 'member'>;
  /** Organizations only: the role of members without a role of their own. */
  basePermission: Role | 'none';
  /** Organizations only: by slug. */
  teams: Map<string, Team>;
  /** Organizations only: those that apply to its repositories. */
  rulesets: Ruleset[];
  createdAt: Date;
}

export interface Team {
  id: number;
  slug: string;
  readonly avatarUrl: string;
  organization: Account;
  members: Set<Account>;
  /** People who were invited and have not accepted yet. */
  invited: Set<Account>;
  /** The slug of the team that this one is a child of. */
  parent: string | null;
}

export type UserTokenKind = 'classic' | 'fine-grained' | 'oauth' | 'user-to-server';

export interface UserToken {
  token: string;
  kind: UserTokenKind;
  user: Account;
  /** Classic and OAuth tokens: the scopes in `X-OAuth-Scopes`. */
  scopes: string[];
  /** Fine-grained and user-to-server tokens: whether they carry `administration: read`. */
  administration: boolean;
  /** Fine-grained tokens: the ids of the repositories that they were made for. Null: all of the person's. */
  repositoryIds: Set<number> | null;
  /** User-to-server tokens: whether it belongs to the App under test, and not to another App. */
  ownApp: boolean;
}

export interface InstallationToken {
  token: string;
  installation: Installation;
  expiresAt: Date;
  permissions: Permissions;
  /** Null means every repository of the installation. */
  repositoryIds: Set<number> | null;
}

export interface Installation {
  id: number;
  app: AppIdentity;
  account: Account;
  selection: 'all' | 'selected';
  repositoryIds: Set<number>;
  permissions: Permissions;
  suspendedAt: Date | null;
  createdAt: Date;
}

export interface CommitStatus {
  id: number;
  sha: string;
  context: string;
  state: StatusState;
  description: string | null;
  targetUrl: string | null;
  creator: Account;
  /** The App that posted it; null if a person did. */
  appId: number | null;
  createdAt: Date;
}

export interface CheckRun {
  id: number;
  name: string;
  /** The App's slug. */
  app: string;
  status: 'queued' | 'in_progress' | 'completed';
  conclusion: CheckConclusion | null;
  startedAt: Date;
  completedAt: Date | null;
}

export type CheckConclusion =
  'action_required' | 'cancelled' | 'failure' | 'neutral' | 'skipped' | 'stale' | 'success' | 'timed_out';

export interface Deployment {
  id: number;
  environment: string;
  state: 'error' | 'failure' | 'in_progress' | 'pending' | 'queued' | 'success';
  createdAt: Date;
}

/** Where jobs deploy to. */
export interface Environment {
  id: number;
  name: string;
  /** The custom protection rules that are enabled. */
  rules: { id: number; app: { id: number; slug: string } }[];
  /** Whether administrators may start waiting jobs. */
  adminsBypass: boolean;
  createdAt: Date;
}

/** A run of a workflow that deploys. */
export interface WorkflowRun {
  id: number;
  /** Counts the runs of the workflow. */
  number: number;
  attempt: number;
  workflow: string;
  event: string;
  /** The branch, without `refs/heads/`. */
  ref: string;
  sha: string;
  /** The message of the commit. */
  message: string;
  /** Of the last attempt. */
  startedBy: Account;
  isCancelled: boolean;
  /** Whether a job failed that deploys nothing. */
  hasFailed: boolean;
  /** Those of the last attempt. */
  jobs: RunJob[];
  /** Those of the attempts before it. */
  former: RunJob[];
  /** What Apps decided (`approved`, `rejected`) and reported (`pending`), oldest first. */
  reviews: {
    attempt: number;
    environment: string;
    state: 'approved' | 'rejected' | 'pending';
    comment: string;
    app: string;
    at: Date;
  }[];
  /** Reviews that GitHub refused, oldest first. */
  refusals: { environment: string; message: string; at: Date }[];
  createdAt: Date;
  /** Of the last attempt. */
  startedAt: Date;
}

/** A job that deploys. */
export interface RunJob {
  deploymentId: number;
  environment: Environment;
  state: 'waiting' | 'queued' | 'in_progress' | 'success' | 'failure';
  /** What each App whose rule is enabled decided; null: nothing yet. */
  gates: Map<number, 'approved' | 'rejected' | null>;
  requestedAt: Date;
  /** Every state so far, newest last. */
  history: { state: RunJob['state']; at: Date; by: Account }[];
}

/** A commit in git. */
export interface Commit {
  message: string;
  author: GitActor & { user: Account | null };
  committer: GitActor;
  isVerified: boolean;
  /** With GitHub's own key: the commits of bots, and those that it makes for people. */
  isSignedByGitHub: boolean;
  parents: string[];
}

export interface GitActor {
  name: string;
  email: string;
  date: Date;
}

/** A change of a branch, by the account that was signed in. */
export interface Activity {
  id: number;
  branch: string;
  before: string;
  after: string;
  type: 'push' | 'pr_merge' | 'branch_creation';
  actor: Account;
  at: Date;
}

export interface ReviewThread {
  id: number;
  body: string;
  isResolved: boolean;
}

/** A comment on the conversation of a pull request. */
export interface Comment {
  id: number;
  author: Account;
  body: string;
  /** Written through the App under test: by itself, or by a person whose token it holds. */
  throughApp: boolean;
  createdAt: Date;
  updatedAt: Date;
}

export interface Label {
  id: number;
  name: string;
  color: string;
}

/** A status check that must succeed. With an App, only statuses of that App count. */
export interface RequiredCheck {
  context: string;
  appId: number | null;
}

/** The classic protection of one branch. */
export interface BranchProtection {
  checks: RequiredCheck[];
  strict: boolean;
  /** "Do not allow bypassing the above settings". */
  enforceAdmins: boolean;
}

export interface Patterns {
  include: string[];
  exclude: string[];
}

/** A ruleset of branches, of a repository or of an organization. */
export interface Ruleset {
  id: number;
  name: string;
  source: Account | Repository;
  enforcement: 'active' | 'evaluate' | 'disabled';
  refs: Patterns;
  /** Organizations only: the names of the repositories. */
  repositories: Patterns;
  checks: RequiredCheck[];
  strict: boolean;
  /** What else it demands. Answers show it, and it holds nothing here. */
  otherRules: { type: string; parameters?: object }[];
  bypassActors: BypassActor[];
  createdAt: Date;
  updatedAt: Date;
}

export interface BypassActor {
  actor_type: 'Integration' | 'OrganizationAdmin' | 'RepositoryRole' | 'Team' | 'DeployKey' | 'User';
  actor_id: number | null;
  bypass_mode: 'always' | 'pull_request' | 'exempt';
}

export interface Repository {
  id: number;
  nodeId: string;
  owner: Account;
  name: string;
  /** Since when it has its name. */
  namedAt: Date;
  description: string | null;
  private: boolean;
  archived: boolean;
  fork: boolean;
  defaultBranch: string;
  /** GitHub Enterprise Server only: scripts that can refuse a push. */
  hasPreReceiveHooks: boolean;
  /** User id to the role given directly. */
  roles: Map<number, Role>;
  /** Classic protection, by branch. */
  protection: Map<string, BranchProtection>;
  /** The rulesets of the repository itself. Its owner has others. */
  rulesets: Ruleset[];
  branches: Map<string, string>;
  /** The present names of renamed branches, by their former ones. */
  renamedBranches: Map<string, string>;
  /** The texts of the files of the default branch, by path. */
  files: Map<string, string>;
  /** Newest first. */
  activities: Activity[];
  /** Every SHA that can get a status, including heads of pull requests from forks. */
  commits: Set<string>;
  statuses: Map<string, CommitStatus[]>;
  /** By SHA, like the fields below. */
  checkRuns: Map<string, CheckRun[]>;
  deployments: Map<string, Deployment[]>;
  commitDetails: Map<string, Commit>;
  labels: Map<string, Label>;
  pullRequests: Map<number, PullRequest>;
  /** By branch. */
  mergeQueues: Map<string, MergeQueue>;
  /** In the order of their merges. */
  merges: PullRequest[];
  stacks: Stack[];
  /** By their names in lower case. */
  environments: Map<string, Environment>;
  /** Oldest first. */
  runs: WorkflowRun[];
  /** No runner takes a job by itself: it stays `queued`. */
  runnersAreBusy: boolean;
  createdAt: Date;
}

/** Pull requests that merge from the bottom up. */
export interface Stack {
  id: number;
  number: number;
  /** The branch that it merges into. */
  base: string;
  /** Bottom first; merged ones stay. */
  pullRequests: PullRequest[];
  createdAt: Date;
}

export interface ChangedFile {
  path: string;
  /** The former path of a renamed file. REST has it, GraphQL does not. */
  previousPath?: string;
  status: 'added' | 'modified' | 'removed' | 'renamed' | 'copied' | 'changed';
  additions: number;
  deletions: number;
}

export interface Review {
  id: number;
  by: Account;
  state: ReviewState;
  body: string;
  commitSha: string;
  submittedAt: Date;
}

/** By the merge queue, the merge button, auto-merge, or an administrator past the requirements. */
export type MergedHow = 'queue' | 'button' | 'auto-merge' | 'bypass';

export interface MergeQueueConfiguration {
  mergingStrategy: 'ALLGREEN' | 'HEADGREEN';
  mergeMethod: 'MERGE' | 'REBASE' | 'SQUASH';
  checkResponseTimeoutMinutes: number;
  minEntriesToMerge: number;
  /** After this time, it also merges fewer. */
  minEntriesToMergeWaitMinutes: number;
  maxEntriesToMerge: number;
  maxEntriesToBuild: number;
}

export interface MergeQueue extends MergeQueueConfiguration {
  id: number;
  repository: Repository;
  branch: string;
  /** Front first. */
  entries: MergeQueueEntry[];
}

export interface MergeQueueEntry {
  id: number;
  /** Null on a branch without a queue, where an entry has no effect. */
  queue: MergeQueue | null;
  pullRequest: PullRequest;
  enqueuer: Account;
  /** From 1. */
  position: number;
  /** Rises along the queue, and does not change when others come and go. */
  rank: number;
  state: 'QUEUED' | 'AWAITING_CHECKS' | 'MERGEABLE' | 'UNMERGEABLE' | 'LOCKED';
  jump: boolean;
  enqueuedAt: Date;
  /** Null until GitHub builds it. */
  group: MergeGroup | null;
}

/** One commit with the base, everything ahead in the queue, and the entry's own pull request. */
export interface MergeGroup {
  headSha: string;
  treeSha: string;
  /** The head of the group ahead; for the first, the tip of the branch. */
  baseSha: string;
  ref: string;
  requestedAt: Date;
}

export interface PullRequest {
  id: number;
  nodeId: string;
  number: number;
  repository: Repository;
  state: 'open' | 'closed';
  title: string;
  body: string;
  draft: boolean;
  locked: boolean;
  author: Account;
  base: string;
  head: { repository: Repository; ref: string; sha: string };
  /** Oldest first; the last one is the head. */
  commits: string[];
  labels: Label[];
  files: ChangedFile[];
  reviews: Review[];
  assignees: Account[];
  reviewRequests: Account[];
  teamRequests: Team[];
  threads: ReviewThread[];
  /** The conversation, oldest comment first. */
  comments: Comment[];
  /** How many commits the base has that the head lacks. */
  behind: number;
  isConflicting: boolean;
  /** GitHub is still making the test merge commit, so it shows neither the commit nor whether it conflicts. */
  isMergeUnderWay: boolean;
  milestone: { id: number; number: number; title: string } | null;
  autoMerge: { enabledAt: Date; enabledBy: Account } | null;
  mergeQueueEntry: MergeQueueEntry | null;
  merged: { at: Date; by: Account; sha: string; how: MergedHow } | null;
  createdAt: Date;
  updatedAt: Date;
  closedAt: Date | null;
}
