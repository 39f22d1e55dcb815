// Somebody who has never seen the code asks the database why a status was not written.
import { expect, test } from 'vitest';
import { acmeForAll } from '../support/acme.ts';
import { between, documentAt, rowsOf } from './documents.ts';

const acme = acmeForAll();

const page = documentAt('docs/how-it-works.md');
const why = between(page, '## Why was this status not written?', '\n## ');
const statementIn = (part: string): string => between(part, '```sql\n', '```');
const ask = (statement: string): Promise<Record<string, unknown>[]> =>
  acme.app.deps.db.$queryRawUnsafe(statement);

test('the statements find what holds a pull request, its status, and the jobs that wait', async () => {
  const web = await acme.repository('web', [{}]);
  await acme.freeze(web, { reason: 'Release' });
  // The statement goes by the database's clock.
  await acme.freeze(web, { reason: 'Later', start: '2099-01-01T00:00:00' });
  await acme.quiet();
  const rows = await ask(statementIn(why).replace('p.number = 42', 'p.number = 1'));
  expect(rows).toMatchObject([
    { freezes: ['Release'], state: 'pending', written_state: 'pending', is_waiting: false, not_held: null },
  ]);
  const jobs = await ask(statementIn(between(page, '## Jobs', '\n## ')));
  const start = {
    task: 'reconcile-repository',
    data: expect.objectContaining({ at: '2099-01-01T00:00:00.000Z' }),
  };
  expect(jobs).toContainEqual(expect.objectContaining(start));

  const tables = why.split('\n\n').filter((part) => part.startsWith('|'));
  const seen = tables.flatMap(rowsOf).map(([what]) => what!);
  expect(seen.length).toBeGreaterThan(12);
  const columns = seen.flatMap((what) => [...what.matchAll(/`(\w+)`/g)].map(([, name]) => name!));
  expect(columns.filter((name) => !(name in rows[0]!))).toEqual([]);
});

test('each state in the life of a status has columns that say so', async () => {
  const life = between(page, '## The life of a status', '\n## ');
  const drawn = between(life, 'stateDiagram-v2', '```');
  const states = [...drawn.matchAll(/\w+(?= -->)|(?<=--> )\w+/g)].map(([state]) => state);
  const rows = rowsOf(life.slice(life.indexOf('| state')));
  expect(new Set(rows.map(([state]) => state!.replace(' ', '_')))).toEqual(new Set(states));
  const columns = await acme.app.deps.db.$queryRaw<{ name: string }[]>`
    SELECT column_name::text AS name FROM information_schema.columns WHERE table_name = 'head_statuses'`;
  const known = new Set([...columns.map(({ name }) => name), 'pending', 'refused', 'contested']);
  for (const [state, how] of rows) {
    const named = [...how!.matchAll(/`(\w+)`/g)].map(([, name]) => name!);
    expect(named.length, state).toBeGreaterThan(0);
    expect(
      named.filter((name) => !known.has(name)),
      state,
    ).toEqual([]);
  }
});
