import type { Deps } from '../deps.ts';
import { refreshRepository, syncRepository } from '../jobs/tasks.ts';
import {
  type LoadedPullRequest,
  loadPullRequest,
  loadPullRequestNodes,
} from '../pull-requests/load-pull-requests.ts';
import {
  forgetPullRequest,
  rememberPullRequests,
  siblingsOf,
} from '../pull-requests/open-pull-request-store.ts';
import { openRefresh, readOrPause, type Refreshable } from './refreshable.ts';
import { decideVerdicts, saveVerdicts } from './save-verdicts.ts';

/**
 * Looks at one pull request and at those that share its head SHA, now or until now: a status belongs to the SHA.
 * @param installationId who told of it; a repository that is not known yet is read through it first.
 * @throws what GitHub throws while it cannot answer; the job queue tries again.
 */
export async function refreshPullRequest(
  deps: Deps,
  repositoryId: bigint,
  number: number,
  installationId: bigint | null,
): Promise<void> {
  const isKnown = await deps.db.repository.findUnique({ where: { id: repositoryId }, select: { id: true } });
  if (!isKnown) return deps.jobs.send([syncRepository(repositoryId, installationId)]);
  const refresh = await openRefresh(deps, repositoryId);
  const affected =
    'notBefore' in refresh ? refresh : await readOrPause(deps, refresh, () => read(deps, refresh, number));
  if ('notBefore' in affected) {
    if (affected.notBefore) await deps.jobs.send([refreshRepository(repositoryId, affected.notBefore)]);
    return;
  }
  await save(deps, refresh as Refreshable, number, affected);
}

/** The pull request, where it is open, and its open siblings. */
async function read(deps: Deps, refresh: Refreshable, number: number): Promise<LoadedPullRequest[]> {
  const { from, repository } = refresh;
  const subject = await loadPullRequest(from, number);
  const ids = await siblingsOf(deps.db, repository.id, number, subject?.facts.headSha ?? null);
  const siblings = ids.length > 0 ? await loadPullRequestNodes(from, ids.slice(0, 100)) : [];
  return [...(subject ? [subject] : []), ...siblings].filter(({ isOpen }) => isOpen);
}

async function save(
  deps: Deps,
  refresh: Refreshable,
  number: number,
  open: LoadedPullRequest[],
): Promise<void> {
  const { repository, reading } = refresh;
  await deps.db.$transaction(async (tx) => {
    const heads = open.map(({ facts }) => facts);
    if (!heads.some((head) => head.number === number))
      await forgetPullRequest(tx, repository.id, number, reading);
    await rememberPullRequests(tx, repository.id, heads, reading);
    await saveVerdicts(deps, tx, refresh, decideVerdicts(refresh, open));
  });
}
