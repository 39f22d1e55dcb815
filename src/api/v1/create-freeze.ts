import { createFreeze } from '../../freezes/create-freeze.ts';
import { endpoint } from '../endpoint.ts';
import { repositoryPath } from '../path-params.ts';
import { exampleFreeze, freezeSchema, newFreeze, presentFreeze, readNewFreeze } from './freeze-schemas.ts';

const { id: _id, ...example } = exampleFreeze;

export const createFreezeEndpoint = endpoint({
  method: 'post',
  path: '/repos/{owner}/{repository}/scheduled_freeze',
  tag: 'Scheduled freezes',
  summary: 'Schedule a freeze',
  access: { to: 'repository', scope: 'admin' },
  params: repositoryPath,
  body: { schema: newFreeze, example },
  success: { status: 201, description: 'The freeze', schema: freezeSchema, example: exampleFreeze },
  async handle({ deps, actor, repository, body, remember }) {
    const freeze = await createFreeze(deps, actor, repository, readNewFreeze(body), (tx, saved) =>
      remember(tx, { status: 201, body: presentFreeze(saved) }),
    );
    return presentFreeze(freeze);
  },
});
