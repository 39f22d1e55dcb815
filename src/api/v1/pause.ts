import { z } from '@hono/zod-openapi';
import { findPause } from '../../freezes/freeze-store.ts';
import type { Freeze } from '../../freezes/freeze.ts';
import { pauseMergeQueue, unpauseMergeQueue } from '../../freezes/save-freeze.ts';
import { nowOf } from '../../time/clock.ts';
import { HandlerAnswer, warningHeader } from '../answers.ts';
import { endpoint } from '../endpoint.ts';
import { repositoryParams, textSchema } from '../fields.ts';

const pauseSchema = z
  .object({
    paused: z.boolean(),
    reason: z.string().nullable(),
    paused_at: z.iso.datetime().nullable(),
  })
  .openapi('MergeQueuePause');

const examplePause = { paused: true, reason: 'Broken main', paused_at: '2026-03-31T16:00:00.000Z' };

const pauseBody = z
  .object({ reason: textSchema(255, 'A reason').min(1, 'A reason has at least 1 character.') })
  .openapi('NewMergeQueuePause');

const shared = {
  path: '/repos/{owner}/{repository}/merge-queue/pause',
  tag: 'Merge queue',
  access: { to: 'repository', scope: 'admin', role: 'freezer' },
  params: repositoryParams,
} as const;

const presentPause = (pause: Freeze | null) => ({
  paused: pause !== null,
  reason: pause?.reason ?? null,
  paused_at: pause?.startsAt.toISOString() ?? null,
});

export const getPause = endpoint({
  ...shared,
  method: 'get',
  summary: 'See whether the merge queue is paused',
  success: {
    status: 200,
    description: 'Whether it is paused, why, and since when',
    schema: pauseSchema,
    example: examplePause,
  },
  async handle({ deps, repository }) {
    return presentPause(await findPause(deps.db, repository.id, nowOf(deps.clock)));
  },
});

export const putPause = endpoint({
  ...shared,
  access: { ...shared.access, isUrgent: true },
  method: 'put',
  summary: 'Pause the merge queue, or change the reason of its pause',
  description:
    'A pause is a freeze of everything that starts now and has no end. It appears in the list of freezes. Deleting that freeze ends the pause.',
  body: { schema: pauseBody, example: { reason: 'Broken main' } },
  success: {
    status: 200,
    description: 'The pause',
    schema: pauseSchema,
    example: examplePause,
    headers: { Warning: 'Why the pause may not hold anything' },
  },
  async handle({ deps, actor, repository, body }) {
    const { freeze, warnings } = await pauseMergeQueue(deps, actor, repository, body.reason);
    return new HandlerAnswer(presentPause(freeze), warningHeader(warnings));
  },
});

export const deletePause = endpoint({
  ...shared,
  access: { ...shared.access, releases: true },
  method: 'delete',
  summary: 'End the pause of the merge queue',
  success: { status: 204, description: 'The merge queue is not paused' },
  async handle({ deps, actor, repository }) {
    await unpauseMergeQueue(deps, actor, repository);
  },
});
