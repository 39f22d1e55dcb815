import type { z } from '@hono/zod-openapi';
import { deleteFreeze } from '../../freezes/delete-freeze.ts';
import { endpoint } from '../endpoint.ts';
import { freezeDeletion, freezeExists, freezePath } from './freeze-schemas.ts';

const shared = {
  tag: 'Scheduled freezes',
  access: { to: 'repository', scope: 'admin', job: 'freeze' },
  params: freezePath,
  exists: freezeExists,
  body: { schema: freezeDeletion, example: { delete_reason: 'Released' } },
  success: { status: 204, description: 'Deleted' },
} as const;

const path = '/repos/{owner}/{repository}/scheduled_freeze/{freeze_id}';

export const deleteFreezeEndpoint = endpoint({
  ...shared,
  method: 'delete',
  path,
  summary: 'Delete a freeze (use POST …/delete)',
  deprecated: {
    successor: ({ owner, repository, freeze_id }: z.output<typeof freezePath>) =>
      `/v1/repos/${owner}/${repository}/scheduled_freeze/${freeze_id}/delete`,
  },
  async handle({ deps, actor, repository, path, body }) {
    await deleteFreeze(deps, actor, repository, path.freeze_id, body.delete_reason);
  },
});

export const postDeleteFreezeEndpoint = endpoint({
  ...shared,
  method: 'post',
  path: `${path}/delete`,
  summary: 'Delete a freeze, with a reason',
  async handle({ deps, actor, repository, path, body, remember }) {
    await deleteFreeze(deps, actor, repository, path.freeze_id, body.delete_reason, (tx) =>
      remember(tx, { status: 204 }),
    );
  },
});
