import type { GitHubClient } from '../github/github-app.ts';
import { isGitHubStatus } from '../github/github-error.ts';
import { cutText } from '../cut-text.ts';
import { environmentKey } from './deployment.ts';
import { nowOf } from '../time/clock.ts';
import type { SqlTx } from '../database/sql.ts';
import {
  afterAccepted,
  afterRefusal,
  isPressed,
  type Pace,
  paceAt,
  writePlacesIn,
} from '../statuses/plan-write.ts';
import { isAnyDue } from '../statuses/take-writes.ts';
import type { StatusDeps } from '../statuses/status-deps.ts';

// Everything that we ask GitHub about deployments. Reading takes `actions: read`, deciding `deployments: write`.

/** A repository, and the client of its installation. */
export type RepositoryClient = { client: GitHubClient; owner: string; repo: string };

/** A run of a workflow. */
export type Run = {
  id: bigint;
  attempt: number;
  number: number;
  workflow: string;
  workflowPath: string;
  ref: string;
  sha: string;
  /** The login of who started this attempt; null if GitHub does not say. */
  startedBy: string | null;
  /** The first line of the commit's message; null if GitHub does not say. */
  commitTitle: string | null;
  /** Of this attempt. */
  startedAt: Date;
  isOver: boolean;
};

const longestTitle = 200;

/** The first line; null for none. */
const titleIn = (message: string): string | null =>
  cutText(message.split('\n')[0]!.trim(), longestTitle) || null;

type RunJson = Awaited<ReturnType<GitHubClient['rest']['actions']['getWorkflowRun']>>['data'];

const runOf = (run: RunJson): Run => ({
  id: BigInt(run.id),
  attempt: run.run_attempt ?? 1,
  number: run.run_number,
  workflow: run.name ?? run.path,
  workflowPath: run.path,
  ref: run.head_branch ?? '',
  sha: run.head_sha,
  startedBy: run.triggering_actor?.login ?? null,
  commitTitle: titleIn(run.head_commit?.message ?? ''),
  startedAt: new Date(run.run_started_at ?? run.created_at),
  isOver: run.status === 'completed',
});

/** A run; null if it is gone. */
export async function readRun({ client, owner, repo }: RepositoryClient, id: bigint): Promise<Run | null> {
  try {
    const { data } = await client.rest.actions.getWorkflowRun({ owner, repo, run_id: Number(id) });
    return runOf(data);
  } catch (error) {
    if (isGitHubStatus(error, 404, 410)) return null;
    throw error;
  }
}

const mostPagesOfRuns = 10;

/** The runs that wait for something, newest first; at most 1,000. */
export async function waitingRuns({ client, owner, repo }: RepositoryClient): Promise<Run[]> {
  const runs: Run[] = [];
  for (let page = 1; page <= mostPagesOfRuns; page++) {
    const about = { owner, repo, status: 'waiting' as const, per_page: 100, page };
    const { data } = await client.rest.actions.listWorkflowRunsForRepo(about);
    runs.push(...data.workflow_runs.map(runOf));
    if (data.workflow_runs.length < 100) break;
  }
  return runs;
}

/** The names of the environments that wait in a run, for any rule of theirs. */
export async function pendingEnvironments(
  { client, owner, repo }: RepositoryClient,
  runId: bigint,
): Promise<string[]> {
  const about = { owner, repo, run_id: Number(runId) };
  const { data } = await client.rest.actions.getPendingDeploymentsForRun(about);
  return data.flatMap(({ environment }) => environment.name ?? []);
}

/** Whether the protection rule of our App is enabled on an environment; false also if there is no such environment. */
export async function isRuleEnabled(
  client: GitHubClient,
  named: { owner: string; repo: string; request?: object },
  appId: number,
  environment: string,
): Promise<boolean> {
  try {
    const about = { ...named, environment_name: environment };
    const { data } = await client.rest.repos.getAllDeploymentProtectionRules(about);
    const rules = data.custom_deployment_protection_rules ?? [];
    return rules.some(({ app, enabled }) => enabled && app.id === appId);
  } catch (error) {
    if (isGitHubStatus(error, 404)) return false;
    throw error;
  }
}

/** Whether GitHub shows this comment of ours on an environment of a run. */
export async function hasComment(
  { client, owner, repo }: RepositoryClient,
  runId: bigint,
  environment: string,
  comment: string,
): Promise<boolean> {
  const { data } = await client.rest.actions.getReviewsForRun({ owner, repo, run_id: Number(runId) });
  return data.some(
    (review) =>
      review.comment === comment &&
      review.environments.some(({ name = '' }) => environmentKey(name) === environmentKey(environment)),
  );
}

/**
 * What GitHub made of an answer: it took it; nothing waits there, so there is nothing to repeat; our rule has been reviewed before; or
 * another review was under way at that moment.
 */
export type TakenReview = 'taken' | 'not waiting' | 'reviewed' | 'race';

/** GitHub's texts. Others are errors. */
const refusals: [RegExp, TakenReview][] = [
  [/No pending deployment requests/i, 'not waiting'],
  [/has already been reviewed/i, 'reviewed'],
  [/problem approving one of the gates/i, 'race'],
];

/**
 * Decides on an environment of a run, or reports with a comment alone.
 * @throws GitHub's error if it says anything else. Without an answer, it may have arrived.
 */
export async function review(
  { client, owner, repo }: RepositoryClient,
  runId: bigint,
  environment: string,
  { state, comment }: { state?: 'approved' | 'rejected'; comment: string },
): Promise<TakenReview> {
  const about = { owner, repo, run_id: Number(runId), environment_name: environment };
  try {
    if (state) await client.rest.actions.reviewCustomGatesForRun({ ...about, state, comment });
    else await client.rest.actions.reviewCustomGatesForRun({ ...about, comment });
    return 'taken';
  } catch (error) {
    if (!isGitHubStatus(error, 422)) throw error;
    const known = refusals.find(([text]) => text.test(error.message));
    if (!known) throw error;
    return known[1];
  }
}

// How fast we review the deployments of an installation. GitHub limits all writes together, so statuses that wait go on
// at their own pace, and reviews get the rest.

/** GitHub takes 900 points a minute from an installation, and a write costs 5. */
const range = { least: 20, most: 180 };

/** Milliseconds in which refusals are one: several reviews were under way. */
const oneRefusal = 60_000;

type Stored = { pace: Pace; statuses: number; isPaused: boolean };

/** Locks the row: reviews of several processes are counted one after another. */
const readText = `
  SELECT review_pace AS pace, CASE WHEN lease_until > $2::timestamptz OR ${isAnyDue('$2')}
    THEN coalesce(pace_per_minute, 0) ELSE 0 END AS statuses,
    coalesce(paused_until > $2::timestamptz, false) AS is_paused
  FROM installations WHERE id = $1::int8 FOR NO KEY UPDATE`;

async function readSavedRun(tx: SqlTx, installationId: bigint, now: Date): Promise<Stored> {
  type Row = { pace: { [Field in keyof Pace]: unknown } | null; statuses: number; is_paused: boolean };
  const [row] = await tx.query<Row>('read-review-pace', readText, [installationId, now]);
  const unused: Pace = { perMinute: range.most, tokens: Infinity, countedAt: now, refused: null };
  const { pace, statuses, is_paused: isPaused } = row!;
  return { pace: pace ? fromJson(pace as never) : unused, statuses, isPaused };
}

const fromJson = ({ countedAt, refused, ...pace }: Pace): Pace => ({
  ...pace,
  countedAt: new Date(countedAt),
  refused: refused && { ...refused, at: new Date(refused.at) },
});

const saveRun = (tx: SqlTx, installationId: bigint, pace: Pace) =>
  tx.query('keep-review-pace', 'UPDATE installations SET review_pace = $2::jsonb WHERE id = $1::int8', [
    installationId,
    JSON.stringify(pace),
  ]);

type Needed = Pick<StatusDeps, 'sql' | 'clock'>;

/** Takes a place in the pace for a review. @returns false if there is none now. */
export function takeReview({ sql, clock }: Needed, installationId: bigint): Promise<boolean> {
  const now = nowOf(clock);
  return sql.transaction(async (tx) => {
    const { pace: stored, statuses, isPaused } = await readSavedRun(tx, installationId, now);
    const left = { ...range, most: Math.max(range.least, range.most - statuses) };
    const pace = paceAt(stored, left, now);
    if (isPaused || writePlacesIn(pace) === 0) return false;
    // GitHub accepted the reviews before this one, or the pace would be lower.
    const { perMinute } = isPressed(pace) ? afterAccepted(stored, 1, range, now) : stored;
    await saveRun(tx, installationId, { ...pace, perMinute, tokens: pace.tokens - 1 });
    return true;
  });
}

/** GitHub refused a review, because too many came. */
export async function slowReviews({ sql, clock }: Needed, installationId: bigint): Promise<void> {
  const now = nowOf(clock);
  await sql.transaction(async (tx) => {
    const { pace } = await readSavedRun(tx, installationId, now);
    if (pace.refused && now.getTime() - pace.refused.at.getTime() < oneRefusal) return;
    await saveRun(tx, installationId, afterRefusal(paceAt(pace, range, now), range, now));
  });
}
