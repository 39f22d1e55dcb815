import { expect, test } from 'vitest';
import { remindOfFreezes } from '../src/freezes/record-boundaries.ts';
import { acmeForAll } from './support/acme.ts';

const acme = acmeForAll();

const told = async (repository: string) => {
  const since = 'received_from=2026-02-28T00:00:00Z&received_to=2026-05-01T00:00:00Z';
  const path = `/v1/repos/${repository}/logs?event_type=freeze.still_on&${since}`;
  return (await acme.call('GET', path, { as: acme.admin })).body.events;
};
const findings = async (repository: string) =>
  (await acme.call('GET', `/v1/repos/${repository}/enforcement`, { as: acme.admin })).body.findings.filter(
    ({ check }: { check: string }) => check === 'forgotten',
  );
const page = async (repository: string) => (await fetch(`${acme.app.url}/repos/${repository}`)).text();
const reminder = 'If nobody needs it, ask';

test('people are reminded of a freeze without an end after two weeks, and in the log each week', async () => {
  const web = await acme.repository('web', [{}]);
  const { id } = await acme.freeze(web, { reason: 'We buy Initech', public_reason: 'Maintenance' });
  // With an end, and one that has not begun.
  await acme.freeze(web, { end: '2026-12-01T00:00:00' });
  await acme.freeze(web, { start: '2026-12-01T00:00:00' });
  await acme.advanceTo('2026-03-15T08:59:59Z');
  expect([await told(web), await findings(web)]).toEqual([[], []]);
  expect(await page(web)).not.toContain(reminder);

  // The sweep of the next minute finds it.
  await acme.advanceTo('2026-03-15T09:01:00Z');
  const [event, ...more] = await told(web);
  expect(more).toEqual([]);
  expect(event).toMatchObject({
    outcome: 'success',
    metadata: {
      scheduled_freeze_id: id,
      on_since: '2026-03-01T09:00:00.000Z',
      found_by: { id: 'holdfast' },
    },
  });
  const [finding] = await findings(web);
  expect(finding).toMatchObject({ state: 'warning', message: expect.stringContaining(id) });
  const text = await page(web);
  expect(text.split(reminder)).toHaveLength(2);
  expect(text).toContain('Maintenance</a> has been ongoing since');
  expect(text).not.toContain('Initech');

  await acme.advanceTo('2026-03-22T09:00:00Z');
  expect(await told(web)).toHaveLength(1);
  await acme.advanceTo('2026-03-22T09:02:00Z');
  expect(await told(web)).toHaveLength(2);

  // It says nothing of what it is, and changes nothing.
  expect(await acme.update(web, id, { end: '2026-06-01T00:00:00' })).toMatchObject({ id });
  await acme.advanceTo('2026-03-30T09:00:00Z');
  expect(await told(web)).toHaveLength(2);
  expect(await findings(web)).toEqual([]);
});

test('any number of replicas report each once', async () => {
  const lib = await acme.repository('lib', [{}]);
  const count = 8;
  const start = '2026-03-01T09:00:00';
  for (let index = 0; index < count; index++) await acme.freeze(lib, { reason: `${index}`, start });
  await Promise.all(Array.from({ length: 4 }, () => remindOfFreezes(acme.app.deps)));
  await remindOfFreezes(acme.app.deps);
  const ids = (await told(lib)).map(
    ({ metadata }: { metadata: { scheduled_freeze_id: string } }) => metadata.scheduled_freeze_id,
  );
  expect(ids).toHaveLength(count);
  expect(new Set(ids).size).toBe(count);
});
