import type { LoadedPullRequest } from '../github/pull-requests/load-pull-requests.ts';
import { changedAtOf } from '../github/pull-requests/pull-request.ts';
import { inSteps, type Job, jobs, type PullRequestEvent } from '../database/queue/jobs.ts';
import { inSeconds } from '../time/local-time.ts';
import type { StoredRepository } from './desired-store.ts';
import { type Judged, judgedBy, type PullRequestJudgement, shasOf } from './judge.ts';
import type { Observed, PullRequestReading } from './observe.ts';
import { type LastSeen, shasThen } from './open-pull-request-store.ts';

// The jobs that follow from an observation of open pull requests.

/**
 * When time alone may next change a verdict, such as when a schedule begins or a pull request turns a week old. This is
 * the value for the repository's row.
 * @param stored the value in the row, while the row is locked.
 * @param isWhole whether every open pull request was observed, so that the instant replaces the former one; unless
 *   another observation started meanwhile, which may know an earlier instant.
 */
export function plannedChange(
  next: Date | null,
  stored: Pick<StoredRepository, 'observations' | 'nextChangeAt'>,
  { observation, observedAt }: Pick<Observed, 'observation' | 'observedAt'>,
  isWhole: boolean,
): Date | null {
  const { nextChangeAt } = stored;
  // If an instant passed before we observed some pull requests, the others still need a check.
  const known = isWhole && nextChangeAt && nextChangeAt <= observedAt ? null : nextChangeAt;
  const isLatest = isWhole && stored.observations === observation;
  const isSooner = next !== null && (known === null || next < known);
  return isLatest || isSooner ? next : known;
}

/** What the verdicts need next. @param gone the numbers of pull requests that are no longer open. */
export function followUp(
  observed: Observed,
  judgement: PullRequestJudgement,
  stored: StoredRepository,
  gone: number[],
  isWhole: boolean,
): Job[] {
  const { repository, freezes } = observed;
  const next = judgement.nextChangeAt;
  const isPlanned = next && plannedChange(next, stored, observed, isWhole) === next;
  // Pull requests that closed without a webhook are judged with the other closed ones.
  const areClosedOwed =
    judgedBy(freezes) !== stored.closedJudgedBy || (gone.length > 0 && freezes.length > 0);
  const branches = new Set(judgement.judged.flatMap(({ pullRequest }) => pullRequest.queueBranch ?? []));
  return [
    ...gone.map((number) => jobs.findBypass(repository.id, number)),
    ...(isWhole && areClosedOwed ? [jobs.reconcileClosedHeads(repository.id)] : []),
    ...(isPlanned ? [jobs.reconcileRepository(repository.id, next)] : []),
    ...againWhereUnknown(observed, judgement),
    ...(isWhole ? [] : [...branches].map((branch) => jobs.reconcileMergeQueue(repository.id, branch))),
  ];
}

/** Milliseconds until we check unknown facts again. Not too often, because some stay unknown, such as a misspelled team. */
const unknownAfter = 5 * 60_000;
/** Milliseconds after a push: GitHub computes conflicts some seconds later, without an event. */
const conflictAfter = 30_000;

/**
 * Reconciles the repository again if something was unknown and no event may tell us when it is known: GitHub failed in
 * part, or has not computed yet whether a pull request conflicts.
 */
function againWhereUnknown(
  { repository, observedAt, from }: Observed,
  { judged, verdicts }: PullRequestJudgement,
): Job[] {
  const awaitsConflict =
    from.needs.facts.has('conflict') &&
    judged.some(({ pullRequest: { isMergeable, facts } }) => !isMergeable && facts.values.conflict === false);
  const isUnjudged = verdicts.some(({ holds }) => holds.some(({ unjudged }) => unjudged !== null));
  if (!awaitsConflict && !isUnjudged) return [];
  const at = inSteps(observedAt, awaitsConflict ? conflictAfter : unknownAfter);
  return [jobs.reconcileRepository(repository.id, at)];
}

// GitHub's answers lag behind its events. An answer may show an older state than an event or an earlier observation, or
// lack the test merge commit, which GitHub creates in the background.

const mostLooks = 4;

/**
 * Requests another observation, some seconds later, of pull requests that an answer shows in an old state or not at all.
 * @param judged the open ones.
 * @param lastSeen what we knew before.
 */
export function againWhereOutdated(
  { repository, observation }: Observed,
  { events, pullRequests }: PullRequestReading,
  judged: Judged[],
  lastSeen: LastSeen[],
  now: Date,
): Job[] {
  const answers = new Map(pullRequests.map(({ facts }) => [facts.number, changedAtOf(facts)]));
  const awaited = events ? awaitingTestMerge(judged) : new Set();
  const isBehind = ({ number, changedAt }: PullRequestEvent) =>
    changedAt !== undefined && inSeconds(answers.get(number) ?? new Date(0)) < inSeconds(new Date(changedAt));
  const behindEvents = (events ?? []).filter((event) => isBehind(event) || awaited.has(event.number));
  const asked = events && new Set([...events.map(({ number }) => number), ...answers.keys()]);
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
      looks: events?.find((event) => event.number === number)?.looks,
      installationId: String(repository.installation.id),
    }));
  const again = [...behindEvents, ...behindLooks].filter(({ looks = 0 }) => looks < mostLooks);
  return again.map((each) => {
    const looks = (each.looks ?? 0) + 1;
    const at = new Date(now.getTime() + 1000 * 2 ** looks);
    return jobs.reconcilePullRequest(repository.id, { ...each, looks }, at);
  });
}

/** Held pull requests without a known test merge commit. Its status may count before that of the head. */
function awaitingTestMerge(judged: Judged[]): Set<number> {
  const awaited = judged.filter(
    ({ holds, pullRequest }) => holds.length > 0 && pullRequest.isTestMergeUnderWay,
  );
  return new Set(awaited.map(({ pullRequest }) => pullRequest.facts.number));
}

/**
 * Reconciles open pull requests again whose SHA a later observation judged without them: two pull requests got the same
 * SHA while both observations ran, and the later verdict stays.
 */
export function againWhereOvertaken(
  { repository }: Observed,
  open: LoadedPullRequest[],
  later: LastSeen[],
): Job[] {
  const known = new Set(later.map(({ number }) => number));
  const judged = new Set(later.flatMap(shasThen));
  return open
    .filter((each) => !known.has(each.facts.number) && shasOf(each).some((sha) => judged.has(sha)))
    .map(({ facts: { number, nodeId } }) =>
      jobs.reconcilePullRequest(repository.id, { number, nodeId, installationId: null }),
    );
}
