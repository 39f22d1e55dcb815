import { z } from '@hono/zod-openapi';
import { nowOf } from '../../clock.ts';
import { listFreezes } from '../../freezes/list-freezes.ts';
import { endpoint } from '../endpoint.ts';
import { repositoryPath } from '../path-params.ts';
import { exampleFreeze, freezeSchema, presentFreeze } from './freeze-schemas.ts';

export const listFreezesEndpoint = endpoint({
  method: 'get',
  path: '/repos/{owner}/{repository}/scheduled_freeze',
  tag: 'Scheduled freezes',
  summary: 'List the ongoing and scheduled freezes of a repository',
  access: { to: 'repository', scope: 'admin' },
  params: repositoryPath,
  success: {
    status: 200,
    description: 'The freezes, earliest start first',
    schema: z.object({ scheduled_freezes: z.array(freezeSchema) }).openapi('ScheduledFreezes'),
    example: { scheduled_freezes: [exampleFreeze] },
  },
  async handle({ deps, repository }) {
    const freezes = await listFreezes({ query: deps.sql.read }, repository, nowOf(deps.clock));
    return { scheduled_freezes: freezes.map(presentFreeze) };
  },
});
