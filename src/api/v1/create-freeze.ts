import type { Config } from '../../config.ts';
import { type CreatedFreeze, createFreeze } from '../../freezes/create-freeze.ts';
import { type FoundRepository, fullName } from '../../repositories/find-repository.ts';
import { endpoint, HandlerAnswer } from '../endpoint.ts';
import { repositoryPath } from '../path-params.ts';
import { warningHeader } from '../warning-header.ts';
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
  success: {
    status: 201,
    description: 'The freeze',
    schema: freezeSchema,
    example: exampleFreeze,
    headers: {
      Warning:
        'Names the branches that do not require the status check, so that nothing enforces the freeze there',
    },
  },
  async handle({ deps, actor, repository, body, remember }) {
    const answerOf = ({ freeze, unenforced }: CreatedFreeze) =>
      new HandlerAnswer(201, presentFreeze(freeze), warningOf(deps.config, repository, unenforced));
    const created = await createFreeze(deps, actor, repository, readNewFreeze(body), (tx, saved) =>
      remember(tx, { ...answerOf(saved) }),
    );
    return answerOf(created);
  },
});

/** Branches that are named; the enforcement route has them all. */
const mostNamed = 3;

function warningOf(config: Config, repository: FoundRepository, branches: string[]): Record<string, string> {
  if (branches.length === 0) return {};
  const more = branches.length - mostNamed;
  const names = [...branches.slice(0, mostNamed), ...(more > 0 ? [`${more} more`] : [])].join(', ');
  const url = `${config.publicUrl}/v1/repos/${fullName(repository)}/enforcement`;
  return warningHeader(
    `Nothing enforces this freeze on ${names}: ${config.statusContext} is not required there, or not from Holdfast. See ${url}`,
  );
}
