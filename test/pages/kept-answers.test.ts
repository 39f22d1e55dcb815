import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { acmeForAll } from '../support/acme.ts';
import { signedIn, Visitor, words } from '../support/visitor.ts';

// Reload and Back never ask to send a form again: every form is answered with a redirect, and what it led to is a GET.

const acme = acmeForAll();
let ada: Visitor;
const ids = { freeze: '', plan: '' };

const later = async (minutes: number) =>
  acme.advanceTo(new Date(acme.clock.now() + minutes * 60_000).toISOString());
const own = { 'Sec-Fetch-Site': 'same-origin' };
type Fields = Record<string, string | string[]>;
/** What the service itself answers, which a browser follows. */
const post = (path: string, fields: Fields, visitor = ada) =>
  visitor.open(path, {
    method: 'POST',
    headers: own,
    body: new URLSearchParams(
      Object.entries(fields).flatMap(([name, value]) =>
        [value].flat().map((each): [string, string] => [name, each]),
      ),
    ),
  });
const freezeFields = {
  reason: 'INC-1',
  which: 'ticked',
  repository: ['api', 'web'],
  duration: 'open',
  zone: 'UTC',
};
const planFields = {
  name: 'Rest',
  reason: 'Rest',
  include: 'api',
  repeat: 'once',
  start: '2026-12-24T18:00',
  zone: 'UTC',
};
const preview = (visitor = ada) => post('/owners/acme/freeze', { ...freezeFields, step: 'preview' }, visitor);
const kept = () => acme.app.deps.db.keptAnswer.count();

beforeAll(async () => {
  acme.github.ownApp('acme');
  for (const name of ['api', 'web']) await acme.repository(name, [{}], { roles: { bob: 'admin' } });
  ada = await signedIn(acme, 'ada');
  ids.freeze = (await acme.freeze('acme/web', { end: '2026-06-01T00:00:00' })).id;
  const body = { name: 'Weekly', reason: 'Rest', start: '2026-12-24T18:00:00', timezone: 'UTC' };
  const plan = await acme.call('POST', '/v1/freeze_plans/acme', {
    as: acme.admin,
    body: { ...body, repositories: { include: ['api'] } },
  });
  ids.plan = plan.body.id;
  await acme.quiet();
});
beforeEach(() => later(2));

/** Every form that a page can be the answer to: what it sends, and what the page says. */
const answers: [name: string, path: () => string, fields: Fields, status: number, says: string][] = [
  [
    'a preview of a freeze',
    () => '/owners/acme/freeze',
    { ...freezeFields, step: 'preview' },
    200,
    'Starts now',
  ],
  [
    'repositories by a filter',
    () => '/owners/acme/freeze',
    { ...freezeFields, step: 'show', filter: 'we' },
    200,
    'Preview',
  ],
  [
    'a freeze without a reason',
    () => '/owners/acme/freeze',
    { ...freezeFields, reason: '', step: 'preview' },
    422,
    'Enter a reason',
  ],
  [
    'a freeze that was not previewed',
    () => '/owners/acme/freeze',
    { ...freezeFields, step: 'freeze' },
    200,
    'Nothing was changed yet',
  ],
  [
    'a template without a name',
    () => '/owners/acme/freeze',
    { ...freezeFields, step: 'template' },
    422,
    'Enter a name',
  ],
  [
    'a preview of a plan',
    () => '/owners/acme/plans/new',
    { ...planFields, step: 'preview' },
    200,
    'Next 1 freeze',
  ],
  [
    'a plan without a start',
    () => '/owners/acme/plans/new',
    { ...planFields, end: 'x', step: 'preview' },
    422,
    'Nothing was changed',
  ],
  [
    'a preview of a change',
    () => `/owners/acme/plans/${ids.plan}/edit`,
    { ...planFields, step: 'preview' },
    200,
    'Save changes',
  ],
  [
    'an extension of an old plan',
    () => `/owners/acme/plans/${ids.plan}/extend`,
    { by: 'hour', version: 'old' },
    422,
    'Somebody changed this plan',
  ],
  [
    'a deletion of an old plan',
    () => `/owners/acme/plans/${ids.plan}/delete`,
    { version: 'old' },
    422,
    'Somebody changed this plan',
  ],
  ['an end of nothing', () => '/owners/acme/unfreeze', { delete_reason: 'Over' }, 422, 'Select what to end'],
  ['too late an undo', () => '/owners/acme/unfreeze/undo', { undo: '1-2' }, 409, 'There is nothing to undo'],
  ...['edit', 'extend', 'end', 'delete', 'restore'].map((change): (typeof answers)[number] => [
    `${change} of a freeze that somebody changed`,
    () => `/repos/acme/web/freezes/${ids.freeze}/${change}`,
    { version: '0' },
    422,
    'Somebody changed this freeze',
  ]),
  [
    'an exemption without a reason',
    () => '/repos/acme/web/pulls/1/exemptions',
    { hours: '4' },
    422,
    'Nothing was changed',
  ],
  [
    'an exemption of nothing',
    () => '/repos/acme/web/deployment_exemptions',
    { environment: 'x', sha: 'y' },
    422,
    'Nothing was changed',
  ],
  [
    'settings with nobody',
    () => '/owners/acme/settings',
    { do: 'settings', version: 'old' },
    422,
    'Somebody changed these settings',
  ],
  [
    'settings of a repository',
    () => '/repos/acme/web/settings',
    { do: 'settings', version: 'old' },
    422,
    'Somebody changed these settings',
  ],
  [
    'a webhook to nowhere',
    () => '/owners/acme/settings',
    { do: 'create-webhook', kind: 'slack', url: 'x' },
    422,
    'Nothing was changed',
  ],
  [
    'a new webhook',
    () => '/owners/acme/settings',
    { do: 'create-webhook', kind: 'standard', url: 'https://hooks.example/x' },
    200,
    'Copy the secret now',
  ],
  [
    'a new key',
    () => '/owners/acme/settings',
    { do: 'create-key', key_name: 'ci', scope: 'ci', days: '90' },
    200,
    'Copy the key now',
  ],
  [
    'a rule for nothing',
    () => '/owners/acme/settings',
    { do: 'create-rule', rule_name: '' },
    422,
    'Nothing was changed',
  ],
  [
    'a Slack app',
    () => '/owners/acme/settings',
    { do: 'connect-slack', bot_token: 'x' },
    422,
    'Type the tokens and the secret again',
  ],
  ['the second App', () => '/owners/acme/settings', { do: 'create-lock-app' }, 200, 'Create the second App'],
  ['a new calendar', () => '/owners/acme/calendar/subscribe', { text: 'public' }, 200, 'Copy an address now'],
  ['an old offer of Slack', () => '/slack/accounts', { do: 'link', token: 'x' }, 409, 'This link is over'],
  [
    'an owner that is not there',
    () => '/owners/nobody/freeze',
    { ...freezeFields, step: 'preview' },
    403,
    'you aren’t an admin',
  ],
  [
    'a time zone that is not there',
    () => '/time-zone',
    { own_zone: 'Atlantis' },
    422,
    'This is not a time zone',
  ],
];

test.each(answers)('%s has an address that can be loaded again', async (_, path, fields, status, says) => {
  const before = await acme.app.deps.db.auditEvent.count();
  const sent = await post(path(), fields);
  expect(sent.status, sent.text).toBe(303);
  const changed = (await acme.app.deps.db.auditEvent.count()) - before;
  for (const page of [await ada.open(sent.location), await ada.open(sent.location)]) {
    expect(page.status, words(page)).toBe(status);
    expect(words(page).replaceAll('&#39;', '’')).toContain(says);
  }
  // Nothing is made again.
  expect((await acme.app.deps.db.auditEvent.count()) - before).toBe(changed);
});

test('signing out has one too', async () => {
  const bob = await signedIn(acme, 'bob');
  const sent = await post('/auth/sign-out', {}, bob);
  expect([sent.status, sent.location]).toEqual([303, '/auth/signed-out']);
  expect(words(await bob.open(sent.location))).toContain('You are signed out on all devices');
  expect((await ada.open('/auth/signed-out')).location).toBe('/');
});

describe('a preview', () => {
  test('is of now each time that it is loaded', async () => {
    const { location } = await preview();
    expect(words(await ada.open(location))).toContain('2 pull requests');
    acme.github.openPullRequest('acme/api', { author: 'ada' });
    await acme.quiet();
    await later(2);
    expect(words(await ada.open(location))).toContain('3 pull requests');
  });

  test('freezes once, also if somebody goes back and presses again', async () => {
    const { location } = await preview();
    const press = async () => {
      const { text } = await ada.open(location);
      const hidden = (name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(text)![1]!;
      return post('/owners/acme/freeze', {
        ...freezeFields,
        ...{ step: 'freeze', previewed: hidden('previewed'), key: hidden('key') },
      });
    };
    const [first, second] = [await press(), await press()];
    expect(first.location).toMatch(/\/progress\?plan=/);
    expect(second.location).toBe(first.location);
    await acme.quiet();
  });

  test('has room for two thousand repositories', async () => {
    const repository = ['web', ...Array.from({ length: 1999 }, (_, at) => `no-such-repository-${at}`)];
    const { status, location } = await post('/owners/acme/freeze', {
      ...freezeFields,
      repository,
      step: 'show',
    });
    expect(status).toBe(303);
    expect(location.length).toBeLessThan(120);
    expect((await ada.open(location)).status).toBe(200);
  });
});

describe('what is kept', () => {
  test('is for the session that sent the form, and of no use to who has the database', async () => {
    const { location } = await post('/owners/acme/settings', {
      ...{ do: 'create-key', key_name: 'secret', scope: 'ci', days: '90' },
    });
    const [, secret] = /(hf_ci_\w+)/.exec((await ada.open(location)).text)!;
    for (const visitor of [await signedIn(acme, 'ada'), await signedIn(acme, 'bob')])
      expect(await visitor.open(location)).toMatchObject({ status: 302, location: '/owners/acme/settings' });
    expect((await new Visitor(acme).open(location)).status).toBe(302);
    const [, id] = /answer=(.+)$/.exec(location)!;
    const rows = JSON.stringify(await acme.app.deps.db.keptAnswer.findMany());
    expect(rows).not.toContain(id);
    expect(rows).not.toContain(secret);
    expect(acme.logs.join()).not.toContain(id);
    expect((await ada.open(`/owners/acme/settings?answer=${id!.slice(1)}`)).status).toBe(302);
  });

  test('is over after an hour, a secret after ten minutes', async () => {
    const calendar = await post('/owners/acme/calendar/subscribe', { text: 'public' });
    const { location } = await preview();
    const statuses = async () =>
      Promise.all([calendar.location, location].map(async (path) => (await ada.open(path)).status));
    expect(await statuses()).toEqual([200, 200]);
    await later(11);
    expect(await statuses()).toEqual([302, 200]);
    await later(50);
    expect(await statuses()).toEqual([302, 302]);
    await acme.quiet();
    expect(await kept()).toBe(0);
  });

  test('is at most sixteen of a session, and ends with it', async () => {
    const bob = await signedIn(acme, 'bob');
    const before = await kept();
    const first = await preview(bob);
    for (let more = 0; more < 16; more++) {
      await acme.advanceTo(new Date(acme.clock.now() + 4000));
      await preview(bob);
    }
    expect((await kept()) - before).toBe(16);
    expect((await bob.open(first.location)).status).toBe(302);
    await bob.signOut();
    expect(await kept()).toBe(before);
  });
});
