import { createFreeze } from '../../freezes/create-freeze.ts';
import { endpoint } from '../endpoint.ts';
import { repositoryPath } from '../path-params.ts';
import {
  exampleFreeze,
  newFreeze,
  readNewFreeze,
  savedFreezeAnswer,
  savedFreezeSuccess,
} from './freeze-schemas.ts';

const { id: _id, ...example } = exampleFreeze;

export const createFreezeEndpoint = endpoint({
  method: 'post',
  path: '/repos/{owner}/{repository}/scheduled_freeze',
  tag: 'Scheduled freezes',
  summary: 'Schedule a freeze',
  access: { to: 'repository', scope: 'admin', job: 'freeze', isUrgent: true },
  params: repositoryPath,
  body: { schema: newFreeze, example },
  success: { status: 201, ...savedFreezeSuccess },
  async handle({ deps, actor, repository, body, remember }) {
    const saved = await createFreeze(deps, actor, repository, readNewFreeze(body), (tx, saving) =>
      remember(tx, { ...savedFreezeAnswer(201, saving, body) }),
    );
    return savedFreezeAnswer(201, saved, body);
  },
});
