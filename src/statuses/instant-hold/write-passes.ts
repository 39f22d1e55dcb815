import type { Deps } from '../../deps.ts';
import { classifyGitHubError } from '../../github/github-error.ts';
import { pauseInstallation } from '../../github/ask-github.ts';
import { postStatus } from '../write-status.ts';
import { takePlace } from '../lease.ts';
import { freeText } from '../status.ts';
import { type DuePass, forgetPass, readRevoked, savePass, takePasses } from './pass-store.ts';

/** How long to wait after GitHub failed. */
const tryAgainAfter = 2000;

/**
 * Writes the context of instant holds on commits that no freeze holds. They come before all statuses of a freeze: until
 * then their pull requests are blocked, and everything else is held by the ruleset.
 * @param places how many the pace allows.
 * @returns how many were written, and when to go on if GitHub limits us or is down.
 */
export async function writePasses(
  deps: Deps,
  installationId: bigint,
  places: number,
): Promise<{ written: number; until: Date | null }> {
  let written = 0;
  for (const pass of await takePasses(deps.sql, installationId, places)) {
    const until = await write(deps, installationId, pass);
    if (until) return { written, until };
    written++;
  }
  return { written, until: null };
}

/** @returns when to go on, if GitHub limits us or is down. */
async function write(deps: Deps, installationId: bigint, pass: DuePass): Promise<Date | null> {
  const until = await post(deps, installationId, pass);
  if (until) return until;
  const former = await savePass(deps.sql, pass);
  return former ? post(deps, installationId, { ...pass, ...free, context: former }) : null;
}

/** @returns when to go on, if GitHub limits us or is down. */
async function post(deps: Deps, installationId: bigint, pass: DuePass): Promise<Date | null> {
  const { owner, repo, sha, context, state, description } = pass;
  const led = { groupNumber: pass.openNumber, closedNumber: null };
  const about = { repository: `${owner}/${repo}`, sha, context, state };
  try {
    await postStatus(deps, installationId, { ...pass, ...led }, { state, description }, context);
    deps.log.info(about, 'the context of an instant hold was written');
  } catch (error) {
    const now = deps.clock.now();
    const failure = classifyGitHubError(error, now);
    deps.metrics.countNotWritten(failure.kind);
    deps.log.warn({ ...about, failure }, 'the context of an instant hold could not be written');
    if (failure.kind === 'limited') {
      await pauseInstallation(deps, installationId, failure);
      return new Date(Math.max(now + tryAgainAfter, failure.retryAt));
    }
    if (failure.kind === 'down') return new Date(now + tryAgainAfter);
    // GitHub takes no status there. The next beginning has another context.
  }
  return null;
}

const free = { state: 'success', description: freeText } as const;

/**
 * Writes success on open heads that were let through and held again, once the hold is over: a status that waits for ever
 * would look like a check that never ends. Every status of a freeze comes before it. The next check goes on.
 */
export async function finishRevoked(deps: Deps, repositoryId: bigint): Promise<void> {
  for (const pass of await readRevoked(deps.sql, repositoryId)) {
    if (await takePlace(deps, pass.installationId)) return;
    if (await post(deps, pass.installationId, pass)) return;
    await forgetPass(deps.db, pass);
  }
}
