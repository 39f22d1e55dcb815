import type { Tx } from '../database/database.ts';
import { besideOf, type NewestPage, newestPageOf, rowsBeside, timeBeside } from '../database/newest-first.ts';
import { type Sql, type SqlTx, throughPrisma } from '../database/sql.ts';
import type { Deployment as Row, Prisma } from '../generated/prisma/client.ts';
import type { Run } from './ask-github.ts';
import { type Review, type Deployment, type DeploymentState, environmentKey } from './deployment.ts';

// Saves and finds deployments.

/** Milliseconds after which one that was decided no longer matters to others. A job waits for 30 days at most. */
const decidedFor = 31 * 86_400_000;
/** Milliseconds that one process has to ask GitHub about a deployment. A request takes 10 s at most. */
const claimFor = 60_000;

const fromRow = (row: Row): Deployment => ({
  ...row,
  state: row.state as DeploymentState,
  attempted: row.attempted as Review | null,
});

/** The key of its row. */
type Key = Pick<Deployment, 'runId' | 'attempt' | 'environment'>;
const deploymentKeyOf = (repositoryId: bigint, { runId, attempt, environment }: Key) => ({
  repositoryId,
  runId,
  attempt,
  environmentKey: environmentKey(environment),
});

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

/** @property its whether the run waits, and no process decides on it now. @property others whether any of the repository do. */
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
  now: Date,
): Promise<Wakes> {
  const of = 'SELECT FROM deployments WHERE repository_id = $1::int8';
  const [row] = await sql.query<Wakes>(
    'deployments-that-wait',
    `SELECT
       EXISTS (${of} AND run_id = $2::int8 AND state = 'waiting'
         AND (claimed_until IS NULL OR claimed_until <= $4::timestamptz)) AS its,
       EXISTS (${of} AND state = 'waiting') AS others,
       NOT EXISTS (${of} AND run_id = $2::int8 AND environment_key = $3)
         AND EXISTS (${of} AND environment_key = $3) AS "isPastUs"`,
    [repositoryId, runId, environment && environmentKey(environment), now],
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
  const key = deploymentKeyOf(repositoryId, { runId: run.id, attempt: run.attempt, environment });
  const asked = { state: 'waiting', requestedAt, checkedAt: askedAt, freezeIds };
  const { workflow, workflowPath, number: runNumber, ref, sha, startedBy } = run;
  const row = { ...key, ...asked, environment, workflow, workflowPath, runNumber, ref, sha, startedBy };
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

/**
 * Claims a deployment that waits, so that no other process works on it, and saves what a request to GitHub is about.
 * @param attempted null: no request. @param freezeIds those that hold it; null: no change.
 * @returns it as it is now, and what an earlier request was about whose answer did not come (`attempted`); null if
 *   another process has it, or it no longer waits.
 */
export async function claimDeployments(
  tx: Tx,
  repositoryId: bigint,
  deployment: Deployment,
  attempted: Review | null,
  freezeIds: string[] | null,
  now: Date,
): Promise<Deployment | null> {
  const { runId, attempt, environment } = deployment;
  const [row] = await throughPrisma(tx).query<{ before: Review | null }>(
    'claim-deployment',
    `UPDATE deployments AS mine
     SET claimed_until = $5::timestamptz, attempted = coalesce($6, mine.attempted), freeze_ids = coalesce($7::uuid[], mine.freeze_ids)
     FROM (
       SELECT repository_id, run_id, attempt, environment_key, attempted AS before FROM deployments
       WHERE repository_id = $1 AND run_id = $2 AND attempt = $3 AND environment_key = $4 AND state = 'waiting'
         AND (claimed_until IS NULL OR claimed_until <= $8::timestamptz)
       FOR UPDATE
     ) AS free
     WHERE mine.repository_id = free.repository_id AND mine.run_id = free.run_id AND mine.attempt = free.attempt
       AND mine.environment_key = free.environment_key
     RETURNING free.before`,
    [
      ...[repositoryId, runId, attempt, environmentKey(environment)],
      ...[new Date(now.getTime() + claimFor), attempted, freezeIds, now],
    ],
  );
  if (!row) return null;
  const key = deploymentKeyOf(repositoryId, deployment);
  const current = await tx.deployment.findUniqueOrThrow({
    where: { repositoryId_runId_attempt_environmentKey: key },
  });
  return { ...fromRow(current), attempted: row.before };
}

/** Ends a claim. @param change what the request came to. */
export async function release(
  tx: Tx,
  repositoryId: bigint,
  deployment: Deployment,
  change: Prisma.DeploymentUpdateManyMutationInput,
): Promise<void> {
  await tx.deployment.updateMany({
    where: deploymentKeyOf(repositoryId, deployment),
    data: { ...change, claimedUntil: null },
  });
}

/** Ends the claims of a process that is gone, like `clearLeases`. */
export async function clearClaims(tx: Tx): Promise<void> {
  await tx.deployment.updateMany({ where: { state: 'waiting' }, data: { claimedUntil: null } });
}

/** Ends a deployment that waits. @returns whether it did: another process may have been faster. */
export async function decided(
  tx: Tx,
  repositoryId: bigint,
  deployment: Deployment,
  state: Exclude<DeploymentState, 'waiting'>,
  now: Date,
): Promise<boolean> {
  const { count } = await tx.deployment.updateMany({
    where: { ...deploymentKeyOf(repositoryId, deployment), state: 'waiting' },
    data: { state, decidedAt: now, attempted: null, claimedUntil: null },
  });
  return count > 0;
}

/** From now on, the sweep asks GitHub each minute which deployments of the repository wait. */
export async function watch(tx: Tx, repositoryId: bigint, now: Date): Promise<void> {
  const where = { id: repositoryId, deploymentsCheckedAt: null };
  await tx.repository.updateMany({ where, data: { deploymentsCheckedAt: now } });
}
