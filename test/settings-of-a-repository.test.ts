import { describe, expect, test } from 'vitest';
import { acmeForAll } from './support/acme.ts';

const acme = acmeForAll();

const defaults = { two_person_exemptions: false, longest_open_end_hours: null, comment_commands: true };
const at = (repository: string) => `/v1/repos/${repository}/settings`;
const read = async (repository: string) => (await acme.call('GET', at(repository), { as: acme.admin })).body;
const set = (repository: string, body: object) =>
  acme.call('PATCH', at(repository), { as: acme.admin, body });
const eventsOf = async (repository: string) => {
  const path = `/v1/repos/${repository}/logs?event_type=repository_settings.update`;
  return (await acme.call('GET', path, { as: acme.admin })).body.events;
};

test('a repository has defaults; a change affects only its fields, and is in the log', async () => {
  const web = await acme.repository('web');
  expect(await read(web)).toEqual(defaults);
  const changed = { ...defaults, two_person_exemptions: true, longest_open_end_hours: 72 };
  expect((await set(web, { two_person_exemptions: true, longest_open_end_hours: 72 })).body).toEqual(changed);
  expect(await read(web)).toEqual(changed);
  expect((await set(web, { comment_commands: false })).body).toEqual({ ...changed, comment_commands: false });
  // A change that changes nothing is not an event.
  await set(web, {});
  await set(web, { comment_commands: false });
  const [last, first, ...more] = await eventsOf(web);
  expect(more).toEqual([]);
  expect(first.metadata).toMatchObject({ settings_before: defaults, settings_after: changed });
  expect(last.metadata).toMatchObject({
    settings_before: changed,
    settings_after: { ...changed, comment_commands: false },
    updated_by: { type: 'application' },
  });
  const { body } = await acme.call('GET', `/v1/repos/${web}/scheduled_freeze`, { as: acme.admin });
  expect(body).toEqual({ scheduled_freezes: [] });
});

test.each([
  { longest_open_end_hours: 0 },
  { longest_open_end_hours: 1.5 },
  { longest_open_end_hours: 87_601 },
  { longest_open_end_hours: '72' },
  { two_person_exemptions: null },
  { comment_commands: 'no' },
])('%j is refused', async (body) => {
  const answer = await set('acme/web', body);
  expect(answer.status).toBe(422);
  expect(answer.body.detail[0].loc).toEqual(['body', Object.keys(body)[0]]);
});

describe('longest_open_end_hours', () => {
  const limit = (hours: number) =>
    `Here a freeze without an end is given one ${hours} hours after it begins (\`longest_open_end_hours\`)`;
  const freezes = (repository: string, rest = '') => `/v1/repos/${repository}/scheduled_freeze${rest}`;
  const send = (method: string, path: string, body: object) =>
    acme.call(method, path, { as: acme.admin, body });

  test('gives a freeze without an end one, and says so in the body and the header', async () => {
    const lib = await acme.repository('lib');
    const before = await acme.freeze(lib);
    await set(lib, { longest_open_end_hours: 72 });
    const body = { reason: 'Release', start: '2026-03-27T10:00:00', timezone: 'Europe/Paris' };
    const made = await send('POST', freezes(lib), body);
    // The clocks go forward in between: hours are hours.
    const end = '2026-03-30T11:00:00';
    const warning = `${limit(72)}: this one ends at ${end}.`;
    expect(made.body).toMatchObject({ end, warnings: [warning] });
    expect(made.headers.get('warning')).toContain('this one ends at 2026-03-30T11:00:00.');

    // One that has an end keeps it, and one that had none before keeps none.
    const other = await send('POST', freezes(lib), { ...body, end: '2026-12-01T00:00:00' });
    expect(other.body).toMatchObject({ end: '2026-12-01T00:00:00' });
    expect(other.body).not.toHaveProperty('warnings');
    const kept = await send('PATCH', freezes(lib, `/${before.id}`), { reason: 'Still', end: null });
    expect(kept.body).toMatchObject({ end: null });
    expect(kept.body).not.toHaveProperty('warnings');

    // A change to none gives one, counted from the start that it has then.
    const change = { start: '2026-04-01T10:00:00', end: null };
    const changed = await send('PATCH', freezes(lib, `/${other.body.id}`), change);
    expect(changed.body).toMatchObject({ end: '2026-04-04T10:00:00', warnings: [expect.any(String)] });
    const again = await send('PATCH', freezes(lib, `/${other.body.id}`), { end: null });
    expect(again.body).toMatchObject({ end: '2026-04-04T10:00:00', warnings: [expect.any(String)] });
    const moved = await send('PATCH', freezes(lib, `/${other.body.id}`), { end: '2026-06-01T00:00:00' });
    expect(moved.body).not.toHaveProperty('warnings');
  });

  test('ends nothing at once: a freeze that would be over is refused', async () => {
    const api = await acme.repository('api');
    await set(api, { longest_open_end_hours: 2 });
    const old = { reason: 'Release', start: '2026-03-01T06:00:00', timezone: 'UTC' };
    const refusal = `${limit(2)}: it would have ended at 2026-03-01T08:00:00. Send an end.`;
    const made = await send('POST', freezes(api), old);
    expect([made.status, made.body.detail[0]]).toMatchObject([422, { loc: ['body', 'end'], msg: refusal }]);
    expect((await send('POST', freezes(api, '/preview'), old)).body).toEqual(made.body);
    const { body } = await send('POST', freezes(api), { ...old, end: '2026-03-01T12:00:00' });
    const changed = await send('PATCH', freezes(api, `/${body.id}`), { end: null });
    expect([changed.status, changed.body.detail[0].msg]).toEqual([422, refusal]);
  });
});
