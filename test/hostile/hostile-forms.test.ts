import { beforeAll, beforeEach, expect, test } from 'vitest';
import { previewedOf } from '../../src/pages/form.ts';
import { readFreezeFields } from '../../src/pages/freeze-now/freeze-form.ts';
import { acmeForAll } from '../support/acme.ts';
import { addWebhook } from '../support/outgoing.ts';
import { hiddenOf, type Seen, Visitor } from '../support/visitor.ts';

// Forms that our pages never send: made by hand, sent twice, sent too late, or full of markup.

const acme = acmeForAll();
let ada: Visitor;
let hook: string;

beforeAll(async () => {
  acme.github.addUser('wendy');
  acme.github.addUser('eve');
  acme.github.addOrganization('others', { admins: ['eve'] });
  acme.github.install('others');
  await acme.repository('web', [{}, {}], { roles: { wendy: 'write' } });
  await acme.repository('api', [{}]);
  await acme.repository('moved', [{}]);
  hook = (await addWebhook(acme, 'https://ops.example/hook')).id;
  ada = new Visitor(acme);
  await ada.signIn('ada');
});
// One person changes only so much in a minute.
beforeEach(() => acme.advanceTo(new Date(acme.clock.now() + 120_000)));

type Fields = Record<string, string | string[]>;

/** Looks at what a form would do. @returns its button. */
async function look(path: string, fields: Fields, step: string) {
  const seen = await ada.send(path, { ...fields, step: 'preview' });
  expect(seen.status, seen.text).toBe(200);
  const [previewed, key] = [hiddenOf(seen.text, 'previewed'), hiddenOf(seen.text, 'key')];
  return () => ada.send(path, { ...fields, previewed, key, step });
}

const freezes = () =>
  acme.app.deps.db.freeze.findMany({ where: { deletedAt: null }, include: { repository: true } });
const planOf = (name: string) => acme.app.deps.db.freezePlan.findFirstOrThrow({ where: { name } });
const incident = { name: 'Incident', reason: 'r', include: 'web', zone: 'UTC', repeat: 'once' };

async function newPlan(fields: Fields): Promise<string> {
  const { location } = await (await look('/owners/acme/plans/new', fields, 'save'))();
  return location.replace('/progress?plan=', '/plans/');
}

test('the former name of a repository that moved to another owner freezes nothing there', async () => {
  acme.github.transferRepository('acme/moved', 'others');
  await acme.quiet();
  const before = (await freezes()).length;
  const fields = { which: 'ticked', repository: 'moved', reason: 'Mine', duration: '1h' };
  const seen = await ada.send('/owners/acme/freeze', { ...fields, step: 'preview' });
  expect(seen.status).toBe(422);
  expect(seen.text).toContain('acme has no repository moved');
  const form = new URLSearchParams(fields);
  const previewed = previewedOf(readFreezeFields(form, 'ticked'));
  await ada.send('/owners/acme/freeze', { ...fields, previewed, step: 'freeze' });
  expect(await freezes()).toHaveLength(before);
});

test('of a plan that repeats, only what is ongoing is extended', async () => {
  const path = await newPlan({
    ...incident,
    name: 'Weekly',
    start: '2026-04-01T10:00',
    end: '2026-04-01T12:00',
    repeat: 'every',
  });
  const { status, text } = await ada.send(`${path}/extend`, {
    version: hiddenOf((await ada.open(path)).text, 'version'),
    by: 'hour',
  });
  expect([status, text]).toEqual([422, expect.stringContaining('No freeze of this plan is ongoing.')]);
});

test("sent twice, a plan is extended once, and a stale form undoes nobody's change", async () => {
  const path = await newPlan({ ...incident, start: '2026-04-01T10:00', end: '2026-04-01T12:00' });
  const { text } = await ada.open(path);
  const version = hiddenOf(text, 'version');
  const twice = [1, 2].map(() => ada.send(`${path}/extend`, { version, by: 'hour' }));
  const statuses = (await Promise.all(twice)).map(({ status }) => status);
  await ada.send(`${path}/extend`, { version, by: 'hour' });
  expect((await planOf('Incident')).end).toBe('2026-04-01T13:00:00');
  expect(statuses).toContain(303);
  const stale = await look(
    `${path}/edit`,
    { ...incident, version, reason: 'Other', start: '2026-04-01T10:00', end: '2026-04-01T12:00' },
    'save',
  ).catch(() => null);
  const answer = stale && (await stale());
  expect(answer?.status ?? 422).toBe(422);
  expect((await planOf('Incident')).end).toBe('2026-04-01T13:00:00');
  expect((await planOf('Incident')).reason).toBe('r');
  const late = await ada.send(`${path}/delete`, { version, delete_reason: 'Not what I saw' });
  expect(late.status).toBe(422);
  expect(late.text).toContain('Somebody changed this plan after you opened the page.');
});

test('sent twice, an exemption request is made once', async () => {
  await acme.freeze('acme/web', { reason: 'Release', end: '2026-03-01T23:00:00' });
  const page = '/repos/acme/web/pulls/1';
  const key = hiddenOf((await ada.open(page)).text, 'key');
  const fields = { reason: 'The fix', hours: '4', key };
  const answers = await Promise.all([1, 2].map(() => ada.send(`${page}/exemptions`, fields)));
  expect(answers.map(({ status }) => status)).toEqual([303, 303]);
  const all = await acme.app.deps.db.exemption.findMany({ where: { reason: 'The fix' } });
  expect(all).toHaveLength(1);
  // Another reason is another request, also from a page that the browser kept.
  expect((await ada.send(`${page}/exemptions`, { ...fields, reason: 'Another' })).status).toBe(303);
});

test('a person who goes back, and ticks one more, freezes that too', async () => {
  const fields = { which: 'ticked', repository: ['api'], reason: 'Back', duration: '1h' };
  const form = '/owners/acme/freeze';
  const seen = await ada.send(form, { ...fields, step: 'preview' });
  const kept = { previewed: hiddenOf(seen.text, 'previewed'), key: hiddenOf(seen.text, 'key') };
  expect((await ada.send(form, { ...fields, ...kept, step: 'freeze' })).status).toBe(303);
  const more = { ...fields, repository: ['api', 'web'] };
  const again = await ada.send(form, { ...more, ...kept, step: 'freeze' });
  expect(again.status).toBe(200);
  const now = { previewed: hiddenOf(again.text, 'previewed'), key: hiddenOf(again.text, 'key') };
  expect((await ada.send(form, { ...more, ...now, step: 'freeze' })).location).toContain('?plan=');
});

test('forms for what is over are refused, and say so', async () => {
  const { id } = await acme.freeze('acme/api', { reason: 'Short', end: '2026-03-01T09:30:00' });
  const path = `/repos/acme/api/freezes/${id}`;
  const version = hiddenOf((await ada.open(path)).text, 'version');
  const plan = await newPlan({
    ...incident,
    name: 'Gone',
    start: '2026-05-01T10:00',
    end: '2026-05-01T12:00',
  });
  const its = hiddenOf((await ada.open(plan)).text, 'version');
  const deletion = { version: its, delete_reason: 'Over' };
  expect((await ada.send(`${plan}/delete`, deletion)).status).toBe(303);
  await acme.advanceTo('2026-03-01T10:00:00Z');
  const late: Promise<Seen>[] = [
    ada.send(`${path}/extend`, { version, by: 'hour' }),
    ada.send(`${path}/end`, { version }),
    ada.send(`${path}/delete`, { version, delete_reason: 'x' }),
    ada.send(`${path}/edit`, { version, reason: 'x' }),
    ada.send(`${plan}/delete`, deletion),
    ada.send(`${plan}/extend`, { version: its, by: 'hour' }),
    ada.send(`${plan}/edit`, { version: its, ...incident, step: 'save' }),
    ada.send('/owners/acme/unfreeze', { ongoing: `freezes ${id}`, delete_reason: 'x' }),
  ];
  for (const answer of await Promise.all(late)) {
    expect([404, 422]).toContain(answer.status);
    expect(answer.text).toMatch(/Nothing was changed/);
    expect(answer.text).toMatch(/over|deleted|ended/);
  }
});

const settings = '/owners/acme/settings';
const forms: [path: string, fields: Record<string, string>, ids: string[]][] = [
  [`${settings}/keys`, { do: 'revoke-key' }, ['id']],
  [`${settings}/oidc`, { do: 'delete-rule' }, ['id']],
  ...['update', 'rotate', 'enable', 'disable', 'delete', 'test'].map(
    (act): [string, Record<string, string>, string[]] => [
      `${settings}/webhooks`,
      { do: `${act}-webhook` },
      ['id'],
    ],
  ),
  [`${settings}/webhooks`, { do: 'replay-delivery' }, ['id', 'delivery']],
  ['/owners/acme/calendar/subscribe', { do: 'delete' }, ['id']],
  ['/owners/acme/progress/tell', {}, ['freeze', 'webhook']],
  ['/owners/acme/progress/tell', {}, ['plan', 'webhook']],
  ['/owners/acme/unfreeze/undo', {}, ['plan']],
];

test.each(forms)('%s %o finds nothing by what is no id', async (path, fields, names) => {
  for (const name of names)
    for (const id of ['', 'x', '42', `${crypto.randomUUID()}0`, 'a\r\nb']) {
      const ids = Object.fromEntries(names.map((each) => [each, each === 'id' ? hook : crypto.randomUUID()]));
      const { status, text } = await ada.send(path, { ...fields, ...ids, [name]: id });
      expect([name, id, status], text.slice(0, 2000)).toEqual([name, id, expect.toBeOneOf([404, 409])]);
    }
});

test.each([
  ...['', '/edit', '/extend', '/end', '/delete'].map((act) => `/repos/acme/web/freezes/x${act}`),
  ...['', '/edit', '/extend', '/delete'].map((act) => `/owners/acme/plans/x${act}`),
  `${settings}/webhooks/x`,
  '/repos/acme/web/pulls/1/exemptions/x',
  '/repos/acme/web/exemptions/x',
])('%s is no address', async (path) => {
  const [seen, sent] = [await ada.open(path), await ada.send(path, { version: 'x', reason: 'x' })];
  // What only takes forms leads back to its page.
  expect([303, 404]).toContain(seen.status);
  expect([404, 405]).toContain(sent.status);
  expect([seen.status, sent.status]).toContain(404);
});

test('every answer to a form keeps out frames, and no GET changes anything', async () => {
  const paths = [
    ...['freeze', 'unfreeze', 'plans/new'].map((form) => `/owners/acme/${form}`),
    '/repos/acme/web/pulls/1/exemptions',
  ];
  for (const path of paths)
    for (const headers of [{ 'Sec-Fetch-Site': 'same-origin' }, { 'Sec-Fetch-Site': 'cross-site' }]) {
      const answer = await ada.send(path, {}, headers);
      expect(answer.headers.get('x-frame-options'), path).toBe('DENY');
      expect(answer.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
      expect(answer.headers.get('cache-control')).toBe('private, no-store');
    }
  const events = () => acme.app.deps.db.auditEvent.count();
  const before = await events();
  const { id } = (await freezes())[0]!;
  const words = new URLSearchParams({
    reason: 'x',
    which: 'all',
    step: 'freeze',
    delete_reason: 'x',
    by: 'hour',
  });
  for (const path of [
    ...paths,
    `/repos/acme/web/freezes/${id}`,
    ...['edit', 'extend', 'end', 'delete'].map((change) => `/repos/acme/web/freezes/${id}/${change}`),
  ])
    await ada.open(`${path}?${words}`);
  expect(await events()).toBe(before);
});

test('10,000 ticks, and a form of a megabyte, are answered at once', async () => {
  const repository = Array.from({ length: 10_000 }, (_, index) => `no-${index}`);
  const fields = { which: 'ticked', repository, reason: 'x', duration: '1h', step: 'preview' };
  const before = process.cpuUsage();
  expect((await ada.send('/owners/acme/freeze', fields)).status).toBe(422);
  const large = { ...fields, repository: 'web', reason: 'x'.repeat(1_000_000) };
  expect((await ada.send('/owners/acme/freeze', large)).status).toBe(422);
  await ada.send('/owners/acme/unfreeze', { repository, delete_reason: 'x' });
  const plan = { ...incident, include: repository.join('\n'), start: '', end: '' };
  expect((await ada.send('/owners/acme/plans/new', { ...plan, step: 'preview' })).status).toBe(422);
  // Of processor time, because a busy machine keeps everybody waiting.
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1000).toBeLessThan(20_000);
});

const markup = '<img src=x onerror=alert(1)>"\'&';

test('markup that people write is text on every page', async () => {
  acme.github.addUser('zoe');
  await acme.repository('hostile', [{ title: markup }]);
  const { id } = await acme.freeze('acme/hostile', {
    reason: markup,
    public_reason: `${markup} public`,
    matching_conditions: [`label!=${markup}`],
    exclude_conditions: [{ or: [`title=${markup}`, 'base=<b>'] }],
    end: '2026-03-01T23:00:00',
  });
  const fields = { ...incident, name: markup, reason: markup, include: 'hostile' };
  const plan = await newPlan({ ...fields, start: '', end: '', matching: `label!=${markup}` });
  await acme.quiet();
  const pages = await Promise.all(
    [
      ...['/', '/repos/acme', '/repos/acme/hostile', `/repos/acme/hostile/freezes/${id}`],
      ...['/repos/acme/hostile/pulls/1', plan, `${plan}/edit`, '/owners/acme/unfreeze'],
      plan.replace('/plans/', '/progress?plan='),
      `/repos/acme?q=${encodeURIComponent(markup)}`,
    ].map((path) => ada.open(path)),
  );
  pages.push(await ada.send('/owners/acme/freeze', { ...fields, exceptions: markup, step: 'preview' }));
  pages.push(await ada.send(`/repos/acme/hostile/freezes/${id}/edit`, { reason: markup, end: markup }));
  for (const { text, status } of pages) {
    expect(status).toBeLessThan(500);
    expect(text).not.toMatch(/<img|<b>/);
  }
});
