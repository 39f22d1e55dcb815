import { nowOf } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { jobs, type Told } from '../queue/jobs.ts';
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
import { beforeTheRest } from '../outbox/urgency.ts';
import { type NotObservable, openObservation, observeOrPause, type Observed } from './observe.ts';
import { saveClosedHeads } from './closed-heads/save-closed-heads.ts';
import { decideVerdicts, judgedHeads, saveVerdicts, shasOf } from './save.ts';

/**
 * Looks at some pull requests of a repository and at those that share a SHA with one of them, now or until now, as head
 * or test merge commit: a status belongs to the SHA. One question serves all that wait at the same time.
 * @throws what GitHub throws while it cannot answer; the job queue tries again.
 */
export async function reconcilePullRequests(deps: Deps, repositoryId: bigint, told: Told[]): Promise<void> {
  const known = await deps.db.repository.findUnique({ where: { id: repositoryId } });
  const through = told.find(({ installationId }) => installationId !== null)?.installationId;
  if (!known?.installationId && through) {
    return deps.queue.send([jobs.syncRepository(repositoryId, BigInt(through))]);
  }
  const observed = await openObservation(deps, repositoryId);
  const subjects = [...new Map(told.map((each) => [each.number, each])).values()];
  const affected =
    'notBefore' in observed
      ? observed
      : await observeOrPause(deps, observed, () => read(deps, observed, subjects));
  if ('notBefore' in affected) {
    if (affected.notBefore)
      await deps.queue.send([jobs.reconcileRepository(repositoryId, affected.notBefore)]);
    return;
  }
  await save(deps, observed as Observed, told, affected);
}

/** What was read: the subjects; all open ones; and the SHAs that the subjects have or had. */
type Affected = { subjects: LoadedPullRequest[]; loaded: LoadedPullRequest[]; shas: Set<string> };

/** The pull requests, where they are open, and their open siblings. */
async function read(deps: Deps, observed: Observed, told: Told[]): Promise<Affected | NotObservable> {
  const { from, repository } = observed;
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
async function loadSubjects(from: Observed['from'], told: Told[]): Promise<LoadedPullRequest[]> {
  const named = told.length > 1 ? told.flatMap(({ nodeId }) => nodeId ?? []) : [];
  const others = told.filter(({ nodeId }) => nodeId === undefined || !named.includes(nodeId));
  const loaded = named.length > 0 ? await loadPullRequestNodes(from, named) : [];
  for (const { number } of others) {
    const one = await loadPullRequest(from, number);
    if (one) loaded.push(one);
  }
  return loaded;
}

async function save(deps: Deps, observed: Observed, told: Told[], affected: Affected): Promise<void> {
  const { repository, observation } = observed;
  const { subjects, loaded, shas } = affected;
  // A sibling may have moved on meanwhile; its new SHA is judged with the others there, at its own event.
  const judged = loaded.filter((pullRequest) => shasOf(pullRequest).some((sha) => shas.has(sha)));
  const verdicts = decideVerdicts(observed, loaded, shas).map(beforeTheRest);
  const heads = judgedHeads(observed, loaded);
  const awaited = numbersAwaitingTestMerge(heads, loaded);
  const shut = subjects.filter(({ isOpen }) => !isOpen);
  const open = new Set(heads.map(({ number }) => number));
  const closed = told.map(({ number }) => number).filter((number) => !open.has(number));
  const queues = new Set(loaded.flatMap(({ queueBranch }) => queueBranch ?? []));
  await deps.db.$transaction(async (tx) => {
    await lockRepository(tx, repository.id);
    await lookAtOutdated(deps, tx, observed, told, [...subjects, ...loaded], awaited);
    if (closed.length > 0) await forgetPullRequests(tx, repository.id, closed, observation);
    await rememberJudged(deps, tx, observed, heads);
    await saveVerdicts(deps, tx, observed, verdicts);
    await saveClosedHeads(deps, tx, observed, shut, 'some');
    await judgeNewcomers(deps, tx, observed, judged, loaded);
    await planNextChange(deps, tx, observed, judged, false);
    await lookAgain(deps, tx, observed, judged, verdicts);
    await deps.queue.send(
      [...queues].map((branch) => jobs.reconcileMergeQueue(repository.id, branch)),
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
