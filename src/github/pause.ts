import type { Deps } from '../deps.ts';
import { classifyGitHubError, type GitHubFailure } from './github-error.ts';

/** If a repository refuses us, we ask again after this time: soon enough to notice, and not too often. */
export const checkAccessAfter = 30_000;

type Limited = Extract<GitHubFailure, { kind: 'limited' }>;

/**
 * Saves that GitHub asked an installation to wait. All workers see it, also after a restart. GraphQL has its own hourly
 * budget, and writing statuses does not need it.
 */
export async function pauseInstallation(
  deps: Pick<Deps, 'db' | 'log'>,
  id: bigint,
  { retryAt, of, isSecondary, isContentCreation }: Limited,
): Promise<void> {
  const until = new Date(retryAt);
  const field = of === 'graphql' ? 'readsPausedUntil' : 'pausedUntil';
  await deps.db.installation.updateMany({
    where: { id, OR: [{ [field]: null }, { [field]: { lt: until } }] },
    data: { [field]: until },
  });
  const about = { installationId: String(id), until, of, isSecondary, isContentCreation };
  deps.log.warn(about, 'GitHub limits this installation; waiting');
}

/**
 * The same for the error of an optional question, which has no other consequence. Never throws.
 * @param error of any kind: this ignores errors that are not limits.
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
