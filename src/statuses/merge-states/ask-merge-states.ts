import { setTimeout as sleep } from 'node:timers/promises';
import { nowOf } from '../../clock.ts';
import type { Tx } from '../../database/database.ts';
import type { Deps } from '../../deps.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { GitHubClient } from '../../github/github-app.ts';
import { defineTask } from '../../queue/define-task.ts';
import { askStep, inSteps, jobs } from '../../queue/jobs.ts';
import { NotNow } from '../../queue/not-now.ts';
import { mostMergeStates, readMergeStates } from '../../github/pull-requests/read-merge-states.ts';
import { isUnwritten, statusesOfHeld } from '../held-pull-requests.ts';
import { findObservable, observe, type ObservedRepository } from '../observe.ts';
import { type Asked, saveMergeStates } from './save-merge-states.ts';

/** Milliseconds, like all times here. GitHub works its answer out in the background: nothing is asked so soon after a status. */
const settling = 4_000;
/** While statuses wait to be written. */
const writtenAfter = 5_000;
/** The share of GitHub's budget that is left for what holds pull requests. */
const reserve = 1 / 10;
const spareFor = 60_000;
/** Events come first: after a question it rests this many times as long as the question took. */
const restFactor = 4;
const longestRest = 500;

/** When to ask GitHub whether it would merge what is held from now on: those of some seconds are asked together. */
export const askSoonAt = ({ clock }: Pick<Deps, 'clock'>): Date => inSteps(nowOf(clock), askStep);

/**
 * Asks GitHub whether it would merge the held pull requests of a repository that are due, 100 with one question. Which
 * are due, and when next, stands in the database.
 * @throws NotNow where it has to wait, or is due again; and what GitHub throws while it cannot answer.
 */
export async function askMergeStates(deps: Deps, repositoryId: bigint): Promise<void> {
  const repository = await findObservable(deps, repositoryId);
  const { id, permissions } = repository.installation;
  // Those that come due meanwhile, as their statuses are written, are asked about together later.
  for (let areMore = true; areMore && !deps.stopping.aborted;) {
    const began = performance.now();
    const now = nowOf(deps.clock);
    const due = await findDue(deps.db, repositoryId, now);
    if (due.length === 0) break;
    areMore = due.length === mostMergeStates;
    if (deps.github.budgetLeft(id, now.getTime()) < reserve) throw notBefore(now.getTime() + spareFor);
    await observe(deps, repository, async () => {
      const client = await deps.github.asInstallation(id, permissions);
      await askAbout(deps, client, repository, due);
    });
    if (areMore) await sleep(Math.min(longestRest, restFactor * (performance.now() - began)));
  }
  const next = await nextDue(deps, repositoryId);
  if (next) throw notBefore(next.getTime());
}

/** In whole seconds, so that requests at about the same time share one job. */
const notBefore = (instant: number): NotNow => new NotNow(new Date(Math.ceil(instant / 1000) * 1000));

/** Asks about pull requests, and keeps what GitHub answers. @throws what GitHub throws. */
export async function askAbout(
  deps: Pick<Deps, 'db' | 'sql' | 'clock' | 'log'>,
  client: GitHubClient,
  repository: ObservedRepository,
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

/** The pull requests that GitHub would merge, as far as we know, so that people see when they have fixed that. */
export const findLeaking = (db: Tx, repositoryId: bigint): Promise<Asked[]> => db.$queryRaw<Asked[]>`
  SELECT ${askedColumns}
  FROM open_pull_requests WHERE repository_id = ${repositoryId} AND leaking_since IS NOT NULL
  ORDER BY number LIMIT ${mostMergeStates}`;

/** Of those whose status stands. `OFFSET 0`: first what is due, then its statuses, also without statistics. */
const findDue = (db: Tx, repositoryId: bigint, now: Date): Promise<Asked[]> => db.$queryRaw<Asked[]>`
  SELECT ${askedColumns}
  FROM (
    SELECT * FROM open_pull_requests
    WHERE repository_id = ${repositoryId} AND merge_state_due_at <= ${now} OFFSET 0
  ) held ${statusesOfHeld}
  WHERE NOT ${isUnwritten}
    AND coalesce(greatest(head.written_at, merge.written_at) <= ${new Date(now.getTime() - settling)}, true)
  ORDER BY held.merge_state_due_at, held.number LIMIT ${mostMergeStates}`;

/** What is due and was not asked about waits for its status. */
async function nextDue({ db, clock }: Deps, repositoryId: bigint): Promise<Date | null> {
  const where = { repositoryId, mergeStateDueAt: { not: null } };
  const { _min } = await db.openPullRequest.aggregate({ where, _min: { mergeStateDueAt: true } });
  const dueAt = _min.mergeStateDueAt;
  return dueAt && new Date(Math.max(dueAt.getTime(), clock.now() + writtenAfter));
}

export const askMergeStatesTask = defineTask(
  jobs.askMergeStates,
  (deps, { repositoryId }) => askMergeStates(deps, BigInt(repositoryId)),
  { takers: 8 },
);
