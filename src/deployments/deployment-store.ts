import type { Tx } from '../database/database.ts';
import { besideOf, type NewestPage, newestPageOf, rowsBeside, timeBeside } from '../database/newest-first.ts';
import { isOurTurn } from '../database/queue/queue.ts';
import { believed, type Sql, type SqlTx } from '../database/sql.ts';
import type { Deployment as Row } from '../generated/prisma/client.ts';
import type { Run } from './ask-github.ts';
import { type Review, type Deployment, type DeploymentState, environmentKey } from './deployment.ts';

// Saves and finds deployments.

/** Milliseconds after which one that was decided no longer matters to others. A job waits for 30 days at most. */
const decidedFor = 31 * 86_400_000;

const fromRow = (row: Row): Deployment => ({
  ...row,
  state: row.state as DeploymentState,
  attempted: row.attempted as Review | null,
});

/** Now, or the database's time if that is later: at its boundary a freeze has begun, even if our clock is behind. */
export async function presentInDatabase(sql: Pick<Sql, 'read'>, now: Date): Promise<Date> {
  const [row] = await sql.read<{ at: Date }>(
    'present of deployments',
    `SELECT greatest($1::timestamptz, ${believed('job_now()', '$1')}) AS at`,
    [now],
  );
  return row!.at;
}

/** The deployments of a repository that wait, and those that were decided lately. Oldest first. */
export async function openDeployments(tx: Tx, repositoryId: bigint, now: Date): Promise<Deployment[]> {
  const waiting = await tx.deployment.findMany({ where: { repositoryId, state: 'waiting' } });
  if (waiting.length === 0) return [];
  const since = new Date(now.getTime() - decidedFor);
  const decided = await tx.deployment.findMany({
    where: { repositoryId, state: { in: ['approved', 'bypassed'] }, decidedAt: { gt: since } },
    orderBy: { decidedAt: 'desc' },
    take: 1000,
  });
  return [...waiting, ...decided].map(fromRow);
}

/** @property its whether the run waits, and GitHub is not told of it now. @property others whether any of the repository do. */
type Wakes = {
  its: boolean;
  others: boolean;
  /** Whether GitHub asked us about the environment before, and not about this run: our rule may no longer be enabled. */
  isPastUs: boolean;
};

/** What the news that GitHub let a deployment of a run through, or that it began or ended, can change. */
export async function wakenBy(
  sql: SqlTx,
  repositoryId: bigint,
  runId: bigint,
  environment: string | null,
): Promise<Wakes> {
  const of = 'SELECT FROM deployments WHERE repository_id = $1::int8';
  const [row] = await sql.query<Wakes>(
    'deployments-that-wait',
    `SELECT
       EXISTS (${of} AND run_id = $2::int8 AND state = 'waiting' AND attempted IS NULL) AS its,
       EXISTS (${of} AND state = 'waiting') AS others,
       NOT EXISTS (${of} AND run_id = $2::int8 AND environment_key = $3)
         AND EXISTS (${of} AND environment_key = $3) AS "isPastUs"`,
    [repositoryId, runId, environment && environmentKey(environment)],
  );
  return row!;
}

/** The deployments of a run, of every attempt. */
export async function deploymentsOfRun(tx: Tx, repositoryId: bigint, runId: bigint): Promise<Deployment[]> {
  return (await tx.deployment.findMany({ where: { repositoryId, runId } })).map(fromRow);
}

/** The runs with a deployment that waits, those that GitHub was asked about longest ago first. */
export async function runsKnownToWait(tx: Tx, repositoryId: bigint): Promise<bigint[]> {
  const rows = await tx.deployment.findMany({
    where: { repositoryId, state: 'waiting' },
    orderBy: { checkedAt: 'asc' },
    select: { runId: true },
  });
  return [...new Set(rows.map(({ runId }) => runId))];
}

/**
 * A page of the deployments of a repository, those that GitHub requested last first.
 * @param cursor opaque, from an earlier page's `older` or `newer`. @throws Refusal invalid if the cursor is not ours.
 */
export async function listDeployments(
  tx: Tx,
  repositoryId: bigint,
  state: DeploymentState | undefined,
  { size, cursor }: { size: number; cursor?: string },
): Promise<NewestPage<Deployment>> {
  const beside = besideOf(cursor, 'deployment', true);
  const { number: serial, order, take } = rowsBeside(beside, size);
  const time = timeBeside(beside);
  const where = time && { OR: [{ requestedAt: time.past }, { requestedAt: time.same, serial }] };
  const found = await tx.deployment.findMany({
    where: { repositoryId, state, ...where },
    orderBy: [{ requestedAt: order }, { serial: order }],
    take,
  });
  const { rows, ...cursors } = newestPageOf(
    found,
    size,
    beside,
    (row) => row.serial,
    (row) => row.requestedAt,
  );
  return { rows: rows.map(fromRow), ...cursors };
}

/** A deployment of an owner: its repository, and when the last of the freezes ends that hold it; null where one has no end. */
export type OwnedDeployment = Deployment & { repositoryId: bigint; until: Date | null };

/**
 * The deployments of some repositories that wait, the oldest first; or those that freezes held and that were decided lately,
 * the newest first.
 */
export function deploymentsOf(
  sql: Pick<Sql, 'read'>,
  repositories: bigint[],
  which: 'waiting' | { since: Date },
  most: number,
): Promise<OwnedDeployment[]> {
  const isWaiting = which === 'waiting';
  const text = `
    SELECT repository_id AS "repositoryId", run_id AS "runId", attempt, environment, workflow,
      workflow_path AS "workflowPath", run_number AS "runNumber", ref, sha, started_by AS "startedBy",
      commit_title AS "commitTitle",
      requested_at AS "requestedAt", state, freeze_ids::text[] AS "freezeIds", attempted, reports, report,
      decided_at AS "decidedAt",
      (SELECT CASE WHEN bool_and(ends_at IS NOT NULL) THEN max(ends_at) END FROM freezes
        WHERE id = ANY (freeze_ids) AND freezes.repository_id = deployments.repository_id AND deleted_at IS NULL) AS until
    FROM deployments WHERE repository_id = ANY ($1::int8[])
      AND ${
        isWaiting
          ? `state = 'waiting'`
          : `state IN ('approved', 'rejected', 'superseded', 'bypassed')
        AND freeze_ids <> '{}' AND decided_at > $3::timestamptz`
      }
    ORDER BY ${isWaiting ? 'requested_at' : 'decided_at DESC'}, serial LIMIT $2`;
  const values = [repositories, most, ...(isWaiting ? [] : [which.since])];
  return sql.read(isWaiting ? 'waiting-of-owner' : 'decided-of-owner', text, values);
}

/**
 * Saves that an environment of a run waits. One that was decided waits again: GitHub asks once for each job.
 * @param requestedAt when GitHub made the request. @param askedAt when we asked GitHub: what was decided since then is
 *   decided.
 * @param before what was decided, which may hold still. @param freezeIds those that held it already.
 */
export async function saveRequest(
  tx: Tx,
  repositoryId: bigint,
  run: Run,
  environment: string,
  requestedAt: Date,
  askedAt: Date,
  before: Review | null,
  freezeIds: string[],
): Promise<void> {
  const key = {
    repositoryId,
    runId: run.id,
    attempt: run.attempt,
    environmentKey: environmentKey(environment),
  };
  const asked = { state: 'waiting', requestedAt, checkedAt: askedAt, freezeIds };
  const { workflow, workflowPath, number: runNumber, ref, sha, startedBy, commitTitle } = run;
  const of = { workflow, workflowPath, runNumber, ref, sha, startedBy, commitTitle };
  const row = { ...key, ...asked, environment, ...of };
  const { count } = await tx.deployment.createMany({ data: [row], skipDuplicates: true });
  if (count > 0) return;
  await tx.deployment.updateMany({
    where: { ...key, state: { not: 'waiting' }, decidedAt: { lt: askedAt } },
    data: { ...asked, decidedAt: null, attempted: before, reports: 0, report: null },
  });
}

/** GitHub shows that the deployments of a run still wait. */
export async function markChecked(tx: Tx, repositoryId: bigint, runId: bigint, now: Date): Promise<void> {
  await tx.deployment.updateMany({ where: { repositoryId, runId }, data: { checkedAt: now } });
}

/** @property answer what GitHub is about to be told. @property freezeIds those that hold it; null: no change. */
type Begun = { deployment: Deployment; answer: Review | null; freezeIds: string[] | null };

/**
 * Saves what GitHub is about to be told of deployments that wait, while the lane is ours: from there on it may have
 * arrived. What an earlier request was about stays, until somebody looked whether that arrived.
 * @returns those of which GitHub may be told.
 */
export async function takeReviews<Each extends Begun>(
  sql: SqlTx,
  repositoryId: bigint,
  turn: bigint,
  all: Each[],
): Promise<Each[]> {
  const rows = all.map(({ deployment: { runId, attempt, environment }, answer, freezeIds }, place) => {
    const key = { run_id: String(runId), attempt, environment_key: environmentKey(environment) };
    return { place, ...key, answer, freeze_ids: freezeIds };
  });
  const taken = await sql.query<{ place: number }>(
    'take reviews',
    `UPDATE deployments AS mine SET attempted = coalesce(mine.attempted, told.answer),
       freeze_ids = coalesce(told.freeze_ids, mine.freeze_ids)
     FROM jsonb_to_recordset($2::jsonb) AS told (place int, run_id int8, attempt int, environment_key text, answer text,
       freeze_ids uuid[])
     WHERE mine.repository_id = $1::int8 AND mine.run_id = told.run_id AND mine.attempt = told.attempt
       AND mine.environment_key = told.environment_key AND mine.state = 'waiting' AND ${isOurTurn('$3')}
     RETURNING told.place`,
    [repositoryId, JSON.stringify(rows), turn],
  );
  return taken.map(({ place }) => all[place]!);
}

/** What came of a request to GitHub: an end, a report, or neither. @property isFree nobody is told that a freeze held it. */
export type Settlement = { state?: Exclude<DeploymentState, 'waiting'>; report?: string; isFree?: boolean };

/**
 * Saves what came of a deployment that waits.
 * @param turn of the lane that told GitHub; null: nobody did, so nothing is saved if a request was begun since the
 *   deployment was read.
 * @returns false if nothing is saved: it has ended, or the lane is another process's.
 */
export async function settleDeployment(
  tx: SqlTx,
  repositoryId: bigint,
  { runId, attempt, environment, attempted }: Deployment,
  { state, report }: Settlement,
  turn: bigint | null,
  now: Date,
): Promise<boolean> {
  const [name, isOurs] =
    turn === null
      ? ['settle a deployment', 'attempted IS NOT DISTINCT FROM $8::text']
      : ['settle a review', isOurTurn('$8')];
  const rows = await tx.query(
    name,
    `UPDATE deployments SET attempted = NULL, state = coalesce($5::text, state),
       decided_at = CASE WHEN $5::text IS NOT NULL THEN $7::timestamptz END,
       report = coalesce($6::text, report), reports = reports + CASE WHEN $6::text IS NULL THEN 0 ELSE 1 END
     WHERE repository_id = $1::int8 AND run_id = $2::int8 AND attempt = $3::int AND environment_key = $4
       AND state = 'waiting' AND ${isOurs} RETURNING 1 AS one`,
    [
      repositoryId,
      runId,
      attempt,
      environmentKey(environment),
      state,
      report ?? null,
      now,
      turn ?? attempted,
    ],
  );
  return rows.length > 0;
}

/** From now on, the sweep asks GitHub each minute which deployments of the repository wait. */
export async function watch(tx: Tx, repositoryId: bigint, now: Date): Promise<void> {
  const where = { id: repositoryId, deploymentsCheckedAt: null };
  await tx.repository.updateMany({ where, data: { deploymentsCheckedAt: now } });
}
