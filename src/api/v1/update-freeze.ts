import { planChange, updateFreeze } from '../../freezes/update-freeze.ts';
import { endpoint } from '../endpoint.ts';
import {
  freezeChange,
  freezeExists,
  freezePath,
  readFreezeChange,
  savedFreezeAnswer,
  savedFreezeSuccess,
} from './freeze-schemas.ts';

export const updateFreezeEndpoint = endpoint({
  method: 'patch',
  path: '/repos/{owner}/{repository}/scheduled_freeze/{freeze_id}',
  tag: 'Scheduled freezes',
  summary: 'Change the fields of a freeze that you send',
  access: { to: 'repository', scope: 'admin', job: 'freeze' },
  params: freezePath,
  exists: freezeExists,
  body: { schema: freezeChange, example: { end: '2031-01-01T12:00:00' } },
  success: { status: 200, ...savedFreezeSuccess },
  alsoRefuses: [400],
  async handle({ deps, actor, repository, path, body }) {
    const planned = await planChange(deps, repository, path.freeze_id, readFreezeChange(body));
    // Runs in parallel, so that neither the change nor its statuses wait for it.
    const ahead = deps.lookAhead(deps, repository, planned.after);
    const freeze = await updateFreeze(deps, actor, repository, planned);
    return savedFreezeAnswer(
      200,
      { freeze, warnings: [...planned.warnings, ...(await ahead).warnings] },
      body,
    );
  },
});
