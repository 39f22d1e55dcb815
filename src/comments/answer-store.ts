import type { Tx } from '../database/database.ts';

// What became of each comment that was a command. It is what makes a command happen once: whoever changes something for
// one saves its answer in the same transaction.

/** Answers that one person gets within an hour. */
export const mostAnswers = 10;
const hour = 3_600_000;

/** A comment that was taken on. */
export type Taken = {
  /** What it has ended so far. */
  done: string[];
  /** Null while it is not carried out. */
  answer: string | null;
  attempts: number;
  isSettled: boolean;
};

type Comment = { id: bigint; repositoryId: bigint; personId: bigint };

/**
 * Takes a comment on, or finds that it was taken on before.
 * @returns null where its author has had as many answers as they may; `isLast`: this one is the last of them.
 */
export async function takeComment(
  tx: Tx,
  { id, repositoryId, personId }: Comment,
  now: Date,
): Promise<(Taken & { isLast: boolean }) | null> {
  // Commands of one person come one after another, also to several replicas.
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

/** Thrown where another process carried the same command out meanwhile. */
export class AnsweredMeanwhile extends Error {}

/**
 * Saves what to answer, in the transaction of the change that it tells of.
 * @throws AnsweredMeanwhile where there is an answer already: then the change must not be made again.
 */
export async function keepAnswer(tx: Tx, commentId: bigint, answer: string): Promise<void> {
  const { count } = await tx.commentAnswer.updateMany({
    where: { commentId, answer: null },
    data: { answer },
  });
  if (count === 0) throw new AnsweredMeanwhile();
}

/** Notes one of several things that a command ended, in the transaction that ends it. @throws as `keepAnswer`. */
export async function noteDone(tx: Tx, commentId: bigint, what: string): Promise<void> {
  const { count } = await tx.commentAnswer.updateMany({
    where: { commentId, answer: null },
    data: { done: { push: what } },
  });
  if (count === 0) throw new AnsweredMeanwhile();
}

/** What a comment has come to by now. */
export const readTaken = (tx: Tx, commentId: bigint): Promise<Taken> =>
  tx.commentAnswer.findUniqueOrThrow({ where: { commentId } });

/** Counts a try to write the answer, before it is made. @returns how many there were before. */
export async function countAttempt(tx: Tx, commentId: bigint): Promise<number> {
  const data = { attempts: { increment: 1 } };
  return (await tx.commentAnswer.update({ where: { commentId }, data })).attempts - 1;
}

/** The answer is written, or will never be. */
export async function settleAnswer(tx: Tx, commentId: bigint): Promise<void> {
  await tx.commentAnswer.update({ where: { commentId }, data: { isSettled: true } });
}
