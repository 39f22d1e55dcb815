import { type CommitStatusAnswer, known, statusIn } from '../pull-requests/pull-request.ts';
import { aloneQuery, type AttributeGroup, type FactField } from './attribute-group.ts';

// How the checks of a pull request are, for the people who decide on a request. No condition reads it.

type StateCount = { state: string; count: number };
type CountsAnswer = {
  contexts: {
    checkRunCountsByState: StateCount[] | null;
    statusContextCountsByState: StateCount[] | null;
  } | null;
};

// One node, because GitHub wants a bound. The counts are of all.
const counts = '{ state count }';
const selection = `checkCounts: statusCheckRollup { contexts(first: 1) {
  checkRunCountsByState ${counts} statusContextCountsByState ${counts}
} }`;
const checkCounts: FactField<CountsAnswer> = {
  ...{ name: 'checkCounts', what: 'checks', ofHead: true, selection },
  unwrap: (given) => given as CountsAnswer,
  query: aloneQuery('checkCounts', '', `head: commits(last: 1) { nodes { commit { oid ${selection} } } }`),
};

export const ofCheckCounts: AttributeGroup = {
  needs: ['check-counts'],
  attributes: [],
  fields: [checkCounts],
  changedBy: ['check_run'],
  read: () => Promise.resolve(known({})),
};

const failing = new Set([
  ...['FAILURE', 'ERROR', 'CANCELLED', 'TIMED_OUT', 'ACTION_REQUIRED', 'STARTUP_FAILURE', 'STALE'],
]);
const outcomes = ['passing', 'failing', 'pending'] as const;
type Outcome = (typeof outcomes)[number];
const outcomeOf = (state: string): Outcome => {
  if (['SUCCESS', 'NEUTRAL', 'SKIPPED'].includes(state)) return 'passing';
  return failing.has(state) ? 'failing' : 'pending';
};

/**
 * How many checks of a head pass, fail and are under way, without our own status; nothing if GitHub does not say.
 * @param problems the fields of the answer that GitHub did not give.
 */
export function checkCountsIn(head: CommitStatusAnswer | null, problems: { field: string }[]): number[] {
  const { checkCounts: rollup } = (head ?? {}) as { checkCounts?: CountsAnswer | null };
  if (!head || rollup === undefined) return [];
  if (problems.some(({ field }) => field === 'checkCounts' || field === 'status')) return [];
  // A commit without checks has no rollup.
  if (rollup === null) return [0, 0, 0];
  const { checkRunCountsByState: runs, statusContextCountsByState: statuses } = rollup.contexts ?? {};
  if (!runs || !statuses) return [];
  const own = statusIn(head);
  const all = [...runs, ...statuses, ...(own ? [{ state: own.state.toUpperCase(), count: -1 }] : [])];
  return outcomes.map((outcome) =>
    all.reduce((sum, { state, count }) => sum + (outcomeOf(state) === outcome ? count : 0), 0),
  );
}
