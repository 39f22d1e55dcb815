import { notFound } from '../http/github-error.ts';
import { page } from '../http/paging.ts';
import { stackJson, stackSummary } from '../json/stack-json.ts';
import { bodyOf, type Api, type ApiContext, type Parts } from '../http/api.ts';
import type { Repository, Stack } from '../state/model.ts';
import { demand, onRepository, reading, refuseArchived, writing } from './on-repository.ts';

/** Lists and changes stacks. */
export function stackRoutes(api: Api, { world, stacks }: Parts): void {
  onRepository(api, world, 'get', '/stacks', (c, repository) => {
    demand(c, repository, reading);
    const number = Number(c.req.query('pull_request'));
    const all = repository.stacks.filter(
      (stack) => !number || stack.pullRequests.some((pr) => pr.number === number),
    );
    return c.json(page(c, all.toReversed()).map((each) => stackSummary(world, each, repository)));
  });

  onRepository(api, world, 'get', '/stacks/:number', (c, repository) => {
    demand(c, repository, reading);
    return c.json(stackJson(world, stackIn(c, repository), repository));
  });

  onRepository(api, world, 'post', '/stacks', async (c, repository) => {
    demand(c, repository, writing);
    refuseArchived(repository);
    const stack = stacks.create(repository, await membersIn(c, repository));
    return c.json(stackJson(world, stack, repository), 201);
  });

  onRepository(api, world, 'post', '/stacks/:number/add', async (c, repository) => {
    demand(c, repository, writing);
    refuseArchived(repository);
    const stack = stackIn(c, repository);
    stacks.add(stack, await membersIn(c, repository));
    return c.json(stackJson(world, stack, repository));
  });

  onRepository(api, world, 'post', '/stacks/:number/unstack', (c, repository) => {
    demand(c, repository, writing);
    const stack = stackIn(c, repository);
    stacks.unstack(repository, stack);
    return repository.stacks.includes(stack)
      ? c.json(stackJson(world, stack, repository))
      : c.body(null, 204);
  });
}

function stackIn(c: ApiContext, repository: Repository): Stack {
  const stack = repository.stacks.find(({ number }) => String(number) === c.req.param('number'));
  if (!stack) throw notFound();
  return stack;
}

async function membersIn(c: ApiContext, repository: Repository) {
  const { pull_requests: numbers } = await bodyOf(c);
  return (Array.isArray(numbers) ? numbers : []).map((number) => {
    const pr = repository.pullRequests.get(Number(number));
    if (!pr) throw notFound();
    return pr;
  });
}
