import { expect, inject, test } from 'vitest';
import { acmeForAll } from '../support/acme.ts';

// PostgreSQL plans a prepared statement anew at each call as long as it expects that to be cheaper.
// Only the embedded database has one session, which knows what all calls were.

const acme = acmeForAll();

/** How often PostgreSQL plans a statement at first, to learn what plans for its values would save. */
const triedFirst = 5;

type Plans = { statement: string; kept: number; anew: number };

/** How often each statement of the session was planned until now. Files of tests share it. */
async function plans(): Promise<Map<string, Plans>> {
  const text = `SELECT statement, generic_plans::int AS kept, custom_plans::int AS anew FROM pg_prepared_statements`;
  const rows = await acme.app.deps.sql.query<Plans>('plans', text);
  return new Map(rows.map((each) => [each.statement, each]));
}

test.skipIf(inject('postgresUrl'))('the statements of each event are planned once', async () => {
  const events = 20;
  const web = await acme.repository('web', [{}]);
  await acme.freeze(web);
  const before = await plans();
  for (let event = 0; event < events; event++) {
    acme.github.openPullRequest(web, { author: 'ada' });
    await acme.quiet();
  }
  const during = [...(await plans()).values()].map(({ statement, kept, anew }) => {
    const { kept: keptBefore = 0, anew: anewBefore = 0 } = before.get(statement) ?? {};
    return { statement, kept: kept - keptBefore, anew: anew - anewBefore };
  });
  const ofEvents = during.filter(({ kept, anew }) => kept + anew >= events);
  expect(ofEvents.length).toBeGreaterThan(8);
  expect(ofEvents.filter(({ anew }) => anew > triedFirst)).toEqual([]);
});
