import { z } from '@hono/zod-openapi';
import { nowOf } from '../../time/clock.ts';
import { listedFreezes } from '../../freezes/list-freezes.ts';
import { endpoint } from '../endpoint.ts';
import { repositoryParams } from '../fields.ts';
import {
  exampleFreeze,
  freezeSchema,
  presentFreeze,
  newFreeze,
  readNewFreeze,
  presentSaved,
  savedFreezeSuccess,
  freezeChange,
  freezeExists,
  freezeParams,
  readFreezeChange,
  freezeDeletion,
} from './freeze-schemas.ts';
import { requireAnyFreeze, restoreFreeze } from '../../freezes/restore-freeze.ts';
import { createFreeze, updateFreeze, deleteFreeze } from '../../freezes/save-freeze.ts';

const pathOfOne = '/repos/{owner}/{repository}/scheduled_freeze/{freeze_id}';
const tag = 'Scheduled freezes';

const { id: _id, ...exampleNewFreeze } = exampleFreeze;

export const listFreezesEndpoint = endpoint({
  method: 'get',
  path: '/repos/{owner}/{repository}/scheduled_freeze',
  tag,
  summary: 'List the ongoing and scheduled freezes of a repository',
  access: { to: 'repository', scope: 'admin', role: 'freezer' },
  params: repositoryParams,
  success: {
    status: 200,
    description: 'The freezes, earliest start first',
    schema: z.object({ scheduled_freezes: z.array(freezeSchema) }).openapi('ScheduledFreezes'),
    example: { scheduled_freezes: [exampleFreeze] },
  },
  reads: ({ deps }) => listedFreezes(nowOf(deps.clock)),
  async handle({ read }) {
    return { scheduled_freezes: (await read()).map(presentFreeze) };
  },
});

export const createFreezeEndpoint = endpoint({
  method: 'post',
  path: '/repos/{owner}/{repository}/scheduled_freeze',
  tag,
  summary: 'Schedule a freeze',
  access: { to: 'repository', scope: 'admin', role: 'freezer', job: 'freeze', isUrgent: true },
  params: repositoryParams,
  body: { schema: newFreeze, example: exampleNewFreeze },
  success: { status: 201, ...savedFreezeSuccess },
  handle: ({ deps, actor, repository, body, remember }) =>
    createFreeze(deps, actor, repository, readNewFreeze(body), remember),
  present: presentSaved,
});

export const updateFreezeEndpoint = endpoint({
  method: 'patch',
  path: pathOfOne,
  tag,
  summary: 'Change the fields of a freeze that you send',
  access: { to: 'repository', scope: 'admin', role: 'freezer', job: 'freeze', releases: true },
  params: freezeParams,
  exists: freezeExists,
  body: { schema: freezeChange, example: { end: '2100-01-01T12:00:00' } },
  success: { status: 200, ...savedFreezeSuccess },
  alsoRefuses: [400],
  handle: ({ deps, actor, repository, path, body }) =>
    updateFreeze(deps, actor, repository, path.freeze_id, readFreezeChange(body)),
  present: presentSaved,
});

const deletion = {
  tag,
  access: { to: 'repository', scope: 'admin', role: 'freezer', job: 'freeze', releases: true },
  params: freezeParams,
  exists: freezeExists,
  body: { schema: freezeDeletion, example: { delete_reason: 'Released' } },
  success: { status: 204, description: 'Deleted' },
} as const;

export const deleteFreezeEndpoint = endpoint({
  ...deletion,
  method: 'delete',
  path: pathOfOne,
  summary: 'Delete a freeze (use POST …/delete)',
  deprecated: {
    successor: ({ owner, repository, freeze_id }: z.output<typeof freezeParams>) =>
      `/v1/repos/${owner}/${repository}/scheduled_freeze/${freeze_id}/delete`,
  },
  async handle({ deps, actor, repository, path, body }) {
    await deleteFreeze(deps, actor, repository, path.freeze_id, body.delete_reason);
  },
});

export const postDeleteFreezeEndpoint = endpoint({
  ...deletion,
  method: 'post',
  path: `${pathOfOne}/delete`,
  summary: 'Delete a freeze, with a reason',
  async handle({ deps, actor, repository, path, body, remember }) {
    await deleteFreeze(deps, actor, repository, path.freeze_id, body.delete_reason, remember);
  },
});

export const restoreFreezeEndpoint = endpoint({
  method: 'post',
  path: `${pathOfOne}/restore`,
  tag,
  summary: 'Restore a freeze that was deleted or ended early in the last 60 seconds',
  access: { ...deletion.access, isUrgent: true },
  params: freezeParams,
  exists: ({ deps, repository, path }) => requireAnyFreeze(deps, repository, path.freeze_id),
  success: {
    status: 200,
    description: 'The freeze, under its id and as it was. What it held is held again',
    schema: freezeSchema,
    example: exampleFreeze,
  },
  handle: ({ deps, actor, repository, path, remember }) =>
    restoreFreeze(deps, actor, repository, path.freeze_id, remember),
  present: presentFreeze,
});
