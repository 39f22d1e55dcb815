import type { Exemption } from './exemption.ts';

// Which exemptions let a pull request through a freeze. What is over is over at its instant, whether or not somebody
// wrote that down: no job has to be in time for it.

/** What of a pull request exemptions are judged by. */
type Subject = { number: number; headSha: string };

/** Whether a freeze is among those that an exemption covers. */
export const coversFreeze = ({ freezeIds }: Pick<Exemption, 'freezeIds'>, freezeId: string): boolean =>
  freezeIds === null || freezeIds.includes(freezeId);

/** Whether it is about this pull request with this head. */
export const isAbout = ({ pullRequest, headSha, anyHead }: Exemption, subject: Subject): boolean =>
  pullRequest === subject.number && (anyHead || headSha === subject.headSha);

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

/** Whether an exemption let a pull request through a freeze before, and does no more. */
export const wasExemptFrom = (exemptions: Exemption[], subject: Subject, freezeId: string): boolean =>
  exemptions.some(
    (each) => each.approvedAt !== null && isAbout(each, subject) && coversFreeze(each, freezeId),
  );

/**
 * Whether an exemption let a pull request through a freeze at an instant of the past.
 * @param at by GitHub's clock, in whole seconds: one that was approved in that second counts.
 */
export const wasExemptAt = (exemptions: Exemption[], subject: Subject, freezeId: string, at: Date): boolean =>
  exemptions.some(
    ({ approvedAt, endedAt, expiresAt, ...rest }) =>
      approvedAt !== null &&
      approvedAt.getTime() < at.getTime() + 1000 &&
      (endedAt === null || at <= endedAt) &&
      at < expiresAt &&
      isAbout({ approvedAt, endedAt, expiresAt, ...rest }, subject) &&
      coversFreeze(rest, freezeId),
  );

/** GitHub's answers are behind for seconds; this is generous. Milliseconds. */
const longestLag = 5 * 60_000;

/** A pull request as GitHub showed it. @property changedAt by GitHub's clock, in whole seconds. */
type Seen = Subject & { changedAt: Date | null };

/**
 * The exemptions that a push has ended: what GitHub shows of their pull requests has another head, and is no older than
 * what it showed at the request.
 */
export function pushedAway(exemptions: Exemption[], seen: Seen[], observedAt: Date): Exemption[] {
  const byNumber = new Map(seen.map((each) => [each.number, each]));
  return exemptions.filter((each) => {
    const shown = byNumber.get(each.pullRequest);
    if (!shown || each.endedAt || isAbout(each, shown)) return false;
    const isOlder = shown.changedAt === null || shown.changedAt < each.headSeenAt;
    return !isOlder || observedAt.getTime() - each.requestedAt.getTime() > longestLag;
  });
}
