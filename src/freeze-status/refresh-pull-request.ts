import { nowOf } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { refreshMergeQueue, refreshRepository, syncRepository } from '../jobs/tasks.ts';
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
import { lockRepository } from '../repositories/lock-repository.ts';
import { judgeNewcomers } from './newcomers.ts';
import { lookAgain, planNextChange } from './plan-next-change.ts';
import { type NotRefreshable, openRefresh, readOrPause, type Refreshable } from './refreshable.ts';
import { decideVerdicts, judgedHeads, saveVerdicts } from './save-verdicts.ts';

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
  const known = await deps.db.repository.findUnique({ where: { id: repositoryId } });
  if (!known?.installationId && installationId !== null) {
    return deps.jobs.send([syncRepository(repositoryId, installationId)]);
  }
  const refresh = await openRefresh(deps, repositoryId);
  const affected =
    'notBefore' in refresh ? refresh : await readOrPause(deps, refresh, () => read(deps, refresh, number));
  if ('notBefore' in affected) {
    if (affected.notBefore) await deps.jobs.send([refreshRepository(repositoryId, affected.notBefore)]);
    return;
  }
  await save(deps, refresh as Refreshable, number, affected);
}

/** All that was read, and which of it decides the SHAs that the pull request has now or had before. */
type Affected = { loaded: LoadedPullRequest[]; judged: LoadedPullRequest[] };

/** The pull request, where it is open, and its open siblings. */
async function read(deps: Deps, refresh: Refreshable, number: number): Promise<Affected | NotRefreshable> {
  const { from, repository } = refresh;
  const subject = await loadPullRequest(from, number);
  const { shas, nodeIds } = await siblingsOf(deps.db, repository.id, number, subject?.facts.headSha ?? null);
  // More than one question can name: all of them are looked at, then.
  if (nodeIds.length > mostNodes) return { notBefore: nowOf(deps.clock) };
  const siblings = nodeIds.length > 0 ? await loadPullRequestNodes(from, nodeIds) : [];
  const loaded = [...(subject ? [subject] : []), ...siblings].filter(({ isOpen }) => isOpen);
  // A sibling may have moved on meanwhile; its new SHA is judged with the others there, at its own event.
  return { loaded, judged: loaded.filter(({ facts }) => shas.includes(facts.headSha)) };
}

const mostNodes = 100;

async function save(deps: Deps, refresh: Refreshable, number: number, affected: Affected): Promise<void> {
  const { repository, reading } = refresh;
  const { loaded, judged } = affected;
  const heads = judgedHeads(refresh, loaded);
  const queues = new Set(loaded.flatMap(({ queueBranch }) => queueBranch ?? []));
  await deps.db.$transaction(async (tx) => {
    await lockRepository(tx, repository.id);
    if (!heads.some((head) => head.number === number)) {
      await forgetPullRequest(tx, repository.id, number, reading);
    }
    await rememberPullRequests(tx, repository.id, heads, reading);
    const verdicts = decideVerdicts(refresh, judged);
    await saveVerdicts(deps, tx, refresh, verdicts);
    await judgeNewcomers(deps, tx, refresh, judged);
    await planNextChange(deps, tx, refresh, judged, false);
    await lookAgain(deps, tx, refresh, judged, verdicts);
    await deps.jobs.send(
      [...queues].map((branch) => refreshMergeQueue(repository.id, branch)),
      tx,
    );
  });
}
