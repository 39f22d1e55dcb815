import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type Acme, startAcme } from '../support/acme.ts';

// PostgreSQL plans a prepared statement anew at each call as long as it expects that to be cheaper.
// Only the embedded database has one session, which knows what all calls were.

let acme: Acme;
beforeAll(async () => {
  acme = await startAcme();
});
afterAll(() => acme.close());

/** How often PostgreSQL plans a statement at first, to learn what plans for its values would save. */
const triedFirst = 5n;

type Prepared = { statement: string; generic_plans: bigint; custom_plans: bigint };

test.skipIf(inject('postgresUrl'))('the statements of each event are planned once', async () => {
  const web = await acme.repository('web', [{}]);
  await acme.freeze(web);
  for (let event = 0; event < 20; event++) {
    acme.github.openPullRequest(web, { author: 'ada' });
    await acme.quiet();
  }
  const prepared = await acme.app.deps.sql.query<Prepared>(
    'prepared',
    'SELECT statement, generic_plans, custom_plans FROM pg_prepared_statements WHERE custom_plans + generic_plans >= 20',
  );
  expect(prepared.length).toBeGreaterThan(8);
  const anew = prepared.filter(({ custom_plans }) => custom_plans > triedFirst);
  expect(anew.map(({ statement }) => statement)).toEqual([]);
});
