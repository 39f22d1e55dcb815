// How the writes of an installation share its pace. Within a tier, repositories take turns, and within a repository the
// owners of heads (forks) do. So nobody has more than half of the pace while somebody else waits, however much somebody
// makes us write.
//
// In a round, each who waits has one turn. We remember the last turns: who is among them comes after all others. When one
// of them has the next turn, everybody who waits had one, and a new round begins.
//
// If more take turns than we remember, those who are forgotten would come again and again before those who are less urgent.
// So every second batch goes on behind the one before it, and begins anew at the end.

/** How many turns are remembered, in all. */
const mostTurns = 400;

/** Whose write it is. */
export type WriteShare = { repositoryId: bigint; headOwner: string };

/**
 * The turns after these writes, in their order.
 * @param of what they are: a tier, or `pass`. Each has rounds of its own.
 */
export function turnsAfter(turns: string[], of: string, { repositoryId, headOwner }: WriteShare): string[] {
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

/** Where a write is in the order of a round: repositories by urgency, and of the same urgency by id. */
type Place = WriteShare & { tier: number; urgency: number };

/** The first of the turns may say from where a batch goes on: the next one does, or the one after it. */
const notes = { next: 'on', later: 'then' };
const isNote = (turn: string): boolean => Object.values(notes).some((note) => turn.startsWith(`${note}/`));

/** Whether the next batch goes on behind an earlier one. It takes nothing of a later tier. */
export const goesOn = ([first]: string[]): boolean => first?.startsWith(`${notes.next}/`) ?? false;

/**
 * The turns after the writes of a batch, with such a note if more take turns than we remember.
 * @param isEnd whether the batch had room for more.
 */
export function turnsAfterBatch(before: string[], batch: Place[], isEnd: boolean): string[] {
  const note = before.find(isNote);
  const turns = batch.reduce(
    (so, write) => turnsAfter(so, String(write.tier), write),
    before.filter((turn) => !isNote(turn)),
  );
  if (turns.length < mostTurns || (goesOn(before) && isEnd)) return turns;
  if (note && !goesOn(before)) return [note.replace(notes.later, notes.next), ...turns];
  const { tier } = batch.at(-1)!;
  const { urgency, repositoryId } = batch
    .filter((write) => write.tier === tier)
    .reduce((last, write) => (isBehind(write, last) ? write : last));
  return [[goesOn(before) ? notes.later : notes.next, tier, urgency, repositoryId].join('/'), ...turns];
}

const isBehind = (one: Place, other: Place): boolean =>
  one.urgency === other.urgency ? one.repositoryId > other.repositoryId : one.urgency > other.urgency;

/** Before every place. */
const first = { urgency: -1000, repositoryId: 0 };

/** SQL for columns that say from where a batch goes on, or NULL. @param turns SQL of the turns. */
export const startIn = (turns: string): string => {
  const part = (index: number) =>
    `CASE WHEN (${turns})[1] LIKE '${notes.next}/%' THEN split_part((${turns})[1], '/', ${index}) END`;
  return `${part(2)}::int AS start_tier, ${part(3)}::int AS start_urgency, ${part(4)}::int8 AS start_repository`;
};

/** SQL for the place after which a tier begins. @param start a row with the columns of `startIn`. */
export const startOfWrites = (tier: string, start: string): string[] => [
  `CASE WHEN ${tier} = ${start}.start_tier THEN ${start}.start_urgency ELSE ${first.urgency} END`,
  `CASE WHEN ${tier} = ${start}.start_tier THEN ${start}.start_repository ELSE ${first.repositoryId} END`,
];

/** SQL for whether somebody is among the turns. @param turn SQL of the parts of the turn, as `turnsAfter` joins them. */
export const hadTurn = (turns: string, ...turn: string[]): string =>
  `(concat_ws('/', ${turn.join(', ')}) = ANY (${turns}))`;

/**
 * SQL that selects writes with their round. Sort them by `byRound`.
 * @param waiting SQL that selects them, with `repository_id`, `head_owner`, `urgency`, `waiting_since` and `sha`.
 * @param of SQL of what they are, as for `turnsAfter`. @param turns SQL of the turns.
 */
export const inRounds = (waiting: string, of: string, turns: string): string => `
  SELECT placed.*, row_number() OVER (PARTITION BY repository_id ORDER BY place, urgency, waiting_since, sha)
    + ${hadTurn(turns, of, 'repository_id')}::int AS round
  FROM (
    SELECT waiting.*, row_number() OVER (
        PARTITION BY repository_id, head_owner ORDER BY urgency, waiting_since, sha)
      + ${hadTurn(turns, of, 'repository_id', 'head_owner')}::int AS place
    FROM (${waiting}) waiting
  ) placed`;

/** The order of writes of one kind that have their round. */
export const byRound = 'round, urgency, waiting_since, repository_id, sha';
