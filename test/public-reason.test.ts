import { beforeAll, describe, expect, test } from 'vitest';
import { acmeForAll } from './support/acme.ts';
import { Visitor } from './support/visitor.ts';

// If a freeze has a public reason, only admins and insiders see its reason.

const acme = acmeForAll();
beforeAll(async () => {
  for (const login of ['mallory', 'wendy', 'rita']) acme.github.addUser(login);
});

const secret = 'We are buying Initech';
const open = 'Maintenance';

async function read(path: string, login: string | null = null): Promise<string> {
  const visitor = new Visitor(acme);
  if (login) await visitor.signIn(login);
  const { status, text } = await visitor.open(path);
  expect(status).toBe(200);
  return text;
}

const reads = (text: string) => [text.includes(secret), text.includes(open)];
const list = async (repository: string) =>
  (await acme.call('GET', `/v1/repos/${repository}/scheduled_freeze`, { as: acme.admin })).body
    .scheduled_freezes;

test('everybody but admins and insiders reads it instead of the reason', async () => {
  const roles = { wendy: 'write', rita: 'read' } as const;
  const head = { headSha: 'f'.repeat(40) };
  const web = await acme.repository('web', [head, head, { labels: ['free'] }], { roles });
  const made = await acme.freeze(web, {
    reason: secret,
    public_reason: open,
    exclude_conditions: ['label=free'],
  });
  expect(made).toMatchObject({ reason: secret, public_reason: open });

  // Everybody can see a status.
  expect(acme.shown(web, 1)?.description).toContain(`until removed: ${open}`);

  // The page of the repository, and those of a held pull request (its own freeze, and of what shares its head) and of
  // one that the freeze lets go.
  const pages = [`/repos/${web}`, `/repos/${web}/pulls/1`, `/repos/${web}/pulls/3`];
  for (const page of pages) {
    for (const login of [null, 'mallory', 'rita'])
      expect(reads(await read(page, login)), page).toEqual([false, true]);
    for (const login of ['wendy', 'ada']) expect(reads(await read(page, login))[0], page).toBe(true);
  }
  expect(reads(await read(pages[0]!, 'ada'))).toEqual([true, true]);

  // Admins read both, by the API and in the audit log.
  const [listed] = await list(web);
  const explained = await acme.call('GET', `/v1/repos/${web}/pulls/1/freezes`, { as: acme.admin });
  const log = await acme.call('GET', `/v1/repos/${web}/logs`, { as: acme.admin });
  const both = { reason: secret, public_reason: open };
  expect(listed).toMatchObject(both);
  expect(explained.body.freezes[0].scheduled_freeze).toMatchObject(both);
  expect(explained.body.status.description).toContain(open);
  expect(log.body.events[0].metadata.scheduled_freeze_attributes).toMatchObject(both);

  // Also of one that is over.
  await acme.remove(web, made.id);
  expect(reads(await read(pages[0]!))).toEqual([false, true]);
  expect(reads(await read(pages[0]!, 'ada'))).toEqual([true, true]);
});

test('everybody who reads a private repository is an insider, and the status still shows the public reason', async () => {
  const vault = await acme.repository('vault', [{}], { private: true, roles: { rita: 'read' } });
  await acme.freeze(vault, { reason: secret, public_reason: open });
  expect(acme.shown(vault, 1)?.description).toContain(open);
  for (const page of [`/repos/${vault}`, `/repos/${vault}/pulls/1`])
    expect(reads(await read(page, 'rita'))[0]).toBe(true);
});

test('nobody is an insider while GitHub does not say so', async () => {
  const quiet = await acme.repository('quiet', [{}], { roles: { wendy: 'write' } });
  await acme.freeze(quiet, { reason: secret, public_reason: open });
  const wendy = new Visitor(acme);
  await wendy.signIn('wendy');
  acme.github.goDown();
  try {
    for (const page of [`/repos/${quiet}`, `/repos/${quiet}/pulls/1`])
      expect(reads((await wendy.open(page)).text)).toEqual([false, true]);
  } finally {
    acme.github.comeBack();
  }
});

test('it is set, changed and removed; without it, answers do not show it', async () => {
  const lib = await acme.repository('lib', [{}]);
  const fields = ['id', 'reason', 'start', 'end', 'timezone', 'matching_conditions', 'exclude_conditions'];
  const made = await acme.freeze(lib, { reason: secret, public_reason: null });
  expect(Object.keys(made)).toEqual(fields);
  const same = await acme.update(lib, made.id, { public_reason: null });
  expect(Object.keys(same)).toEqual(fields);
  expect(Object.keys((await list(lib))[0])).toEqual(fields);
  expect(acme.shown(lib, 1)?.description).toContain(secret);

  expect(await acme.update(lib, made.id, { public_reason: open })).toMatchObject({ public_reason: open });
  expect(acme.shown(lib, 1)?.description).toBe(`Frozen until removed: ${open}`);
  expect(await acme.update(lib, made.id, { reason: 'Another' })).toMatchObject({ public_reason: open });
  expect(acme.shown(lib, 1)?.description).toBe(`Frozen until removed: ${open}`);
  expect(await acme.update(lib, made.id, { public_reason: '' })).toMatchObject({ public_reason: '' });
  expect(acme.shown(lib, 1)?.description).toBe('Frozen until removed');

  expect(await acme.update(lib, made.id, { public_reason: null })).toMatchObject({ public_reason: null });
  expect((await list(lib))[0]).toMatchObject({ reason: 'Another', public_reason: null });
  expect(acme.shown(lib, 1)?.description).toBe('Frozen until removed: Another');
  expect(reads(await read(`/repos/${lib}`, 'ada'))).toEqual([true, true]);
});

describe('of a plan', () => {
  const plans = '/owners/acme/plans';
  const repositories = { include: ['one', 'two'] };
  const times = { start: null, end: '2026-03-01T20:00:00', timezone: 'UTC' };
  const planBy = async (more: object) =>
    (
      await acme.call('POST', '/v1/freeze_plans/acme', {
        as: acme.admin,
        body: { name: secret, reason: secret, public_reason: open, repositories, ...times, ...more },
      })
    ).body.id as string;
  beforeAll(async () => {
    for (const name of ['one', 'two']) await acme.repository(name, [{}]);
  });

  test('that nobody named: it is its name', async () => {
    const ada = new Visitor(acme);
    await ada.signIn('ada');
    const texts = { reason: secret, public_reason: open };
    const form = { ...texts, which: 'ticked', repository: ['one', 'two'], duration: '2h' };
    const { text } = await ada.send('/owners/acme/freeze', { ...form, step: 'preview' });
    const hidden = (name: string) => new RegExp(`name="${name}"\\s+value="([^"]*)"`).exec(text)![1]!;
    const keys = { previewed: hidden('previewed'), key: hidden('key') };
    const made = await ada.send('/owners/acme/freeze', { ...form, ...keys, step: 'freeze' });
    expect(made.status).toBe(303);
    const planned = { ...texts, include: 'one\ntwo', start: '2026-03-03T08:00', end: '2026-03-03T09:00' };
    const seen = await ada.send(`${plans}/new`, { ...planned, zone: 'UTC', step: 'preview' });
    const hiddenIn = (name: string) =>
      new RegExp(`name="${name}"\\s+value="([^"]*)"`).exec(seen.text)?.[1] ?? '';
    const more = { previewed: hiddenIn('previewed'), key: hiddenIn('key'), version: hiddenIn('version') };
    const saved = await ada.send(`${plans}/new`, { ...planned, zone: 'UTC', ...more, step: 'save' });
    expect(saved.status).toBe(303);
    await acme.quiet();
    const names = await acme.app.deps.db.freezePlan.findMany({ select: { name: true, reason: true } });
    expect(names).toEqual([
      { name: open, reason: secret },
      { name: open, reason: secret },
    ]);
  });

  test('that somebody named: outsiders read it in the place of the name, wherever that stands', async () => {
    const id = await planBy({ public_reason: 'Maintenance \u{1f9ca}'.repeat(10) });
    await acme.quiet();
    const feed = async (isPublic: boolean) => {
      const body = { public_text: isPublic };
      const { url } = (await acme.call('POST', '/v1/calendars/acme', { as: acme.admin, body })).body;
      const text = await (await fetch(acme.app.url + new URL(url).pathname)).text();
      return text.replaceAll(/\r\n[ \t]/g, '');
    };
    for (const after of ['ongoing', 'ended']) {
      if (after === 'ended') {
        const body = { delete_reason: 'Done' };
        await acme.call('POST', `/v1/freeze_plans/acme/${id}/delete`, { as: acme.admin, body });
        await acme.quiet();
      }
      for (const page of [plans, `${plans}/${id}`]) {
        for (const login of [null, 'mallory'])
          expect(reads(await read(page, login)), `${page}, ${after}`).toEqual([false, true]);
        expect(reads(await read(page, 'ada'))[0], `${page}, ${after}`).toBe(true);
      }
      expect(reads(await feed(true))).toEqual([false, true]);
      expect(await feed(false)).toContain(`Plan: ${secret}`);
    }
    const cut = `${'Maintenance \u{1f9ca}'.repeat(6)}M…`;
    expect(await read(`${plans}/${id}`)).toContain(`<title>${cut}`);
    expect(await feed(true)).toContain(`Plan: ${cut}`);
  });

  test('that repeats: also of what has no freezes yet', async () => {
    const recurrence = { rule: 'FREQ=MONTHLY' };
    await planBy({ recurrence, start: '2026-03-20T18:00:00', end: '2026-03-21T08:00:00' });
    const { url } = (await acme.call('POST', '/v1/calendars/acme', { as: acme.admin, body: {} })).body;
    const text = await (await fetch(acme.app.url + new URL(url).pathname)).text();
    expect(text.match(/Plan: Maintenance/g)!.length).toBeGreaterThan(10);
    expect(reads(text.replaceAll(/\r\n[ \t]/g, ''))).toEqual([false, true]);
  });
});

test.each([['x'.repeat(10_001)], [7], [['x']]])('%.20j is refused', async (value) => {
  const body = { reason: 'x', public_reason: value, start: null, timezone: 'UTC' };
  const answer = await acme.call('POST', '/v1/repos/acme/web/scheduled_freeze', { as: acme.admin, body });
  expect(answer.status).toBe(422);
  expect(answer.body.detail[0].loc).toEqual(['body', 'public_reason']);
});
