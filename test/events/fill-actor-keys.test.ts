// Events of versions before do not say who acted in a column of their own: a job fills it in, some at a time.
import { expect, test } from 'vitest';
import { jobs } from '../../src/database/queue/jobs.ts';
import { acmeForAll } from '../support/acme.ts';

const acme = acmeForAll();

/** How many events of the owner a filter by a person finds. */
async function countBy(person: string): Promise<number> {
  const asked = `/v1/repos/acme/web/logs?by=${person}&per_page=100`;
  const { body } = await acme.call('GET', asked, { as: acme.admin });
  return body.events.length;
}

/** An event as a process of the version before writes it. */
const append = (metadata: string, times = 1) =>
  acme.app.deps.sql.query(
    'append as before',
    `INSERT INTO audit_events (received_at, account_id, repository_id, repository, type, outcome, trigger, metadata)
     SELECT $3::timestamptz, account_id, id, 'acme/web', 'scheduled_freeze.create', 'success', 'api', $1::jsonb
     FROM repositories CROSS JOIN generate_series(1, $2::int) WHERE name = 'web'`,
    [metadata, times, new Date(acme.clock.now())],
  );
const by = (name: string) => JSON.stringify({ created_by: { type: 'user', id: 7, name } });

test('events get who acted, also those that an older process writes within the hour', async () => {
  await acme.repository('web', [{}]);
  await append(by('Ada'), 3);
  await append('[]');
  await append('{"deleted_by": "nobody"}');
  // More than one statement fills.
  await append(by('Bob'), 1200);
  expect(await countBy('ada')).toBe(0);

  await acme.app.deps.queue.send([jobs.fillActorKeys({ after: '0', isAgain: false })]);
  await acme.quiet();
  for (let statement = 0; statement < 4; statement++) {
    await acme.advanceTo(new Date(acme.clock.now() + 1000));
    await acme.quiet();
  }
  expect(await countBy('ada')).toBe(3);
  expect(await countBy('bob')).toBe(100);

  await append(by('Ada'));
  expect(await countBy('ada')).toBe(3);
  await acme.advanceTo(new Date(acme.clock.now() + 3_700_000));
  await acme.quiet();
  expect(await countBy('ada')).toBe(4);
  await acme.advanceTo(new Date(acme.clock.now() + 1000));
  await acme.quiet();
  const left = await acme.app.deps.sql.query('jobs left', `SELECT FROM jobs WHERE task = 'fill-actor-keys'`);
  expect(left).toEqual([]);
});
