// `exemptions/` lets single pull requests and deployments through: who asked, who decided, what one covers, and what
// ended it.
import type { PullRequestFacts } from '../github/pull-requests/pull-request.ts';

/** The states of an exemption. Only an approved one has an effect. */
export const exemptionStates = ['requested', 'approved', 'denied', 'revoked', 'expired', 'used'] as const;
export type ExemptionState = (typeof exemptionStates)[number];

/**
 * What ended an exemption without a decision: somebody pushed another head, the base branch changed, it expired, its last
 * freeze ended, or the pull request was merged.
 */
export type EndedBy = 'pushed' | 'retargeted' | 'time' | 'freezes' | 'merged';

/** The deployment that is exempt: of a commit or of a run (the other is null), to one environment. */
export type ExemptDeployment = {
  environment: string;
  sha: string | null;
  /** Also the run that goes out with the exemption of its commit. */
  runId: bigint | null;
  /** The attempt that goes out with it; null if none does yet. */
  attempt: number | null;
};

/** Exempts one pull request from freezes that would hold it. */
export type Exemption = {
  id: string;
  pullRequest: number;
  /** The head at the time of the request, and when the pull request had last changed by then, according to GitHub. */
  headSha: string;
  headSeenAt: Date;
  /** The base branch at the time of the request. The exemption applies to no other base branch. */
  baseRef: string;
  /** Whether it also applies to later heads. */
  anyHead: boolean;
  /** Null for every freeze, including future ones. */
  freezeIds: string[] | null;
  reason: string;
  /** Replaces the reason for everybody but admins and insiders. */
  publicReason: string | null;
  state: ExemptionState;
  requestedAt: Date;
  /** When it was approved. Stays set after its end. */
  approvedAt: Date | null;
  expiresAt: Date;
  endedAt: Date | null;
};

/** The public reason of an exemption. @param isHidden whether it covers a freeze with a public reason. */
export const publicReasonOf = (
  { reason, publicReason }: Pick<Exemption, 'reason' | 'publicReason'>,
  isHidden: boolean,
): string => publicReason ?? (isHidden ? '' : reason);

// Which exemptions exempt a pull request from a freeze. An exemption ends at its instant, even if that is not recorded
// yet, so no job has to be on time.

/** The facts about a pull request that decide which exemptions apply. */
type ExemptedSubject = { number: number; headSha: string; baseRef: string | null };

export const exemptedSubjectOf = ({ number, headSha, values, stack }: PullRequestFacts): ExemptedSubject => ({
  number,
  headSha,
  // Of a stack, the branch that all of it merges into: GitHub retargets an upper one when a lower one merges.
  baseRef: stack?.base ?? values.base ?? null,
});

/** Whether an exemption covers a freeze. */
export const coversFreeze = ({ freezeIds }: Pick<Exemption, 'freezeIds'>, freezeId: string): boolean =>
  freezeIds === null || freezeIds.includes(freezeId);

/** Why an exemption no longer applies to its pull request: another base branch or head; null if it applies. */
export function movedBy({ headSha, anyHead, baseRef }: Exemption, subject: ExemptedSubject) {
  if (baseRef !== subject.baseRef) return 'retargeted';
  return anyHead || headSha === subject.headSha ? null : 'pushed';
}

/** Whether it applies to this pull request with this head and base branch. */
const isAbout = (exemption: Exemption, subject: ExemptedSubject): boolean =>
  exemption.pullRequest === subject.number && movedBy(exemption, subject) === null;

/** The exemption of a pull request from a freeze at an instant. If there are several, the one that lasts longest. */
export function exemptionFrom(
  exemptions: Exemption[],
  subject: ExemptedSubject,
  freezeId: string,
  at: Date,
): Exemption | null {
  const all = exemptions.filter(
    (each) =>
      each.state === 'approved' &&
      at < each.expiresAt &&
      isAbout(each, subject) &&
      coversFreeze(each, freezeId),
  );
  return all.reduce<Exemption | null>(
    (one, other) => (one && one.expiresAt >= other.expiresAt ? one : other),
    null,
  );
}

/** Whether a pull request with this head was exempt from a freeze before, but no longer is. */
export const wasExemptFrom = (exemptions: Exemption[], subject: ExemptedSubject, freezeId: string): boolean =>
  exemptions.some(
    (each) =>
      each.approvedAt !== null &&
      isAbout(each, { ...subject, baseRef: each.baseRef }) &&
      coversFreeze(each, freezeId),
  );

/** Whether it was approved by then. @param at according to GitHub's clock, in whole seconds. The same second counts. */
export const wasApprovedAt = ({ approvedAt }: Exemption, at: Date): boolean =>
  approvedAt !== null && approvedAt.getTime() < at.getTime() + 1000;

/** Whether a pull request was exempt from a freeze at a past instant, according to GitHub's clock. */
export const wasExemptAt = (
  exemptions: Exemption[],
  subject: ExemptedSubject,
  freezeId: string,
  at: Date,
): boolean =>
  exemptions.some(
    (each) =>
      wasApprovedAt(each, at) &&
      (each.endedAt === null || at <= each.endedAt) &&
      at < each.expiresAt &&
      isAbout(each, subject) &&
      coversFreeze(each, freezeId),
  );

/** Milliseconds that GitHub's answers may lag. They lag for seconds, so this is generous. */
const longestLag = 5 * 60_000;

/** A pull request as GitHub showed it. @property changedAt according to GitHub's clock, in whole seconds. */
type SeenSubject = ExemptedSubject & { changedAt: Date | null };

/** An exemption that no longer applies to its pull request. */
export type LeftBehind = { exemption: Exemption; by: 'pushed' | 'retargeted' };

/**
 * The exemptions that a push or another base branch ended: GitHub shows their pull requests differently than at the
 * request, and its answer is not older.
 */
export function leftBehind(exemptions: Exemption[], seen: SeenSubject[], observedAt: Date): LeftBehind[] {
  const byNumber = new Map(seen.map((each) => [each.number, each]));
  return exemptions.flatMap((exemption): LeftBehind[] => {
    const shown = byNumber.get(exemption.pullRequest);
    const by = shown ? movedBy(exemption, shown) : null;
    if (!shown || !by || exemption.endedAt) return [];
    const isOlder = shown.changedAt === null || shown.changedAt < exemption.headSeenAt;
    const isLate = observedAt.getTime() - exemption.requestedAt.getTime() > longestLag;
    return isOlder && !isLate ? [] : [{ exemption, by }];
  });
}
