import { createHash } from 'node:crypto';
import type { Deps } from '../../deps.ts';
import type { Attempt } from './attempt.ts';

/** Uses up a sign-in, on every replica. @returns false if it was used before. */
export async function useAttempt({ db }: Pick<Deps, 'db'>, { state, until }: Attempt): Promise<boolean> {
  const stateHash = createHash('sha256').update(state).digest('hex');
  const { count } = await db.usedSignIn.createMany({
    data: [{ stateHash, expiresAt: new Date(until) }],
    skipDuplicates: true,
  });
  return count === 1;
}
