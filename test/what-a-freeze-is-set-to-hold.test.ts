import { expect, test } from 'vitest';
import { free, heldUntilRemoved, acmeForAll } from './support/acme.ts';

// A freeze holds merges, deployments or both.

const acme = acmeForAll();

const path = (repository: string, rest = '') => `/v1/repos/${repository}/scheduled_freeze${rest}`;
const newFreeze = { reason: 'Release', start: null, timezone: 'UTC' };
const send = (method: string, to: string, body?: object) => acme.call(method, to, { as: acme.admin, body });
const listed = async (repository: string) => (await send('GET', path(repository))).body.scheduled_freezes;

const known = ['id', 'reason', 'start', 'end', 'timezone', 'matching_conditions', 'exclude_conditions'];

test('answers do not show it if it was never set', async () => {
  const web = await acme.repository('web', [{}]);
  const made = await acme.freeze(web);
  expect(Object.keys(made)).toEqual(known);
  expect(Object.keys(await acme.update(web, made.id, { reason: 'Later', holds: null }))).toEqual(known);
  expect(Object.keys((await listed(web))[0])).toEqual(known);
  const { body } = await send('GET', `/v1/repos/${web}/logs`);
  const { scheduled_freeze_attributes_after: after } = body.events[0].metadata;
  expect(Object.keys(after).toSorted()).toEqual(known.slice(1).toSorted());
});

test('it is set, changed and shown, in one order and once each', async () => {
  const lib = await acme.repository('lib', [{}]);
  const made = await acme.freeze(lib, {
    holds: ['deployments', 'merges', 'merges'],
    environments: ['prod*', '{eu,us}-live'],
    on_deployment: 'reject',
  });
  const both = {
    holds: ['merges', 'deployments'],
    environments: ['prod*', '{eu,us}-live'],
    on_deployment: 'reject',
  };
  expect(made).toMatchObject(both);
  expect((await listed(lib))[0]).toMatchObject(both);
  expect(acme.shown(lib, 1)).toEqual(heldUntilRemoved);

  const changed = await acme.update(lib, made.id, { holds: ['merges'], environments: null });
  expect(changed).toMatchObject({ holds: ['merges'], environments: both.environments });
  const { body } = await send('GET', `/v1/repos/${lib}/logs?event_type=scheduled_freeze.update`);
  const { scheduled_freeze_attributes_before: before, scheduled_freeze_attributes_after: after } =
    body.events[0].metadata;
  expect([before.holds, after.holds]).toEqual([both.holds, ['merges']]);
  // The same values are not a change.
  await acme.update(lib, made.id, { holds: ['merges', 'merges'] });
  const again = await send('GET', `/v1/repos/${lib}/logs?event_type=scheduled_freeze.update`);
  expect(again.body.events).toHaveLength(1);
});

test.each([
  { holds: [] },
  { holds: ['everything'] },
  { holds: 'merges' },
  { environments: [] },
  { environments: [''] },
  { environments: ['{prod'] },
  { environments: ['x'.repeat(256)] },
  { on_deployment: 'block' },
  { environments: Array.from({ length: 101 }, (_, index) => `e${index}`) },
])('$# is refused, and the answer names the place', async (more) => {
  const [field] = Object.keys(more);
  const api = `acme/web`;
  for (const to of [path(api), path(api, '/preview')]) {
    const { status, body } = await send('POST', to, { ...newFreeze, ...more });
    expect(status).toBe(422);
    expect(body.detail[0].loc.slice(0, 2)).toEqual(['body', field]);
  }
  const [freeze] = await listed(api);
  expect((await send('PATCH', path(api, `/${freeze.id}`), more)).status).toBe(422);
});

test('the answer to a misspelt one suggests a name', async () => {
  const { body } = await send('POST', path('acme/web'), { ...newFreeze, hold: ['merges'], enviroments: [] });
  expect(body.warnings).toEqual([
    '`hold` is not a field of a freeze: did you mean `holds`?',
    '`enviroments` is not a field of a freeze: did you mean `environments`?',
  ]);
  await acme.remove('acme/web', body.id);
});

test('a freeze of only deployments holds no pull request', async () => {
  const api = await acme.repository('api', [{ title: 'A' }]);
  const deployments = { holds: ['deployments'], environments: ['production'] };
  const made = await acme.freeze(api, { ...deployments, matching_conditions: ['-title~=x'] });
  expect(acme.shown(api, 1)).toEqual(free);

  // Neither its preview, nor the explanation, nor events about pull requests.
  const preview = await send('POST', path(api, '/preview'), { ...newFreeze, ...deployments });
  expect(preview.body).toMatchObject({ counts: { open: 1, frozen: 0, not_matched: 1 } });
  const explained = await send('GET', `/v1/repos/${api}/pulls/1/freezes`);
  expect(explained.body).toMatchObject({ frozen: false, freezes: [] });
  acme.github.merge(api, 1);
  await acme.quiet();
  const bypassed = await send('GET', `/v1/repos/${api}/logs?event_type=freeze.bypassed`);
  expect(bypassed.body.events).toEqual([]);

  // The page says so.
  const page = await (await fetch(`${acme.app.url}/repos/${api}`)).text();
  expect(page).toContain('No freeze of merges is ongoing');
  expect(page).toContain('Deployments to production wait; merges are not blocked.');
  expect(page).not.toContain('Pull requests that match');

  // Once it holds merges too, it holds.
  acme.github.openPullRequest(api, { author: 'ada', title: 'B' });
  await acme.quiet();
  expect(acme.shown(api, 2)).toEqual(free);
  await acme.update(api, made.id, { holds: ['merges', 'deployments'] });
  expect(acme.shown(api, 2)).toEqual(heldUntilRemoved);
  await acme.update(api, made.id, { holds: ['deployments'] });
  expect(acme.shown(api, 2)).toEqual(free);
});
