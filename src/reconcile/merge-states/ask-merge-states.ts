import { nowOf } from '../../clock.ts';
import type { Tx } from '../../database/database.ts';
import type { Deps } from '../../deps.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { GitHubClient } from '../../github/github-app.ts';
import { askStep, inSteps, jobs } from '../../queue/jobs.ts';
import { type JudgedHead, rememberPullRequests } from '../open-pull-request-store.ts';
import { mostMergeStates, readMergeStates } from '../../github/pull-requests/read-merge-states.ts';
import type { FoundRepository } from '../../installations/find-repository.ts';
import { isUnwritten, statusesOfHeld } from '../held-pull-requests.ts';
import { findObservable, observeOrPause, type Observed } from '../observe.ts';
import { type Asked, saveMergeStates } from './save-merge-states.ts';

/** GitHub works its answer out in the background: nothing is asked so short after a status. */
const settling = 4_000;
/** While statuses wait to be written. */
const writtenAfter = 5_000;
/** The share of GitHub's budget that is left for what holds pull requests. */
const reserve = 1 / 10;
const spareFor = 60_000;

/**
 * Remembers pull requests as they were judged, and has GitHub asked some seconds later whether it would merge those
 * that are held. Part of the transaction that saves the verdicts.
 */
export async function rememberJudged(
  deps: Deps,
  tx: Tx,
  observed: Observed,
  heads: JudgedHead[],
): Promise<void> {
  const { repository, observation } = observed;
  const at = inSteps(nowOf(deps.clock), askStep);
  const isDue = await rememberPullRequests(tx, repository.id, heads, observation, at);
  if (isDue) await deps.queue.send([jobs.askMergeStates(repository.id, at)], tx);
}

/**
 * Asks GitHub whether it would merge the held pull requests of a repository that are due, 100 with one question. Which
 * are due, and when next, stands in the database.
 * @throws what GitHub throws while it cannot answer; the job queue tries again.
 */
export async function askMergeStates(deps: Deps, repositoryId: bigint): Promise<void> {
  const readable = await findObservable(deps, repositoryId);
  if ('notBefore' in readable) return comeBack(deps, repositoryId, readable.notBefore);
  const { repository } = readable;
  const { installation } = repository;
  while (!deps.stopping.aborted) {
    const now = nowOf(deps.clock);
    const due = await findDue(deps.db, repositoryId, now);
    if (due.length === 0) break;
    if (deps.github.budgetLeft(installation.id, now.getTime()) < reserve) {
      return comeBack(deps, repositoryId, new Date(now.getTime() + spareFor));
    }
    const asked = await observeOrPause(deps, { repository }, async () => {
      const client = await deps.github.asInstallation(installation.id, installation.permissions);
      await askAbout(deps, client, repository, due);
      return { isAsked: true };
    });
    if ('notBefore' in asked) return comeBack(deps, repositoryId, asked.notBefore);
  }
  await comeBack(deps, repositoryId, await nextDue(deps, repositoryId));
}

/** Asks about pull requests, and keeps what GitHub answers. @throws what GitHub throws. */
export async function askAbout(
  deps: Pick<Deps, 'db' | 'clock' | 'log'>,
  client: GitHubClient,
  repository: FoundRepository,
  asked: Asked[],
): Promise<void> {
  const answers = await readMergeStates(
    client,
    asked.map(({ nodeId }) => nodeId),
  );
  await saveMergeStates(deps, repository, asked, answers);
}

/** An `Asked` as its row has it. */
const askedColumns = Prisma.sql`number, node_id AS "nodeId", head_sha AS "headSha", held_by AS "heldBy",
  merge_state AS "mergeState", merge_state_asks AS asks, leaking_since AS "leakingSince"`;

/** Those that GitHub would merge, as far as is known: whoever has mended that wants to see it. */
export const findLeaking = (db: Tx, repositoryId: bigint): Promise<Asked[]> => db.$queryRaw<Asked[]>`
  SELECT ${askedColumns}
  FROM open_pull_requests WHERE repository_id = ${repositoryId} AND leaking_since IS NOT NULL
  ORDER BY number LIMIT ${mostMergeStates}`;

/** Of those whose status stands. */
const findDue = (db: Tx, repositoryId: bigint, now: Date): Promise<Asked[]> => db.$queryRaw<Asked[]>`
  SELECT ${askedColumns}
  FROM open_pull_requests held ${statusesOfHeld}
  WHERE held.repository_id = ${repositoryId} AND held.merge_state_due_at <= ${now} AND NOT ${isUnwritten}
    AND coalesce(greatest(head.written_at, merge.written_at) <= ${new Date(now.getTime() - settling)}, true)
  ORDER BY held.merge_state_due_at, held.number LIMIT ${mostMergeStates}`;

/** What is due and was not asked about waits for its status. */
async function nextDue({ db, clock }: Deps, repositoryId: bigint): Promise<Date | null> {
  const where = { repositoryId, mergeStateDueAt: { not: null } };
  const { _min } = await db.openPullRequest.aggregate({ where, _min: { mergeStateDueAt: true } });
  const dueAt = _min.mergeStateDueAt;
  return dueAt && new Date(Math.max(dueAt.getTime(), clock.now() + writtenAfter));
}

async function comeBack(deps: Deps, repositoryId: bigint, at: Date | null): Promise<void> {
  if (!at) return;
  await deps.queue.send([jobs.askMergeStates(repositoryId, new Date(Math.ceil(at.getTime() / 1000) * 1000))]);
}
