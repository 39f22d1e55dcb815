// `deployments/` holds deployments: which of them wait at GitHub, what freezes and exemptions decide on each, and
// telling GitHub once.
import type { ExemptionRecord } from '../exemptions/exemption-store.ts';
import { asPublic, longestDeploymentWait, type StoredFreeze } from '../freezes/freeze.ts';
import { asCode } from '../github/markdown.ts';
import { describeInstant } from '../time/local-time.ts';
import { cutText } from '../cut-text.ts';

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
export type Review = 'approved' | 'rejected' | 'superseded' | 'report';

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
  /** The login of who started it; null if that is not known. */
  startedBy: string | null;
  /** The first line of the commit's message; null if that is not known. */
  commitTitle: string | null;
  /** When GitHub made the request. */
  requestedAt: Date;
  state: DeploymentState;
  /** The freezes that hold it, or did. Empty: none ever did. */
  freezeIds: string[];
  /** What a request to GitHub was about whose answer did not come. */
  attempted: Review | null;
  /** How often we told GitHub why it waits, and in which words. */
  reports: number;
  report: string | null;
  decidedAt: Date | null;
};

/** GitHub ignores the case of names of environments. */
export const environmentKey = (environment: string): string => environment.toLowerCase();

export const isHeldDeployment = ({ freezeIds }: Pick<Deployment, 'freezeIds'>): boolean =>
  freezeIds.length > 0;

/** Oldest run first. */
export const byRun = (one: Deployment, other: Deployment): number =>
  one.runNumber - other.runNumber || one.attempt - other.attempt || Number(one.runId - other.runId);

/** How deployments that a freeze held are released: the newest of each workflow, or all, one after another. */
export type Release = 'newest' | 'all';

/** What should happen to a deployment that waits. */
export type DeploymentVerdict =
  | { kind: 'approve' }
  | { kind: 'exempt'; exemption: ExemptionRecord }
  | { kind: 'reject'; freezes: StoredFreeze[] }
  | { kind: 'hold'; freezes: StoredFreeze[] }
  | { kind: 'supersede'; by: Deployment }
  /** Another one goes first. */
  | { kind: 'queue'; after: Deployment };

/**
 * What should happen to each deployment that waits. What no freeze held is approved at once. Of those that a freeze
 * held, either the newest of each environment and workflow is approved and then supersedes the older ones, or all are
 * approved, the oldest first. An exemption lets one of them past the freezes, without a turn: the newest run.
 * @param all those that wait, and those that were decided lately.
 * @param holding the ongoing freezes that hold one.
 * @param exemptions those that a run goes out with first.
 */
export function judgeDeployments(
  all: Deployment[],
  holding: (deployment: Deployment) => StoredFreeze[],
  release: Release,
  exemptions: ExemptionRecord[] = [],
): Map<Deployment, DeploymentVerdict> {
  const waiting = all.filter(({ state }) => state === 'waiting').toSorted(byRun);
  const verdicts = new Map<Deployment, DeploymentVerdict>();
  const released: Deployment[] = [];
  const free = new Set(exemptions);
  for (const each of waiting.toReversed()) {
    const freezes = holding(each);
    const exemption = freezes.length > 0 ? free.values().find((given) => letsGo(given, each)) : undefined;
    if (freezes.length === 0) released.unshift(each);
    else if (exemption) {
      free.delete(exemption);
      verdicts.set(each, { kind: 'exempt', exemption });
    } else {
      const rejects = freezes.some(({ onDeployment }) => onDeployment === 'reject');
      verdicts.set(each, { kind: rejects ? 'reject' : 'hold', freezes });
    }
  }
  for (const each of released) {
    const verdict = release === 'newest' ? newest(each, released, all) : inTurn(each, released);
    verdicts.set(each, verdict);
  }
  return verdicts;
}

/** One deployment goes out with an exemption: those after it need another one. */
function letsGo({ deployment: exempt }: ExemptionRecord, one: Deployment): boolean {
  if (!exempt || environmentKey(exempt.environment) !== environmentKey(one.environment)) return false;
  const { runId, attempt, sha } = exempt;
  if (attempt !== null) return runId === one.runId && attempt === one.attempt;
  return runId === one.runId || sha === one.sha;
}

function newest(each: Deployment, released: Deployment[], all: Deployment[]): DeploymentVerdict {
  if (!isHeldDeployment(each)) return { kind: 'approve' };
  // Of two that deploy the same thing, the newer one makes the older one needless.
  const isNewer = (other: Deployment) =>
    other.workflowPath === each.workflowPath &&
    environmentKey(other.environment) === environmentKey(each.environment) &&
    byRun(other, each) > 0;
  // It is rejected only when a newer one has gone out.
  const gone = all.filter(({ state }) => state === 'approved' || state === 'bypassed').filter(isNewer);
  const by = gone.toSorted(byRun).at(-1);
  if (by) return { kind: 'supersede', by };
  const after = released.findLast(isNewer);
  return after ? { kind: 'queue', after } : { kind: 'approve' };
}

function inTurn(each: Deployment, released: Deployment[]): DeploymentVerdict {
  const inEnvironment = released.filter(
    (other) => environmentKey(other.environment) === environmentKey(each.environment),
  );
  if (!inEnvironment.some(isHeldDeployment)) return { kind: 'approve' };
  const [first] = inEnvironment.toSorted(
    (one, other) =>
      one.requestedAt.getTime() - other.requestedAt.getTime() ||
      Number(one.runId - other.runId) ||
      one.attempt - other.attempt,
  );
  return first === each ? { kind: 'approve' } : { kind: 'queue', after: first! };
}

// What GitHub shows beside a deployment, in its Markdown. Everybody who can read the repository sees it.

/** GitHub takes fewer than 1,024 characters. A reason of 200 characters leaves room for the rest. */
export const mostComment = 1_023;

/** The address of the page of a freeze. */
type PageOf = (freeze: StoredFreeze) => string;

/** Why it waits, and until when. @param now decides whether GitHub waits for long enough. */
export function holdingComment(freezes: StoredFreeze[], pageOf: PageOf, now: Date): string {
  const last = lastOf(freezes);
  const isTooLong = last.endsAt === null || last.endsAt.getTime() - now.getTime() > longestDeploymentWait;
  const decides =
    last.endsAt === null
      ? 'Holdfast decides when somebody ends the freeze.'
      : 'Holdfast decides at that time.';
  return fit([
    `A freeze holds this deployment ${described(freezes)}`,
    decides,
    ...(isTooLong ? ['GitHub fails a job that waits for more than 30 days.'] : []),
    link(last, pageOf),
  ]);
}

/** The same words, where the freeze rejects deployments. */
export const rejectingComment = (freezes: StoredFreeze[], pageOf: PageOf): string =>
  fit([
    `A freeze holds this deployment ${described(freezes)}`,
    'It rejects deployments, so run the workflow again when the freeze is over.',
    link(lastOf(freezes), pageOf),
  ]);

/** @param page the address of the newer run at GitHub. */
export const supersededComment = (by: Deployment, page: string): string =>
  fit([
    `The freeze is over. This deployment is superseded by [run ${by.runNumber}](${page}) of ${asCode(by.workflow)}.`,
  ]);

/** @param wasHeld whether a freeze held it. */
export const approvingComment = (wasHeld: boolean): string =>
  wasHeld ? 'No freeze holds this deployment any more.' : 'No freeze holds this deployment.';

/** @param reason the exemption's, as far as it is public. */
export const exemptComment = (reason: string): string =>
  fit([`An exemption lets this deployment go${reason === '' ? '' : `: ${asCode(reason)}`}.`]);

/** The freeze that ends last. */
const lastOf = (freezes: StoredFreeze[]): StoredFreeze =>
  freezes.reduce((one, other) => (deploymentEnd(other) > deploymentEnd(one) ? other : one));

const deploymentEnd = ({ endsAt }: StoredFreeze): number => endsAt?.getTime() ?? Infinity;

function described(freezes: StoredFreeze[]): string {
  const last = lastOf(freezes);
  const until = last.endsAt
    ? `until ${describeInstant(last.endsAt, last.timezone)}`
    : 'until somebody ends the freeze';
  const more = freezes.length > 1 ? ` (and ${freezes.length - 1} more)` : '';
  const reason = asCode(asPublic(last).reason);
  return `${until}${more}${reason === '' ? '.' : `: ${reason}.`}`;
}

const link = (freeze: StoredFreeze, pageOf: PageOf): string => `[See the freeze](${pageOf(freeze)}).`;

const fit = (sentences: string[]): string => cutText(sentences.join(' '), mostComment);
