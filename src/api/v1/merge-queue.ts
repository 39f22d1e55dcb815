import { z } from '@hono/zod-openapi';
import { nowOf } from '../../time/clock.ts';
import type { Deps } from '../../deps.ts';
import { notFound } from '../../errors.ts';
import { readForExplanation } from '../../explanations/explain-pull-request.ts';
import { findPause } from '../../freezes/freeze-store.ts';
import { greatestNumber } from '../../github/pull-requests/pull-request.ts';
import type { QueuedCheck } from '../../github/pull-requests/queued-check.ts';
import { type Queued, readQueued, readQueuedOne } from '../../github/pull-requests/read-merge-queue.ts';
import { type FoundRepository, fullName } from '../../installations/find-repository.ts';
import { endpoint } from '../endpoint.ts';
import { pullRequestNumber, owner, repository, repositoryParams } from '../fields.ts';
import {
  mergeQueueEntryExample,
  mergeQueueEntrySchema,
  mergeQueueStatusExample,
  mergeQueueStatusSchema,
} from './merge-queue-schemas.ts';
import { branchesWithGroups, heldGroups } from '../../statuses/held-pull-requests.ts';

// What clients of the interface ask about a merge queue, answered from GitHub's own queue, in the shape of Mergify's public
// description. GitHub's queue has one priority, one rule and one line, and each of its groups is a batch.

const shared = {
  tag: 'Merge queue',
  method: 'get',
  access: { to: 'repository', scope: 'admin', role: 'freezer' },
} as const;

export const mergeQueueStatus = endpoint({
  ...shared,
  path: '/repos/{owner}/{repository}/merge-queue/status',
  summary: 'See the pause and the merge queue',
  description: 'Shows at most 100 entries of each branch.',
  params: repositoryParams,
  query: z.object({
    branch: z.string().min(1).max(255).optional().openapi({
      description: 'By default, the default branch and every branch with merge groups',
    }),
  }),
  success: {
    status: 200,
    description: 'The pause, the merge groups of GitHub’s queue, and what waits for a group',
    schema: mergeQueueStatusSchema,
    example: mergeQueueStatusExample,
  },
  async handle({ deps, repository, query }) {
    const pause = await findPause(deps.db, repository.id, nowOf(deps.clock));
    const branches = query.branch
      ? [query.branch]
      : [null, ...(await branchesWithGroups(deps.sql, repository.id))];
    const queues = await readForExplanation(deps, repository, noNeeds, (from) =>
      Promise.all(branches.map((branch) => readQueued(from, branch))),
    );
    const held = await heldGroups(deps.sql, repository.id);
    const now = deps.clock.now();
    // Of the default branch, the queue was read with its name and without.
    const once = [...new Map(queues.map((entries) => [entries[0]?.branch ?? null, entries])).values()];
    return {
      mode: 'serial' as const,
      pause: pause && {
        paused: true as const,
        reason: pause.reason,
        paused_at: pause.startsAt.toISOString(),
      },
      batches: once.flatMap((entries) => batchesOf(entries, held, now)),
      waiting_pull_requests: once.flat().flatMap((one) => (one.group ? [] : [presentQueued(one, now)])),
      scope_queues: {},
    };
  },
});

const noNeeds = { facts: new Set<never>(), teams: new Set<never>() };

function batchesOf(entries: Queued[], held: ReadonlySet<string>, now: number) {
  const built = entries.filter(({ group }) => group !== null);
  return built.map((one, index) => {
    const { headSha, builtAt, checks } = one.group!;
    const parent = built[index - 1]?.group?.headSha;
    return {
      id: batchId(headSha),
      name: `#${one.number}`,
      status: { code: groupStateOf(one.group!, held) },
      started_at: builtAt.toISOString(),
      estimated_merge_at: mergeAt(one, now),
      estimated_ci_finish_at: null,
      ci_finished_at: queueEndOf(checks),
      queue_rule_name: one.branch,
      checks_summary: {
        passed: checks.filter(({ state }) => state === 'success').length,
        total: checks.length,
      },
      pull_requests: [presentQueued(one, now)],
      parent_ids: parent ? [batchId(parent)] : [],
      scopes: one.scopes,
    };
  });
}

/** A UUID (RFC 9562, version 8) of a merge group's head: the same for everybody who asks. */
const batchId = (sha: string): string =>
  sha.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-8$3-8$4-$5');

/** When the last of the checks ended; null while one runs. */
function queueEndOf(checks: QueuedCheck[]): string | null {
  const ends = checks.map(({ endedAt }) => endedAt?.getTime() ?? Infinity);
  const last = Math.max(...ends);
  return Number.isFinite(last) ? new Date(last).toISOString() : null;
}

function groupStateOf({ headSha, state }: NonNullable<Queued['group']>, held: ReadonlySet<string>) {
  if (held.has(headSha)) return 'frozen';
  if (state === 'UNMERGEABLE') return 'failed';
  return state === 'MERGEABLE' ? 'waiting_for_merge' : 'running';
}

const mergeAt = ({ mergesIn }: Queued, now: number): string | null =>
  mergesIn === null ? null : new Date(now + mergesIn * 1000).toISOString();

const presentQueued = (one: Queued, now: number) => ({
  number: one.number,
  title: one.title,
  url: one.url,
  author: one.author ?? { id: 10137, login: 'ghost' },
  queued_at: one.queuedAt.toISOString(),
  priority_alias: one.isJump ? 'high' : 'medium',
  priority_rule_name: 'default',
  labels: one.labels,
  scopes: one.scopes,
  estimated_merge_at: mergeAt(one, now),
});

export const mergeQueueEntry = endpoint({
  ...shared,
  path: '/repos/{owner}/{repository}/merge-queue/pull/{number}',
  summary: 'See a pull request in the merge queue',
  params: z.object({ owner, repository, number: pullRequestNumber }),
  success: {
    status: 200,
    description: 'Its place in GitHub’s queue, and the checks of its merge group. 404 if it is in no queue',
    schema: mergeQueueEntrySchema,
    example: mergeQueueEntryExample,
  },
  async handle({ deps, repository, path }) {
    const one = await findQueued(deps, repository, path.number);
    if (!one) throw notFound(`${fullName(repository)}#${path.number} is not in a merge queue.`);
    const { group, branch, position } = one;
    const held = await heldGroups(deps.sql, repository.id);
    return {
      number: one.number,
      queued_at: one.queuedAt.toISOString(),
      estimated_time_of_merge: mergeAt(one, deps.clock.now()),
      position: position - 1,
      priority_rule_name: 'default',
      queue_rule_name: branch,
      checks_timeout_at: null,
      queue_rule: { name: branch, config: {} },
      mergeability_check: group && {
        check_type: 'draft_pr',
        queue_pull_request_number: one.number,
        started_at: group.builtAt.toISOString(),
        ci_ended_at: queueEndOf(group.checks),
        ci_state: ciStateOf(group.checks),
        state: groupStateOf(group, held),
        checks: group.checks.map(({ name, state, avatarUrl }) => ({
          ...{ name, description: '', url: null, state },
          avatar_url: avatarUrl,
        })),
        conditions_evaluation: null,
      },
    };
  },
});

const findQueued = (deps: Deps, repository: FoundRepository, number: bigint): Promise<Queued | null> =>
  number > greatestNumber
    ? Promise.resolve(null)
    : readForExplanation(deps, repository, noNeeds, (from) => readQueuedOne(from, Number(number)));

function ciStateOf(checks: { state: string }[]): 'pending' | 'success' | 'failed' {
  if (checks.some(({ state }) => ['failure', 'error', 'timed_out', 'cancelled'].includes(state)))
    return 'failed';
  return checks.some(({ state }) => state === 'pending') ? 'pending' : 'success';
}
