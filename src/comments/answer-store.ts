import type { Tx } from '../database/database.ts';

// The result of each command in a comment. A change for a command saves the answer in the same transaction, so that the
// command happens once.

/** How many answers one person gets within an hour. */
export const mostAnswers = 10;
const hour = 3_600_000;

/** A comment that we started to handle. */
export type Taken = {
  /** What the command has ended so far. */
  done: string[];
  /** Null until the command is done. */
  answer: string | null;
  attempts: number;
  isSettled: boolean;
};

type Comment = { id: bigint; repositoryId: bigint; personId: bigint };

/**
 * Starts to handle a comment, or finds that it was started before.
 * @returns null if its author has no answers left; `isLast` says that this is their last answer.
 */
export async function takeComment(
  tx: Tx,
  { id, repositoryId, personId }: Comment,
  now: Date,
): Promise<(Taken & { isLast: boolean }) | null> {
  // Commands of one person run one after another, across all replicas.
  await tx.$queryRaw`
    SELECT 1 AS locked FROM (SELECT pg_advisory_xact_lock(hashtext(${`comments of ${personId}`}))) AS lock`;
  const known = await tx.commentAnswer.findUnique({ where: { commentId: id } });
  const takenAt = known?.takenAt ?? now;
  const others = await tx.commentAnswer.count({
    where: {
      personId,
      commentId: { not: id },
      takenAt: { gt: new Date(takenAt.getTime() - hour), ...(known && { lte: takenAt }) },
    },
  });
  const isLast = others === mostAnswers - 1;
  if (known) return { ...known, isLast };
  if (others >= mostAnswers) return null;
  const data = { commentId: id, repositoryId, personId, takenAt };
  return { ...(await tx.commentAnswer.create({ data })), isLast };
}

/** Thrown if another process ran the same command meanwhile. */
export class AnsweredMeanwhile extends Error {}

/**
 * Saves the answer in the transaction of the change that it reports.
 * @throws AnsweredMeanwhile if there is an answer already: the change must not happen again.
 */
export async function keepAnswer(tx: Tx, commentId: bigint, answer: string): Promise<void> {
  const { count } = await tx.commentAnswer.updateMany({
    where: { commentId, answer: null },
    data: { answer },
  });
  if (count === 0) throw new AnsweredMeanwhile();
}

/** Notes one of several things that a command ended, in the transaction that ends it. @throws like `keepAnswer`. */
export async function noteDone(tx: Tx, commentId: bigint, what: string): Promise<void> {
  const { count } = await tx.commentAnswer.updateMany({
    where: { commentId, answer: null },
    data: { done: { push: what } },
  });
  if (count === 0) throw new AnsweredMeanwhile();
}

/** The current state of a comment. */
export const readTaken = (tx: Tx, commentId: bigint): Promise<Taken> =>
  tx.commentAnswer.findUniqueOrThrow({ where: { commentId } });

/** Counts a try to post the answer before we make it. @returns the number of earlier tries. */
export async function countAttempt(tx: Tx, commentId: bigint): Promise<number> {
  const data = { attempts: { increment: 1 } };
  return (await tx.commentAnswer.update({ where: { commentId }, data })).attempts - 1;
}

/** Marks an answer that is posted or can never be posted. */
export async function settleAnswer(tx: Tx, commentId: bigint): Promise<void> {
  await tx.commentAnswer.update({ where: { commentId }, data: { isSettled: true } });
}
