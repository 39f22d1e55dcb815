import { expect, test } from 'vitest';
import {
  byWeight,
  type RepositoryState,
  repositoryStates,
} from '../../src/explanations/repository-states.ts';
import { Prisma } from '../../src/generated/prisma/client.ts';
import { acmeForAll } from '../support/acme.ts';

// What an owner's page and the home page say of a repository, from our tables.

const acme = acmeForAll();
const hours = (count: number) => new Date(acme.clock.now() + count * 3_600_000);
const stateOf = async (name: string) => {
  const { deps } = acme.app;
  const { id } = await deps.db.account.findFirstOrThrow({ where: { loginKey: 'acme' } });
  return (await repositoryStates(deps, [id])).get(id)!.find((each) => each.name === name);
};
const local = (instant: Date) => instant.toISOString().slice(0, 19);

test('ongoing freezes end with the last of them, whatever begins later', async () => {
  const web = await acme.repository('web', [{}]);
  await acme.freeze(web, { end: local(hours(2)) });
  await acme.freeze(web, { end: local(hours(3)) });
  await acme.freeze(web, { start: local(hours(5)), end: local(hours(9)) });
  expect(await stateOf('web')).toMatchObject({ ongoing: 2, until: hours(3), next: hours(5), held: 1 });
  await acme.freeze(web, { start: local(hours(4)) });
  expect(await stateOf('web')).toMatchObject({ ongoing: 2, until: hours(3), next: hours(4) });
  await acme.freeze(web, { end: null });
  expect(await stateOf('web')).toMatchObject({ ongoing: 3, until: null });
});

test('pull requests that nothing holds, and freezes of deployments, count for nothing', async () => {
  const api = await acme.repository('api', [{ labels: ['risky'] }, {}]);
  await acme.freeze(api, { matching_conditions: ['label=risky'] });
  expect(await stateOf('api')).toMatchObject({ ongoing: 1, held: 1, waiting: 0, leaking: 0 });
  const docs = await acme.repository('docs', [{}]);
  await acme.freeze(docs, { holds: ['deployments'] });
  expect(await stateOf('docs')).toMatchObject({ ongoing: 0, next: null, held: 0 });
});

test('no count is read for each repository again, also without statistics of the tables', async () => {
  const { db, clock } = acme.app.deps;
  type Plan = { 'Node Type': string; Plans?: Plan[] };
  const nodes = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodes)];
  let found: Plan[] = [];
  const explain = async (texts: TemplateStringsArray, ...values: unknown[]) => {
    const statement = Prisma.sql`EXPLAIN (FORMAT JSON) ${Prisma.sql(texts, ...values)}`;
    const [row] = await db.$queryRaw<{ 'QUERY PLAN': [{ Plan: Plan }] }[]>(statement);
    found = nodes(row!['QUERY PLAN'][0].Plan);
    return [];
  };
  await repositoryStates({ db: { $queryRaw: explain } as unknown as typeof db, clock }, [1n]);
  const loops = found.filter((node) => node['Node Type'] === 'Nested Loop');
  expect(found.length).toBeGreaterThan(10);
  expect(loops.filter(({ Plans }) => Plans![1]!['Node Type'] === 'Aggregate')).toEqual([]);
});

test('what leaks comes first, then what has most to hold', () => {
  const state = (name: string, more: Partial<RepositoryState>) =>
    ({
      name,
      ongoing: 1,
      isFreezable: true,
      leaking: 0,
      held: 0,
      waiting: 0,
      unsaid: 0,
      ...more,
    }) as RepositoryState;
  const states = [
    state('free', { ongoing: 0 }),
    state('quiet', {}),
    state('busy', { held: 2, waiting: 3 }),
    state('held', { held: 4 }),
    state('leaks', { leaking: 1 }),
    state('leaks more', { leaking: 2 }),
  ];
  expect(states.toSorted(byWeight).map(({ name }) => name)).toEqual([
    'leaks more',
    'leaks',
    'busy',
    'held',
    'quiet',
    'free',
  ]);
});
