import type { LoadedPullRequest } from '../github/pull-requests/load-pull-requests.ts';
import { shasOf } from './judge.ts';
import type { Observed } from './observe.ts';
import type { LastSeen } from './open-pull-request-store.ts';
import type { Found } from './save.ts';

// Compares an observation with what we saw before.

/** The SHAs of a pull request when it was last seen, in the form of `shasOf`. */
const shasThen = ({ headSha, mergeSha }: LastSeen): string[] =>
  mergeSha === null ? [headSha] : [headSha, mergeSha];

/** Pull requests that share a SHA but were not observed. */
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
  // A pull request that an earlier observation saw and this one did not is no longer open.
  return unasked.filter((seen) => seen.seenBy > observation && shasThen(seen).some((sha) => shas.has(sha)));
}

/** The numbers of pull requests that are no longer open and that no later observation saw. */
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

/** The SHAs of open pull requests, which are judged with them. */
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
 * Open pull requests on a SHA that a later observation judged without them: two pull requests got the same SHA while
 * both observations ran. The later verdict stays, so these pull requests are reconciled again.
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
