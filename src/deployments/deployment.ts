/** The states of a deployment that GitHub asked us about. */
export const deploymentStates = [
  'waiting',
  'approved',
  'rejected',
  'superseded',
  'bypassed',
  'gone',
] as const;
export type DeploymentState = (typeof deploymentStates)[number];

/** What we tell GitHub: a decision, or a report while it waits. */
export type Answer = 'approved' | 'rejected' | 'superseded' | 'report';

/** One environment that an attempt of a workflow run deploys to. */
export type Deployment = {
  runId: bigint;
  attempt: number;
  environment: string;
  workflow: string;
  /** The file of the workflow, which tells two of one name apart. */
  workflowPath: string;
  /** Counts the runs of the workflow. */
  runNumber: number;
  ref: string;
  sha: string;
  requestedAt: Date;
  state: DeploymentState;
  /** The freezes that hold it, or did. Empty: none ever did. */
  freezeIds: string[];
  /** What a request to GitHub was about whose answer did not come. */
  attempted: Answer | null;
  /** How often we told GitHub why it waits, and in which words. */
  reports: number;
  report: string | null;
  decidedAt: Date | null;
};

/** GitHub ignores the case of names of environments. */
export const environmentKey = (environment: string): string => environment.toLowerCase();

export const isHeld = ({ freezeIds }: Pick<Deployment, 'freezeIds'>): boolean => freezeIds.length > 0;

/** Whether two deploy the same thing: the newer of them makes the older one needless. */
export const isSameTarget = (one: Deployment, other: Deployment): boolean =>
  one.workflowPath === other.workflowPath &&
  environmentKey(one.environment) === environmentKey(other.environment);

/** Oldest run first. */
export const byRun = (one: Deployment, other: Deployment): number =>
  one.runNumber - other.runNumber || one.attempt - other.attempt || Number(one.runId - other.runId);
