import { nowOf } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { refreshMergeQueue, refreshRepository, syncRepository } from '../queue/jobs.ts';
import {
  type LoadedPullRequest,
  loadPullRequest,
  loadPullRequestNodes,
} from '../github/pull-requests/load-pull-requests.ts';
import { forgetPullRequests, type JudgedHead, siblingsOf } from './open-pull-request-store.ts';
import { lockRepository } from '../installations/lock-repository.ts';
import { rememberJudged } from './merge-states/ask-merge-states.ts';
import { judgeNewcomers } from './newcomers.ts';
import { lookAgain, planNextChange } from './next-change.ts';
import { lookAtOutdated } from './outdated-answers.ts';
import { type NotRefreshable, openRefresh, readOrPause, type Refreshable } from './observe.ts';
import { saveClosedHeads } from './closed-heads/save-closed-heads.ts';
import { beforeTheRest, decideVerdicts, judgedHeads, saveVerdicts, shasOf } from './save.ts';

/** A pull request that an event told of. */
export type Told = {
  number: number;
  /** GitHub's GraphQL id, where the event gave it. */
  nodeId?: string;
  /** When it changed, by GitHub's clock: an answer that is older is looked at again. */
  changedAt?: string;
  /** How often an older answer came already. */
  looks?: number;
  /** Who told of it; a repository that is not known yet is read through it first. */
  installationId: string | null;
};

/**
 * Looks at some pull requests of a repository and at those that share a SHA with one of them, now or until now, as head
 * or test merge commit: a status belongs to the SHA. One question serves all that wait at the same time.
 * @throws what GitHub throws while it cannot answer; the job queue tries again.
 */
export async function refreshPullRequests(deps: Deps, repositoryId: bigint, told: Told[]): Promise<void> {
  const known = await deps.db.repository.findUnique({ where: { id: repositoryId } });
  const through = told.find(({ installationId }) => installationId !== null)?.installationId;
  if (!known?.installationId && through) {
    return deps.jobs.send([syncRepository(repositoryId, BigInt(through))]);
  }
  const refresh = await openRefresh(deps, repositoryId);
  const subjects = [...new Map(told.map((each) => [each.number, each])).values()];
  const affected =
    'notBefore' in refresh ? refresh : await readOrPause(deps, refresh, () => read(deps, refresh, subjects));
  if ('notBefore' in affected) {
    if (affected.notBefore) await deps.jobs.send([refreshRepository(repositoryId, affected.notBefore)]);
    return;
  }
  await save(deps, refresh as Refreshable, told, affected);
}

/** What was read: the subjects; all open ones; and the SHAs that the subjects have or had. */
type Affected = { subjects: LoadedPullRequest[]; loaded: LoadedPullRequest[]; shas: Set<string> };

/** The pull requests, where they are open, and their open siblings. */
async function read(deps: Deps, refresh: Refreshable, told: Told[]): Promise<Affected | NotRefreshable> {
  const { from, repository } = refresh;
  const subjects = await loadSubjects(from, told);
  const meetings = told.map(({ number }) => {
    const subject = subjects.find(({ facts }) => facts.number === number);
    return {
      number,
      headSha: subject?.facts.headSha ?? null,
      mergeSha: subject?.testMerge?.sha ?? null,
      headMerges: subject?.headMerges ?? null,
    };
  });
  const { shas, nodeIds } = await siblingsOf(deps.db, repository.id, meetings);
  // More than one question can name: all of them are looked at, then.
  if (nodeIds.length > mostNodes) return { notBefore: nowOf(deps.clock) };
  const siblings = nodeIds.length > 0 ? await loadPullRequestNodes(from, nodeIds) : [];
  const loaded = [...subjects, ...siblings].filter(({ isOpen }) => isOpen);
  return { subjects, loaded, shas };
}

const mostNodes = 100;

/** By node id, many at once; a single one, and those that no event gave an id of, by number. */
async function loadSubjects(from: Refreshable['from'], told: Told[]): Promise<LoadedPullRequest[]> {
  const named = told.length > 1 ? told.flatMap(({ nodeId }) => nodeId ?? []) : [];
  const others = told.filter(({ nodeId }) => nodeId === undefined || !named.includes(nodeId));
  const loaded = named.length > 0 ? await loadPullRequestNodes(from, named) : [];
  for (const { number } of others) {
    const one = await loadPullRequest(from, number);
    if (one) loaded.push(one);
  }
  return loaded;
}

async function save(deps: Deps, refresh: Refreshable, told: Told[], affected: Affected): Promise<void> {
  const { repository, reading } = refresh;
  const { subjects, loaded, shas } = affected;
  // A sibling may have moved on meanwhile; its new SHA is judged with the others there, at its own event.
  const judged = loaded.filter((pullRequest) => shasOf(pullRequest).some((sha) => shas.has(sha)));
  const verdicts = decideVerdicts(refresh, loaded, shas).map(beforeTheRest);
  const heads = judgedHeads(refresh, loaded);
  const awaited = numbersAwaitingTestMerge(heads, loaded);
  const shut = subjects.filter(({ isOpen }) => !isOpen);
  const open = new Set(heads.map(({ number }) => number));
  const closed = told.map(({ number }) => number).filter((number) => !open.has(number));
  const queues = new Set(loaded.flatMap(({ queueBranch }) => queueBranch ?? []));
  await deps.db.$transaction(async (tx) => {
    await lockRepository(tx, repository.id);
    await lookAtOutdated(deps, tx, refresh, told, [...subjects, ...loaded], awaited);
    if (closed.length > 0) await forgetPullRequests(tx, repository.id, closed, reading);
    await rememberJudged(deps, tx, refresh, heads);
    await saveVerdicts(deps, tx, refresh, verdicts);
    await saveClosedHeads(deps, tx, refresh, shut, 'some');
    await judgeNewcomers(deps, tx, refresh, judged, loaded);
    await planNextChange(deps, tx, refresh, judged, false);
    await lookAgain(deps, tx, refresh, judged, verdicts);
    await deps.jobs.send(
      [...queues].map((branch) => refreshMergeQueue(repository.id, branch)),
      tx,
    );
  });
}

/** Held ones whose test merge commit GitHub does not tell yet: it may carry a status that counts before the head's. */
function numbersAwaitingTestMerge(heads: JudgedHead[], loaded: LoadedPullRequest[]): Set<number> {
  const held = new Set(heads.filter(({ heldBy }) => heldBy.length > 0).map(({ number }) => number));
  const awaited = loaded.filter(
    ({ facts, isTestMergeUnderWay }) => isTestMergeUnderWay && held.has(facts.number),
  );
  return new Set(awaited.map(({ facts }) => facts.number));
}
