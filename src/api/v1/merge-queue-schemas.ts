import { z } from '@hono/zod-openapi';

// The shapes of Mergify's public description. A field that GitHub's queue has nothing for is null.

const queued = z
  .object({
    number: z.number().int(),
    title: z.string(),
    url: z.string(),
    author: z.object({ id: z.number().int(), login: z.string() }),
    queued_at: z.iso.datetime(),
    priority_alias: z.string(),
    priority_rule_name: z.string(),
    labels: z.array(z.string()),
    scopes: z.array(z.string()),
    estimated_merge_at: z.iso.datetime().nullable(),
  })
  .openapi('QueuedPullRequest');

const batch = z
  .object({
    id: z.uuid().openapi({ description: 'Always the same for the same merge group' }),
    name: z.string(),
    status: z.object({
      code: z.enum(['running', 'waiting_for_merge', 'failed', 'frozen']).openapi({
        description: '`frozen`: a freeze holds it',
      }),
    }),
    started_at: z.iso.datetime(),
    estimated_merge_at: z.iso.datetime().nullable(),
    estimated_ci_finish_at: z.iso
      .datetime()
      .nullable()
      .openapi({ description: 'GitHub does not say, so null' }),
    ci_finished_at: z.iso.datetime().nullable().openapi({ description: 'null while a check runs' }),
    queue_rule_name: z.string().openapi({ description: 'The branch of the queue' }),
    checks_summary: z.object({ passed: z.number().int(), total: z.number().int() }),
    pull_requests: z.array(queued),
    parent_ids: z.array(z.uuid()).openapi({ description: 'The group that it is built on' }),
    scopes: z.array(z.string()),
  })
  .openapi('MergeQueueBatch');

export const mergeQueueStatusSchema = z
  .object({
    mode: z.enum(['serial', 'parallel', 'isolated']).openapi({
      description: 'Always `serial`: GitHub builds each group on the one before it',
    }),
    pause: z.object({ paused: z.literal(true), reason: z.string(), paused_at: z.iso.datetime() }).nullable(),
    batches: z.array(batch),
    waiting_pull_requests: z.array(queued).openapi({ description: 'Those without a group yet' }),
    scope_queues: z.record(z.string(), z.unknown()),
  })
  .openapi('MergeQueueStatus');

const exampleQueued = {
  number: 42,
  title: 'Faster checkout',
  url: 'https://github.com/acme/web/pull/42',
  author: { id: 1, login: 'mona' },
  queued_at: '2026-03-31T16:00:00.000Z',
  priority_alias: 'medium',
  priority_rule_name: 'default',
  labels: ['risky'],
  scopes: ['api'],
  estimated_merge_at: null,
};
const exampleGroup = '6dcb09b5-b578-8f33-8f61-aebed695e2e4';

export const mergeQueueStatusExample = {
  mode: 'serial',
  pause: null,
  batches: [
    {
      id: exampleGroup,
      name: '#42',
      status: { code: 'running' },
      started_at: '2026-03-31T16:01:00.000Z',
      estimated_merge_at: null,
      estimated_ci_finish_at: null,
      ci_finished_at: null,
      queue_rule_name: 'main',
      checks_summary: { passed: 1, total: 2 },
      pull_requests: [exampleQueued],
      parent_ids: [],
      scopes: ['api'],
    },
  ],
  waiting_pull_requests: [],
  scope_queues: {},
} as const;

const check = z.object({
  name: z.string(),
  description: z.string(),
  url: z.string().nullable(),
  state: z.string(),
  avatar_url: z.string().nullable(),
});

export const mergeQueueEntrySchema = z
  .object({
    number: z.number().int(),
    queued_at: z.iso.datetime(),
    estimated_time_of_merge: z.iso.datetime().nullable(),
    position: z.number().int().openapi({ description: '0 is the front' }),
    priority_rule_name: z.string(),
    queue_rule_name: z.string().openapi({ description: 'The branch of the queue' }),
    checks_timeout_at: z.iso.datetime().nullable(),
    queue_rule: z.object({ name: z.string(), config: z.record(z.string(), z.unknown()) }),
    mergeability_check: z
      .object({
        check_type: z.string(),
        queue_pull_request_number: z.number().int(),
        started_at: z.iso.datetime().nullable(),
        ci_ended_at: z.iso.datetime().nullable(),
        ci_state: z.enum(['pending', 'success', 'failed']),
        state: z.enum(['running', 'waiting_for_merge', 'failed', 'frozen']),
        checks: z.array(check),
        conditions_evaluation: z.null(),
      })
      .nullable()
      .openapi({ description: 'Its merge group. null before GitHub has built it' }),
  })
  .openapi('MergeQueueEntry');

export const mergeQueueEntryExample = {
  number: 42,
  queued_at: '2026-03-31T16:00:00.000Z',
  estimated_time_of_merge: null,
  position: 0,
  priority_rule_name: 'default',
  queue_rule_name: 'main',
  checks_timeout_at: null,
  queue_rule: { name: 'main', config: {} },
  mergeability_check: {
    check_type: 'draft_pr',
    queue_pull_request_number: 42,
    started_at: '2026-03-31T16:01:00.000Z',
    ci_ended_at: null,
    ci_state: 'pending',
    state: 'running',
    checks: [
      {
        name: 'ci',
        description: '',
        url: null,
        state: 'pending',
        avatar_url: 'https://avatars.githubusercontent.com/in/15368',
      },
    ],
    conditions_evaluation: null,
  },
} as const;
