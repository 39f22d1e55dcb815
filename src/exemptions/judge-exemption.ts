import type { PullRequestFacts } from '../github/pull-requests/pull-request.ts';
import type { Exemption } from './exemption.ts';

// Which exemptions let a pull request through a freeze. What is over is over at its instant, whether or not somebody
// wrote that down: no job has to be in time for it.

/** What of a pull request exemptions are judged by. */
type Subject = { number: number; headSha: string; baseRef: string | null };

export const subjectOf = ({ number, headSha, values }: PullRequestFacts): Subject => ({
  ...{ number, headSha },
  baseRef: values.base ?? null,
});

/** Whether a freeze is among those that an exemption covers. */
export const coversFreeze = ({ freezeIds }: Pick<Exemption, 'freezeIds'>, freezeId: string): boolean =>
  freezeIds === null || freezeIds.includes(freezeId);

/** What took a pull request from under its exemption: another base branch or another head; null: neither did. */
export function movedBy({ headSha, anyHead, baseRef }: Exemption, subject: Subject) {
  if (baseRef !== subject.baseRef) return 'retargeted';
  return anyHead || headSha === subject.headSha ? null : 'pushed';
}

/** Whether it is about this pull request, with this head, into this base branch. */
const isAbout = (exemption: Exemption, subject: Subject): boolean =>
  exemption.pullRequest === subject.number && movedBy(exemption, subject) === null;

/** The exemption that lets a pull request through a freeze at an instant: of several, the one that lasts longest. */
export function exemptionFrom(
  exemptions: Exemption[],
  subject: Subject,
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

/** Whether an exemption let a pull request through a freeze before, with this head, and does no more. */
export const wasExemptFrom = (exemptions: Exemption[], subject: Subject, freezeId: string): boolean =>
  exemptions.some(
    (each) =>
      each.approvedAt !== null &&
      isAbout(each, { ...subject, baseRef: each.baseRef }) &&
      coversFreeze(each, freezeId),
  );

/** Whether it was approved by then. @param at by GitHub's clock, in whole seconds: in that second counts. */
export const wasApprovedAt = ({ approvedAt }: Exemption, at: Date): boolean =>
  approvedAt !== null && approvedAt.getTime() < at.getTime() + 1000;

/** Whether an exemption let a pull request through a freeze at an instant of the past, by GitHub's clock. */
export const wasExemptAt = (exemptions: Exemption[], subject: Subject, freezeId: string, at: Date): boolean =>
  exemptions.some(
    (each) =>
      wasApprovedAt(each, at) &&
      (each.endedAt === null || at <= each.endedAt) &&
      at < each.expiresAt &&
      isAbout(each, subject) &&
      coversFreeze(each, freezeId),
  );

/** GitHub's answers are behind for seconds; this is generous. Milliseconds. */
const longestLag = 5 * 60_000;

/** A pull request as GitHub showed it. @property changedAt by GitHub's clock, in whole seconds. */
type Seen = Subject & { changedAt: Date | null };

/** An exemption that its pull request has left behind. */
export type LeftBehind = { exemption: Exemption; by: 'pushed' | 'retargeted' };

/**
 * The exemptions that a push or another base branch has ended: what GitHub shows of their pull requests differs from
 * what it showed at the request, and is no older.
 */
export function leftBehind(exemptions: Exemption[], seen: Seen[], observedAt: Date): LeftBehind[] {
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
