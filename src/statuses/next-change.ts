import { inSteps, type Job, jobs } from '../queue/jobs.ts';
import type { Judgement } from './judge.ts';
import type { Observed } from './observe.ts';

/** Milliseconds until we check unknown facts again. Not too often, because some stay unknown, such as a misspelled team. */
const lookAgainAfter = 5 * 60_000;
/** Milliseconds after a push: GitHub computes conflicts some seconds later, without an event. */
const conflictAfter = 30_000;

/**
 * When time alone may next change a verdict, such as when a schedule begins or a pull request turns a week old. This is
 * the value for the repository's row.
 * @param stored the value in the row, while the row is locked.
 * @param isWhole whether every open pull request was observed, so that the instant replaces the former one; unless
 *   another observation started meanwhile, which may know an earlier instant.
 */
export function plannedChange(
  next: Date | null,
  stored: { observations: bigint; nextChangeAt: Date | null },
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

/**
 * Reconciles the repository again if something was unknown and no event may tell us when it is known: GitHub failed in
 * part, or has not computed yet whether a pull request conflicts.
 */
export function againWhereUnknown(
  { repository, observedAt, from }: Observed,
  { judged, verdicts }: Judgement,
): Job[] {
  const awaitsConflict =
    from.needs.facts.has('conflict') &&
    judged.some(({ pullRequest: { isMergeable, facts } }) => !isMergeable && facts.values.conflict === false);
  const isUnjudged = verdicts.some(({ holds }) => holds.some(({ unjudged }) => unjudged !== null));
  if (!awaitsConflict && !isUnjudged) return [];
  const at = inSteps(observedAt, awaitsConflict ? conflictAfter : lookAgainAfter);
  return [jobs.reconcileRepository(repository.id, at)];
}
