import { inSteps, type Job, jobs } from '../queue/jobs.ts';
import type { Judgement } from './judge.ts';
import type { Observed } from './observe.ts';

/** Milliseconds until we check unknown facts again. Not too often, because some stay unknown, such as a misspelled team. */
const lookAgainAfter = 5 * 60_000;
/** Milliseconds after a push: GitHub computes conflicts some seconds later, without an event. */
const conflictAfter = 30_000;

/**
 * When time alone could next change a verdict (a schedule begins, a pull request turns a week old): what the
 * repository's row keeps of it.
 * @param stored what that row says, while it is locked.
 * @param isWhole whether every open pull request was observed, so that the instant replaces the former one; unless
 *   another observation was begun meanwhile, which may know of an earlier instant to come.
 */
export function plannedChange(
  next: Date | null,
  stored: { observations: bigint; nextChangeAt: Date | null },
  { observation, observedAt }: Pick<Observed, 'observation' | 'observedAt'>,
  isWhole: boolean,
): Date | null {
  const { nextChangeAt } = stored;
  // What passed before some pull requests were observed is still owed to the others.
  const known = isWhole && nextChangeAt && nextChangeAt <= observedAt ? null : nextChangeAt;
  const isLatest = isWhole && stored.observations === observation;
  const isSooner = next !== null && (known === null || next < known);
  return isLatest || isSooner ? next : known;
}

/**
 * Has the repository reconciled again where something was not known and no event may tell when it is: GitHub failed
 * on a part, or has not found out yet whether a pull request conflicts.
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
