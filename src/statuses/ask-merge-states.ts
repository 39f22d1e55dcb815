import { setTimeout as sleep } from 'node:timers/promises';
import { Prisma } from '../generated/prisma/client.ts';
import { isUnwritten, statusesOfHeld } from './desired-store.ts';
import { nowOf } from '../time/clock.ts';
import { changeOfRepository, tellOf } from '../database/changes.ts';
import type { Tx } from '../database/database.ts';
import { throughPrisma } from '../database/sql.ts';
import { ourselves } from '../events/actor.ts';
import { appendEvents, type Happened, placeOf } from '../events/append-event.ts';
import { freezeInEvent } from '../freezes/freeze.ts';
import type { GitHubClient } from '../github/github-app.ts';
import { defineTask, NotNow } from '../database/queue/define-task.ts';
import { askStep, inSteps, jobs } from '../database/queue/jobs.ts';
import { listFreezes } from '../freezes/list-freezes.ts';
import {
  mostMergeStates,
  type ReadMergeState,
  readMergeStates,
} from '../github/pull-requests/load-pull-requests.ts';
import { fullName } from '../installations/find-repository.ts';
import { judgeMergeState, refusedBy, type Watched } from './merge-state.ts';
import { findObservable, observe, type ObservedRepository } from './observe.ts';
import type { StatusDeps } from './status-deps.ts';

/** Milliseconds, like all times here. GitHub works its answer out in the background: nothing is asked so soon after a status. */
const settling = 4_000;

/** The share of GitHub's budget that is left for what holds pull requests. */
const reserve = 1 / 10;

const spareFor = 60_000;

/** Events come first: after a question it rests this many times as long as the question took. */
const restFactor = 4;

const longestRest = 500;

/** When to ask GitHub whether it would merge what is held from now on: those of some seconds are asked together. */
export const askSoonAt = ({ clock }: Pick<StatusDeps, 'clock'>): Date => inSteps(nowOf(clock), askStep);

/**
 * Asks GitHub whether it would merge the held pull requests of a repository that are due, 100 with one question. Which
 * are due, and when next, stands in the database.
 * @throws NotNow where it has to wait, or is due again; and what GitHub throws while it cannot answer.
 */
async function askMergeStates(deps: StatusDeps, repositoryId: bigint): Promise<void> {
  const repository = await findObservable(deps, repositoryId);
  const { id, permissions } = repository.installation;
  // Those that come due meanwhile, as their statuses are written, are asked about together later.
  for (let areMore = true; areMore && !deps.stopping.aborted;) {
    const began = performance.now();
    const now = nowOf(deps.clock);
    const due = await findDue(deps.db, repositoryId, now);
    if (due.length === 0) break;
    areMore = due.length === mostMergeStates;
    if (deps.github.budgets.left(id) < reserve) throw notBefore(now.getTime() + spareFor);
    await observe(deps, repository, async () => {
      const client = await deps.github.asInstallation(id, permissions);
      await askAbout(deps, client, repository, due);
    });
    if (areMore) await sleep(Math.min(longestRest, restFactor * (performance.now() - began)));
  }
  const next = await nextDue(deps.db, repositoryId);
  if (next) throw notBefore(next.getTime());
}

/** In whole seconds, so that requests at about the same time share one job. */
const notBefore = (instant: number): NotNow => new NotNow(new Date(Math.ceil(instant / 1000) * 1000));

/** Asks about pull requests, and keeps what GitHub answers. @throws what GitHub throws. */
export async function askAbout(
  deps: Pick<StatusDeps, 'db' | 'sql' | 'clock' | 'log'>,
  client: GitHubClient,
  repository: ObservedRepository,
  asked: WatchedPullRequest[],
): Promise<void> {
  const answers = await readMergeStates(
    client,
    asked.map(({ nodeId }) => nodeId),
  );
  await saveMergeStates(deps, repository, asked, answers);
}

/** A `WatchedPullRequest` as its row has it. */
const askedColumns = Prisma.sql`number, node_id AS "nodeId", head_sha AS "headSha", held_by AS "heldBy",
  merge_state AS "mergeState", merge_state_asks AS asks, leaking_since AS "leakingSince"`;

/** The pull requests that GitHub would merge, as far as we know, so that people see when they have fixed that. */
export const findLeaking = (db: Tx, repositoryId: bigint): Promise<WatchedPullRequest[]> => db.$queryRaw<
  WatchedPullRequest[]
>`
  SELECT ${askedColumns}
  FROM open_pull_requests WHERE repository_id = ${repositoryId} AND leaking_since IS NOT NULL
  ORDER BY number LIMIT ${mostMergeStates}`;

/** Of those whose status stands. `OFFSET 0`: first what is due, then its statuses, also without statistics. */
const findDue = (db: Tx, repositoryId: bigint, now: Date): Promise<WatchedPullRequest[]> => db.$queryRaw<
  WatchedPullRequest[]
>`
  SELECT ${askedColumns}
  FROM (
    SELECT * FROM open_pull_requests
    WHERE repository_id = ${repositoryId} AND merge_state_due_at <= ${now} OFFSET 0
  ) held ${statusesOfHeld}
  WHERE NOT ${isUnwritten}
    AND coalesce(greatest(head.written_at, merge.written_at) <= ${new Date(now.getTime() - settling)}, true)
  ORDER BY held.merge_state_due_at, held.number LIMIT ${mostMergeStates}`;

/**
 * When the next one is due whose status stands. What waits for its status is no reason to look again: whoever writes that
 * sends a job.
 */
async function nextDue(db: Tx, repositoryId: bigint): Promise<Date | null> {
  const [row] = await db.$queryRaw<[{ next: Date | null }]>`
    SELECT min(greatest(held.merge_state_due_at,
      greatest(head.written_at, merge.written_at) + ${settling} * interval '1 millisecond')) AS next
    FROM open_pull_requests held ${statusesOfHeld}
    WHERE held.repository_id = ${repositoryId} AND held.merge_state_due_at IS NOT NULL AND NOT ${isUnwritten}`;
  return row.next;
}

export const askMergeStatesTask = defineTask(
  jobs.askMergeStates,
  (deps: StatusDeps, { repositoryId }) => askMergeStates(deps, BigInt(repositoryId)),
  { takers: 16 },
);

/** A held pull request that GitHub is asked about. */
type WatchedPullRequest = Watched & { number: number; nodeId: string; headSha: string; heldBy: string[] };

/** One that GitHub would merge. */
type Leak = WatchedPullRequest & { base: string; mergeState: string };

/** What the freezes' reports count stands in their waits: the last answer that settled anything. */
const saveStates = `
  WITH told AS MATERIALIZED (
    SELECT * FROM unnest($2::int[], $3::text[], $4::timestamptz[], $5::text[], $6::int[], $7::timestamptz[], $8::bool[])
      AS told(number, head_sha, due_at, merge_state, asks, leaking_since, refused)
  ), saved AS (
    UPDATE open_pull_requests held SET merge_state_due_at = due_at, merge_state = told.merge_state,
      merge_state_asks = asks, leaking_since = told.leaking_since
    FROM told
    WHERE held.repository_id = $1 AND held.number = told.number
      AND held.head_sha = told.head_sha AND cardinality(held.held_by) > 0
    RETURNING held.number, held.held_by, told.refused, ${tellOf(changeOfRepository('repository_id', 'held.number'))}
  ), noted AS (
    UPDATE freeze_waits wait SET refused = saved.refused
    FROM saved
    WHERE wait.repository_id = $1 AND wait.number = saved.number AND wait.freeze_id = ANY (saved.held_by)
      AND saved.refused IS DISTINCT FROM wait.refused AND saved.refused IS NOT NULL
  )
  SELECT FROM saved`;

/**
 * Keeps what GitHub says of held pull requests, by their heads, and records each that it would merge: once for a
 * freeze and head.
 * @param answers by node id.
 */
async function saveMergeStates(
  deps: Pick<StatusDeps, 'db' | 'sql' | 'clock' | 'log'>,
  repository: ObservedRepository,
  asked: WatchedPullRequest[],
  answers: Map<string, ReadMergeState>,
): Promise<void> {
  const now = nowOf(deps.clock);
  const judged = asked.map((each) => {
    const answer = answers.get(each.nodeId);
    // About another head it says nothing: a look is under way.
    const isOfHead = answer?.headSha === each.headSha;
    const watched = judgeMergeState(each, isOfHead ? answer.state : null, now);
    return { before: each, base: isOfHead ? answer.base : null, ...each, ...watched };
  });
  const leaks = judged.filter(
    (each): each is typeof each & Leak => each.leakingSince !== null && each.base !== null,
  );
  await deps.sql.transaction(async (tx) => {
    await Promise.all([
      tx.query('lock-for-states', 'SELECT FROM repositories WHERE id = $1 FOR NO KEY UPDATE', [
        repository.id,
      ]),
      tx.query('save-merge-states', saveStates, [
        repository.id,
        judged.map(({ number }) => number),
        judged.map(({ headSha }) => headSha),
        judged.map(({ dueAt }) => dueAt),
        judged.map(({ mergeState }) => mergeState),
        judged.map(({ asks }) => asks),
        judged.map(({ leakingSince }) => leakingSince),
        judged.map(refusedBy),
      ]),
    ]);
  });
  // On its own, so that observations do not wait for it. If it is not reached, the next answer records the leaks.
  if (leaks.length > 0) await deps.db.$transaction((tx) => record(tx, repository, leaks, now));
  const about = (each: WatchedPullRequest) => ({
    repository: fullName(repository),
    pullRequest: each.number,
  });
  for (const { before, leakingSince, mergeState, ...each } of judged) {
    if (!before.leakingSince && leakingSince)
      deps.log.warn(
        { ...about(before), mergeState },
        'GitHub would merge a pull request that a freeze holds',
      );
    if (before.leakingSince && !leakingSince)
      deps.log.info({ ...about(before), dueAt: each.dueAt }, 'GitHub would not merge it any more');
  }
}

async function record(tx: Tx, repository: ObservedRepository, leaks: Leak[], now: Date): Promise<void> {
  // One recorder at a time.
  await tx.$queryRaw`
    SELECT 1 AS locked FROM (SELECT pg_advisory_xact_lock(hashtext(${`leaks of ${repository.id}`}))) AS lock`;
  const shas = leaks.map(({ headSha }) => headSha);
  const rows = await tx.$queryRaw<{ freeze: string; sha: string }[]>`
    SELECT metadata->>'scheduled_freeze_id' AS freeze, metadata->>'head_sha' AS sha FROM audit_events
    WHERE repository_id = ${repository.id} AND type = 'freeze.leaking' AND metadata->>'head_sha' = ANY(${shas}::text[])`;
  const recorded = new Set(rows.map(({ freeze, sha }) => `${freeze} ${sha}`));
  const freezes = await listFreezes(throughPrisma(tx), repository, now);
  const happened: Happened[] = [];
  for (const { number, base, headSha, heldBy, mergeState } of leaks) {
    for (const freeze of freezes.filter(({ id }) => heldBy.includes(id))) {
      const once = `${freeze.id} ${headSha}`;
      if (recorded.has(once)) continue;
      recorded.add(once);
      const metadata = {
        ...freezeInEvent(freeze),
        head_sha: headSha,
        merge_state: mergeState,
      };
      const place = { ...placeOf(repository), pullRequest: { number, base } };
      happened.push({ place, event: { type: 'freeze.leaking', metadata } });
    }
  }
  await appendEvents(tx, happened, ourselves, now);
}
