import type { LoadedPullRequest } from '../github/pull-requests/load-pull-requests.ts';
import { shasOf } from './judge.ts';
import type { Observed } from './observe.ts';
import type { LastSeen } from './open-pull-request-store.ts';
import type { Found } from './save.ts';

// What was seen before, beside what an observation found.

/** Its SHAs where it was seen last, as `shasOf` gives those of now. */
const shasThen = ({ headSha, mergeSha }: LastSeen): string[] =>
  mergeSha === null ? [headSha] : [headSha, mergeSha];

/** Pull requests that share a SHA and were not observed. */
export function unseenIn(
  { observation }: Observed,
  { of }: Found,
  lastSeen: LastSeen[],
  asked: ReadonlySet<number>,
  shas: ReadonlySet<string>,
): LastSeen[] {
  if (of === 'closed') return [];
  const unasked = lastSeen.filter(({ number }) => !asked.has(number));
  if (of !== 'open') return unasked;
  // What an earlier observation saw and this one did not is not open any more.
  return unasked.filter((seen) => seen.seenBy > observation && shasThen(seen).some((sha) => shas.has(sha)));
}

/** The numbers of pull requests that are not open any more, and that no later observation has seen. */
export function goneIn(
  { observation }: Observed,
  { of }: Found,
  lastSeen: LastSeen[],
  open: LoadedPullRequest[],
): number[] {
  if (of === 'closed') return [];
  const isOpen = new Set(open.map(({ facts }) => facts.number));
  const asked = of === 'open' ? null : new Set(of.map(({ number }) => number));
  return lastSeen
    .filter(
      ({ number, seenBy }) => seenBy < observation && !isOpen.has(number) && (!asked || asked.has(number)),
    )
    .map(({ number }) => number);
}

/** The SHAs that open pull requests have, which are judged with them. */
export function takenIn(
  { observation }: Observed,
  lastSeen: LastSeen[],
  open: LoadedPullRequest[],
  gone: number[],
): Set<string> {
  const replaced = new Set([...gone, ...open.map(({ facts }) => facts.number)]);
  const others = lastSeen.filter(({ number, seenBy }) => seenBy > observation || !replaced.has(number));
  return new Set([...others.flatMap(shasThen), ...open.flatMap(shasOf)]);
}

/**
 * Open pull requests on a SHA that a later observation has judged without them. That verdict stands, so they are
 * reconciled anew: two pull requests came to one SHA while both observations were under way.
 */
export function overtakenIn(
  { observation }: Observed,
  lastSeen: LastSeen[],
  open: LoadedPullRequest[],
): LoadedPullRequest[] {
  const later = lastSeen.filter(({ seenBy }) => seenBy > observation);
  const known = new Set(later.map(({ number }) => number));
  const judged = new Set(later.flatMap(shasThen));
  return open.filter(
    (pullRequest) =>
      !known.has(pullRequest.facts.number) && shasOf(pullRequest).some((sha) => judged.has(sha)),
  );
}
