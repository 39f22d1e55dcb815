import { lookAhead } from '../../explanations/look-ahead.ts';
import { createFreeze, planFreeze } from '../../freezes/create-freeze.ts';
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
    const { freeze, warnings } = planFreeze(deps, repository, readNewFreeze(body));
    const { unenforced, warnings: seen } = await lookAhead(deps, repository, freeze);
    const ahead = { unenforced, warnings: [...warnings, ...seen] };
    const saved = await createFreeze(deps, actor, repository, freeze, ahead, (tx, saving) =>
      remember(tx, { ...savedFreezeAnswer(201, saving, body) }),
    );
    return savedFreezeAnswer(201, saved, body);
  },
});
