import { hour } from '../../time/units.ts';
import type { Tx } from '../../database/database.ts';
import { isOurTurn } from '../../database/queue/queue.ts';
import type { SqlTx } from '../../database/sql.ts';
import type { Deps } from '../../deps.ts';
import type { CommentAnswer } from '../../generated/prisma/client.ts';
import { AnsweredMeanwhile } from '../commands/order.ts';

// The result of each command in a comment. A change for a command saves the answer in the same transaction, so that the
// command happens once. That is what `runOnce` of the API does for a key. A comment has a row of its own because the row is
// there before the change, to count commands and what they ended, and after it, until the answer is posted.

/** How many answers one person gets within an hour. What an admin, or somebody with the role, decides is answered beyond it. */
export const mostAnswers = 10;
/** How many comments Holdfast writes in a repository within an hour. The same is answered beyond it. */
const mostInRepository = 30;
/** How many answers people who cannot write to the repository get in a conversation within an hour, all of them together. */
const mostForOutsiders = 3;

/** A comment that we started to handle. */
export type TakenComment = CommentAnswer & {
  number: number;
  /** Whether this is the last answer that its author gets now. */
  isLast: boolean;
};

type Comment = Pick<TakenComment, 'commentId' | 'repositoryId' | 'number' | 'personId'>;

/**
 * Starts to handle a comment, or finds that it was started before; null if its author has no answers left.
 * @param isDecided whether it is known that the author may decide what the comment decides.
 */
export async function takeComment(
  tx: Tx,
  comment: Comment,
  now: Date,
  isDecided = false,
): Promise<TakenComment | null> {
  const { commentId, personId, number } = comment;
  await lockFor(tx, `comments of ${personId}`);
  const known = await tx.commentAnswer.findUnique({ where: { commentId } });
  const takenAt = known?.takenAt ?? now;
  const others = await tx.commentAnswer.count({
    where: {
      personId,
      commentId: { not: commentId },
      takenAt: { gt: new Date(takenAt.getTime() - hour), ...(known && { lte: takenAt }) },
    },
  });
  if (!known && !isDecided && others >= mostAnswers) return null;
  const taken = known ?? (await tx.commentAnswer.create({ data: { ...comment, takenAt } }));
  return { ...taken, number, isLast: others === mostAnswers - 1 };
}

/**
 * Whether the author of a comment gets an answer. People who cannot write to the repository, of whom there may be many,
 * get one an hour in a conversation.
 * @param isOutsider whether the author is such a person.
 */
export async function hasAnswerLeft(
  db: Deps['db'],
  comment: Comment,
  isOutsider: boolean,
  now: Date,
): Promise<boolean> {
  if ((await countWritten(db, comment.repositoryId, now)) >= mostInRepository) return false;
  return !isOutsider || db.$transaction((tx) => takeForOutsider(tx, comment, now));
}

async function takeForOutsider(
  tx: Tx,
  { commentId, repositoryId, number, personId }: Comment,
  now: Date,
): Promise<boolean> {
  await lockFor(tx, `outsiders of ${repositoryId}#${number}`);
  const takenAt = { gt: new Date(now.getTime() - hour) };
  const others = await tx.commentAnswer.findMany({
    where: { repositoryId, number, isOutsider: true, takenAt, commentId: { not: commentId } },
    select: { personId: true },
  });
  if (others.length >= mostForOutsiders || others.some((other) => other.personId === personId)) return false;
  await tx.commentAnswer.update({ where: { commentId }, data: { isOutsider: true } });
  return true;
}

/** Those who take the same lock run one after another, across all replicas. */
const lockFor = (tx: Tx, what: string) =>
  tx.$queryRaw`SELECT 1 AS locked FROM (SELECT pg_advisory_xact_lock(hashtext(${what}))) AS lock`;

/** How many comments Holdfast wrote in a repository within an hour. */
async function countWritten(tx: Tx, repositoryId: bigint, now: Date): Promise<number> {
  const earlier = { gt: new Date(now.getTime() - hour) };
  return (
    (await tx.commentAnswer.count({ where: { repositoryId, takenAt: earlier, answer: { not: null } } })) +
    (await tx.exemption.count({ where: { repositoryId, announcedAt: earlier } }))
  );
}

/** Whether there is room in a repository to announce a request. */
export const mayAnnounce = async (tx: Tx, repositoryId: bigint, now: Date): Promise<boolean> =>
  (await countWritten(tx, repositoryId, now)) < mostInRepository;

/**
 * Saves the answer, or one of several things that a command ended, in the transaction of the change, as long as there is
 * no answer. `announces`: the exemption request that the answer announces.
 * @throws AnsweredMeanwhile if there is one already: the change must not happen again.
 */
export async function saveOnce(
  tx: Tx,
  commentId: bigint,
  data: { answer: string; announces?: string } | { done: { push: string } },
): Promise<void> {
  const { count } = await tx.commentAnswer.updateMany({ where: { commentId, answer: null }, data });
  if (count === 0) throw new AnsweredMeanwhile();
}

/** The current state of a comment. */
export const readTaken = (tx: Tx, commentId: bigint): Promise<CommentAnswer> =>
  tx.commentAnswer.findUniqueOrThrow({ where: { commentId } });

/**
 * Counts a try to write the answer before we make it.
 * @returns it, with how many tries there were; null if it is written or given up, or its lane is another process's.
 */
export async function takeAnswer(
  sql: SqlTx,
  commentId: bigint,
  turn: bigint,
): Promise<{ answer: string; attempts: number } | null> {
  const [row] = await sql.query<{ answer: string; attempts: number }>(
    'take an answer',
    `UPDATE comment_answers SET attempts = attempts + 1
     WHERE comment_id = $1::int8 AND answer IS NOT NULL AND NOT is_settled AND ${isOurTurn('$2')}
     RETURNING answer, attempts`,
    [commentId, turn],
  );
  return row ?? null;
}

/**
 * Marks an answer that is written, or can never be, while its lane is ours.
 * @param writtenAt by GitHub's clock: since then everybody can read the request that it announces. Null: it is not written.
 */
export async function settleAnswer(
  sql: SqlTx,
  commentId: bigint,
  turn: bigint,
  writtenAt: Date | null,
): Promise<void> {
  await sql.query(
    'settle an answer',
    `WITH settled AS (
       UPDATE comment_answers SET is_settled = true WHERE comment_id = $1::int8 AND ${isOurTurn('$2')}
       RETURNING announces
     )
     UPDATE exemptions SET announced_at = $3::timestamptz FROM settled
     WHERE exemptions.id = settled.announces AND $3::timestamptz IS NOT NULL`,
    [commentId, turn, writtenAt],
  );
}

/** Notes since when the conversation shows a request, while the lane is ours. */
export async function noteAnnounced(sql: SqlTx, id: string, turn: bigint, announcedAt: Date): Promise<void> {
  await sql.query(
    'note an announcement',
    `UPDATE exemptions SET announced_at = $3::timestamptz WHERE id = $1::uuid AND ${isOurTurn('$2')}`,
    [id, turn, announcedAt],
  );
}
