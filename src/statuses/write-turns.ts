// How the writes of an installation share its pace. Within a tier, repositories take turns, and within a repository the
// owners of heads (forks) do. So nobody has more than half of the pace while somebody else waits, however much somebody
// makes us write.
//
// In a round, each who waits has one turn. We remember the last turns: who is among them comes after all others. When one
// of them has the next turn, everybody who waits had one, and a new round begins.

/** How many turns are remembered, in all. If more take turns, the first ones may come again before the last ones. */
const mostTurns = 400;

/** Whose write it is. */
export type Share = { repositoryId: bigint; headOwner: string };

/**
 * The turns after these writes, in their order.
 * @param of what they are: a tier, or `pass`. Each has rounds of its own.
 */
export function turnsAfter(turns: string[], of: string, { repositoryId, headOwner }: Share): string[] {
  const repository = `${of}/${repositoryId}`;
  const owner = `${repository}/${headOwner}`;
  const isOfRound = (turn: string, had: string) =>
    turn.startsWith(had.slice(0, had.lastIndexOf('/') + 1)) &&
    turn.split('/').length === had.split('/').length;
  const kept = [repository, owner].reduce(
    (left, had) => (left.includes(had) ? left.filter((turn) => !isOfRound(turn, had)) : left),
    turns,
  );
  return [...kept, repository, owner].slice(-mostTurns);
}

/**
 * SQL that selects writes with their round. Sort them by `byRound`.
 * @param waiting SQL that selects them, with `repository_id`, `head_owner`, `urgency`, `waiting_since` and `sha`.
 * @param of SQL of what they are, as for `turnsAfter`. @param turns SQL that selects the turns.
 */
export const inRounds = (waiting: string, of: string, turns: string): string => `
  SELECT placed.*, row_number() OVER (PARTITION BY repository_id ORDER BY place, urgency, waiting_since, sha)
    + (concat(${of}, '/', repository_id) IN (${turns}))::int AS round
  FROM (
    SELECT waiting.*, row_number() OVER (
        PARTITION BY repository_id, head_owner ORDER BY urgency, waiting_since, sha)
      + (concat(${of}, '/', repository_id, '/', head_owner) IN (${turns}))::int AS place
    FROM (${waiting}) waiting
  ) placed`;

/** The order of writes of one kind that have their round. */
export const byRound = 'round, urgency, waiting_since, repository_id, sha';
