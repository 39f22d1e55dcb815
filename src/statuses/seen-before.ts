import type { LoadedPullRequest } from '../github/pull-requests/load-pull-requests.ts';
import { changedAtOf } from '../github/pull-requests/pull-request.ts';
import { type Job, jobs, type Told } from '../queue/jobs.ts';
import { inSeconds } from '../time/local-time.ts';
import { type Judged, shasOf } from './judge.ts';
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

// GitHub's answers lag behind its events. An answer may show an older state than an event or an earlier observation, or
// lack the test merge commit, which GitHub creates in the background.

const mostLooks = 4;

/**
 * Requests another observation, some seconds later, of pull requests that an answer shows in an old state or not at all.
 * @param told what events said; null if the answer is about all open pull requests.
 * @param shown what the answer shows, including closed pull requests.
 * @param judged the open ones.
 * @param lastSeen what we knew before.
 */
export function againWhereOutdated(
  { repository, observation }: Pick<Observed, 'repository' | 'observation'>,
  { told, shown, judged, lastSeen }: Answer,
  now: Date,
): Job[] {
  const answers = new Map(shown.map(({ facts }) => [facts.number, changedAtOf(facts)]));
  const awaited = told ? awaitingTestMerge(judged) : new Set();
  const isBehind = ({ number, changedAt }: Told) =>
    changedAt !== undefined && inSeconds(answers.get(number) ?? new Date(0)) < inSeconds(new Date(changedAt));
  const behindEvents = (told ?? []).filter((event) => isBehind(event) || awaited.has(event.number));
  const asked = told && new Set([...told.map(({ number }) => number), ...answers.keys()]);
  const isOlder = ({ number, changedAt }: LastSeen) => {
    const answer = answers.get(number);
    return answer === undefined || (answer !== null && changedAt !== null && answer < changedAt);
  };
  const behindLooks = lastSeen
    .filter((each) => each.seenBy < observation && (!asked || asked.has(each.number)) && isOlder(each))
    .filter(({ number }) => !behindEvents.some((event) => event.number === number))
    .map(({ number, nodeId, changedAt }) => ({
      number,
      nodeId,
      changedAt: changedAt?.toISOString(),
      looks: told?.find((event) => event.number === number)?.looks,
      installationId: String(repository.installation.id),
    }));
  const again = [...behindEvents, ...behindLooks].filter(({ looks = 0 }) => looks < mostLooks);
  return again.map((each) => {
    const looks = (each.looks ?? 0) + 1;
    const at = new Date(now.getTime() + 1000 * 2 ** looks);
    return jobs.reconcilePullRequest(repository.id, { ...each, looks }, at);
  });
}

type Answer = { told: Told[] | null; shown: LoadedPullRequest[]; judged: Judged[]; lastSeen: LastSeen[] };

/** Held pull requests without a known test merge commit. Its status may count before that of the head. */
function awaitingTestMerge(judged: Judged[]): Set<number> {
  const awaited = judged.filter(
    ({ holds, pullRequest }) => holds.length > 0 && pullRequest.isTestMergeUnderWay,
  );
  return new Set(awaited.map(({ pullRequest }) => pullRequest.facts.number));
}
