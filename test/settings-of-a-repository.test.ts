import { describe, expect, test } from 'vitest';
import { acmeForAll } from './support/acme.ts';

const acme = acmeForAll();

const builtIn = {
  ...{ two_person_exemptions: false, longest_open_end_hours: null, comment_commands: true },
  ...{ freezers: [], approvers: [], instant_hold: 'off', release_deployments: 'newest' },
};
const names = Object.keys(builtIn);
const defaults = { ...builtIn, inherited: names };
const allBut = (...own: string[]) => names.filter((name) => !own.includes(name));
const at = (repository: string) => `/v1/repos/${repository}/settings`;
const read = async (repository: string) => (await acme.call('GET', at(repository), { as: acme.admin })).body;
const set = (repository: string, body: object) =>
  acme.call('PATCH', at(repository), { as: acme.admin, body });
const eventsOf = (repository: string) => acme.events(repository, 'repository_settings.update');

test('a repository has defaults; a change affects only its fields, and is in the log', async () => {
  const web = await acme.repository('web');
  expect(await read(web)).toEqual(defaults);
  const own = ['two_person_exemptions', 'longest_open_end_hours'];
  const changed = {
    ...{ ...defaults, two_person_exemptions: true, longest_open_end_hours: 72 },
    inherited: allBut(...own),
  };
  const silent = { ...changed, comment_commands: false, inherited: allBut(...own, 'comment_commands') };
  expect((await set(web, { two_person_exemptions: true, longest_open_end_hours: 72 })).body).toEqual(changed);
  expect(await read(web)).toEqual(changed);
  expect((await set(web, { comment_commands: false })).body).toEqual(silent);
  // A change that changes nothing is not an event.
  await set(web, {});
  await set(web, { comment_commands: false });
  const [last, first, ...more] = await eventsOf(web);
  expect(more).toEqual([]);
  expect(first.metadata).toMatchObject({ settings_before: defaults, settings_after: changed });
  expect(last.metadata).toMatchObject({
    settings_before: changed,
    settings_after: silent,
    updated_by: { type: 'application' },
  });
  const { body } = await acme.call('GET', `/v1/repos/${web}/scheduled_freeze`, { as: acme.admin });
  expect(body).toEqual({ scheduled_freezes: [] });
});

test('an instant hold needs a second App', async () => {
  const web = await acme.repository('no-lock');
  for (const path of [at(web), '/v1/settings/acme'])
    for (const instant_hold of ['bridge', 'lock']) {
      const answer = await acme.call('PATCH', path, { as: acme.admin, body: { instant_hold } });
      expect(answer.status, path).toBe(409);
      expect(answer.body.detail).toMatch(
        /on the settings page of .* or set LOCK_APP_ID and LOCK_PRIVATE_KEY/,
      );
    }
  expect((await set(web, { instant_hold: 'off' })).body).toMatchObject({ instant_hold: 'off' });
  expect((await set(web, { instant_hold: null })).status).toBe(200);
});

test.each([
  { longest_open_end_hours: 0 },
  { longest_open_end_hours: 1.5 },
  { longest_open_end_hours: 87_601 },
  { longest_open_end_hours: '72' },
  { two_person_exemptions: 'yes' },
  { comment_commands: 'no' },
  { freezers: 'ada' },
  { instant_hold: 'on' },
  { approvers: Array(51).fill('ada') },
])('%j is refused', async (body) => {
  for (const path of [at('acme/web'), '/v1/settings/acme']) {
    const answer = await acme.call('PATCH', path, { as: acme.admin, body });
    expect(answer.status).toBe(422);
    expect(answer.body.detail[0].loc).toEqual(['body', Object.keys(body)[0]]);
  }
});

describe('defaults of the owner', () => {
  const ofOwner = '/v1/settings/acme';
  const setOwner = async (body: object) => {
    const answer = await acme.call('PATCH', ofOwner, { as: acme.admin, body });
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  };
  const readOwner = async () => (await acme.call('GET', ofOwner, { as: acme.admin })).body;

  /** What the owner set, what the repository set, and what counts there. */
  test.each([
    ['two_person_exemptions', true, undefined, true],
    ['two_person_exemptions', true, false, false],
    ['two_person_exemptions', undefined, true, true],
    ['longest_open_end_hours', 72, undefined, 72],
    ['longest_open_end_hours', 72, 5, 5],
    ['comment_commands', false, undefined, false],
    ['comment_commands', 'requests', true, true],
    ['freezers', ['ada', 'bob'], undefined, ['ada', 'bob']],
    ['freezers', ['ada'], ['bob'], ['bob']],
    ['freezers', ['ada'], [], []],
    ['approvers', ['BOB', 'bob'], undefined, ['bob']],
  ])('%s: the owner has %j, the repository %j: %j', async (name, owner, own, counts) => {
    const repository = await acme.repository(`heir-${++heirs}`);
    if (owner !== undefined) await setOwner({ [name]: owner });
    if (own !== undefined) await set(repository, { [name]: own });
    const inherited = own === undefined ? names : allBut(name);
    expect(await read(repository)).toEqual({ ...defaults, [name]: counts, inherited });
    // Null has the owner's again, and the built-in default there.
    const back = (await set(repository, { [name]: null })).body;
    expect(back.inherited).toEqual(names);
    expect(back[name]).toEqual((await readOwner())[name]);
    expect(await setOwner({ [name]: null })).toEqual(builtIn);
    expect(await read(repository)).toEqual(defaults);
  });
  let heirs = 0;

  test('a change is an event of the owner, and counts at once where people freeze', async () => {
    const heir = await acme.repository(`heir-${++heirs}`);
    await setOwner({ longest_open_end_hours: 2 });
    await setOwner({ longest_open_end_hours: 2 });
    expect(await acme.freeze(heir)).toMatchObject({ end: expect.any(String) });
    const plan = {
      ...{ name: 'Now', reason: 'x', start: null, end: null, timezone: 'UTC' },
      repositories: { include: [heir.split('/')[1]] },
    };
    const made = await acme.call('POST', '/v1/freeze_plans/acme', { as: acme.admin, body: plan });
    expect(made.body.warnings).toEqual([expect.stringContaining('`longest_open_end_hours`')]);
    const later = { as: acme.admin, body: { end: '2026-03-05T00:00:00' } };
    await acme.call('PATCH', `/v1/freeze_plans/acme/${made.body.id}`, later);
    const opened = { as: acme.admin, body: { end: null } };
    const again = await acme.call('PATCH', `/v1/freeze_plans/acme/${made.body.id}`, opened);
    expect(again.body.warnings).toEqual([expect.stringContaining('`longest_open_end_hours`')]);
    await setOwner({ longest_open_end_hours: null });
    const log = `/v1/logs/acme?event_type=owner_settings.update`;
    const { events } = (await acme.call('GET', log, { as: acme.admin })).body;
    expect(events[0].metadata).toMatchObject({
      settings_before: { ...builtIn, longest_open_end_hours: 2 },
      settings_after: builtIn,
    });
    expect(events[1].metadata.settings_after).toEqual({ ...builtIn, longest_open_end_hours: 2 });
  });

  test('fields that are no settings are named', async () => {
    const { body } = await set('acme/web', { freezer: ['ada'], inherited: [] });
    expect(body.warnings).toEqual(['`freezer` is not a field of settings: did you mean `freezers`?']);
    expect((await setOwner({ sudden: 1 })).warnings).toEqual([
      '`sudden` is not a field of settings, so it does nothing. Leave it out.',
    ]);
  });

  test('unknown people and teams are refused, each by its place', async () => {
    acme.github.addTeam('acme', 'release');
    acme.github.addOrganization('other');
    acme.github.addTeam('other', 'release');
    const body = {
      freezers: ['ada', 'nobody-here', '@acme/release', '@acme/none', '@other/release', 'acme'],
      approvers: ['@ada'],
    };
    const first = await set('acme/web', body);
    expect(first.body.detail.map(({ loc }: { loc: unknown }) => loc)).toEqual([['body', 'approvers', 0]]);
    const { status, body: answer } = await set('acme/web', { ...body, approvers: ['nobody-here'] });
    expect([status, answer.detail.map(({ loc, msg }: { loc: unknown; msg: string }) => [loc, msg])]).toEqual([
      422,
      [
        [['body', 'freezers', 1], 'GitHub has no person nobody-here. Check the login.'],
        [
          ['body', 'freezers', 3],
          'acme has no team @acme/none that Holdfast can see. Write it as @acme/team.',
        ],
        [
          ['body', 'freezers', 4],
          'acme has no team @other/release that Holdfast can see. Write it as @acme/team.',
        ],
        [['body', 'freezers', 5], 'GitHub has no person acme. Check the login.'],
        [['body', 'approvers', 0], 'GitHub has no person nobody-here. Check the login.'],
      ],
    ]);
    expect((await read('acme/web')).freezers).toEqual([]);
    const known = await set('acme/web', { freezers: ['ADA', '@Acme/Release'] });
    expect(known.body.freezers).toEqual(['ada', '@acme/release']);
  });
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
