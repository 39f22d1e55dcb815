import type { Deps } from '../deps.ts';
import { classifyGitHubError, type GitHubFailure } from './github-error.ts';

/** A repository that refuses us is asked about again after this: often enough to notice, too seldom to hammer. */
export const checkAccessAfter = 30_000;

type Limited = Extract<GitHubFailure, { kind: 'limited' }>;

/**
 * Remembers that GitHub asked an installation to wait; all workers see it, also after a restart. GraphQL has an
 * hourly budget of its own, and statuses are written without it.
 */
export async function pauseInstallation(
  deps: Pick<Deps, 'db' | 'log'>,
  id: bigint,
  { retryAt, of }: Limited,
): Promise<void> {
  const until = new Date(retryAt);
  const field = of === 'graphql' ? 'readsPausedUntil' : 'pausedUntil';
  await deps.db.installation.updateMany({
    where: { id, OR: [{ [field]: null }, { [field]: { lt: until } }] },
    data: { [field]: until },
  });
  deps.log.warn({ installationId: String(id), until, of }, 'GitHub limits this installation; waiting');
}

/**
 * The same for an error of which nothing else is to be done: a question that somebody could do without.
 * @param error not only limits: anything else is left alone. Never throws.
 */
export async function pauseIfLimited(
  deps: Pick<Deps, 'db' | 'log' | 'clock'>,
  id: bigint,
  error: unknown,
): Promise<void> {
  const failure = classifyGitHubError(error, deps.clock.now());
  if (failure.kind !== 'limited') return;
  await pauseInstallation(deps, id, failure).catch((err: unknown) =>
    deps.log.warn({ err, installationId: String(id) }, 'could not save that GitHub limits an installation'),
  );
}
