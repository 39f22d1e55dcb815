import { beforeAll, expect, inject, test } from 'vitest';
import { acmeForAll } from '../support/acme.ts';
import { expectAtMost, fewestOf, statementsDuring } from '../support/statements.ts';
import { Visitor, words } from '../support/visitor.ts';

// Who did what to which freeze: the audit log of an owner and of a repository, filtered, paged and downloaded.

const acme = acmeForAll();
const visitors = new Map<string, Visitor>();
const open = (login: string, path: string) => visitors.get(login)!.open(path);
const owner = '/owners/acme/audit';
const web = '/repos/acme/web/audit';
const hour = 3_600_000;

/** Each event of a page in one line. */
const rows = (text: string): string[] =>
  [...(/<ol class="log">([^]*)<\/ol>/.exec(text)?.[1]?.matchAll(/<li>([^]*?)<\/li>/g) ?? [])].map(([, row]) =>
    words({ text: row!.replace(/<details>[^]*?<\/details>/, '') }).trim(),
  );
const hrefOf = (text: string, name: string) =>
  new RegExp(`<a\\s+href="([^"]*)"[^>]*>\\s*${name}\\s*</a`).exec(text)?.[1]?.replaceAll('&amp;', '&');
let freeze: { id: string };
let plan: { id: string };

beforeAll(async () => {
  for (const login of ['rita', 'wes', 'mallory']) acme.github.addUser(login);
  await acme.repository('web', [{}], { roles: { rita: 'admin', wes: 'write' } });
  await acme.repository('vault', [{}], { private: true });
  for (const login of ['ada', 'rita', 'wes', 'mallory']) {
    const visitor = new Visitor(acme);
    await visitor.signIn(login);
    visitors.set(login, visitor);
  }
  visitors.set('nobody', new Visitor(acme));
  // A key that ada created, and what it did an old day ago.
  const made = await acme.call('POST', '/v1/applications/acme', {
    as: acme.github.addToken('ada', { kind: 'classic', scopes: ['repo', 'admin:org'] }),
    body: { name: 'tooling', scope: 'admin' },
  });
  expect(made.status, made.text).toBe(201);
  const body = { reason: 'Books', start: null, end: '2026-03-20T18:00:00', timezone: 'UTC' };
  const old = await acme.call('POST', '/v1/repos/acme/vault/scheduled_freeze', {
    as: made.body.secret,
    body,
  });
  expect(old.status, old.text).toBe(201);
  await acme.advanceTo(new Date(acme.clock.now() + 9 * 24 * hour));
  freeze = await acme.freeze('acme/web', { reason: 'Release', end: '2026-03-27T18:00:00' });
  await acme.update('acme/web', freeze.id, { end: '2026-03-28T08:00:00' });
  const planned = await acme.call('POST', '/v1/freeze_plans/acme', {
    as: made.body.secret,
    body: {
      name: 'Year end',
      reason: 'Year end',
      repositories: { include: ['vault'] },
      start: '2026-12-24T18:00:00',
      end: '2026-12-27T18:00:00',
      timezone: 'UTC',
    },
  });
  expect(planned.status, planned.text).toBe(201);
  plan = planned.body;
  await acme.quiet();
  for (const login of ['ada', 'rita', 'wes', 'mallory']) {
    const visitor = new Visitor(acme);
    await visitor.signIn(login);
    visitors.set(login, visitor);
  }
});

test('a change is one line with the values before and after, and leads to the freeze', async () => {
  const { status, text } = await open('rita', web);
  expect(status).toBe(200);
  const [row] = rows(text);
  expect(row).toMatch(
    /· API the application key admin key of test changed a freeze: Release End: .*Fri 27 Mar, 18:00 .*→ .*Sat 28 Mar, 08:00$/,
  );
  expect(text).toContain(`href="/repos/acme/web/freezes/${freeze.id}"`);
});

test('the owner’s page has all repositories and the owner’s own events, last week at first', async () => {
  const { text } = await open('ada', owner);
  const all = rows(text);
  expect(all.some((row) => row.includes('acme/web') && row.includes('changed a freeze'))).toBe(true);
  expect(all.some((row) => row.includes('the application key tooling of ada created a plan: Year end'))).toBe(
    true,
  );
  expect(text).toContain(`href="/owners/acme/plans/${plan.id}"`);
  expect(all.some((row) => row.includes('Books'))).toBe(false);
  const month = await open('ada', `${owner}${hrefOf(text, 'Last 30 days')}`);
  expect(rows(month.text).some((row) => row.includes('created a freeze: Books'))).toBe(true);
});

test('filters by person, also through keys, by repository, type and days', async () => {
  const read = async (query: string) => rows((await open('ada', `${owner}?days=30&${query}`)).text);
  const byAda = await read('by=ADA');
  expect(byAda.length).toBeGreaterThan(2);
  expect(byAda.every((row) => /ada|tooling of ada/.test(row))).toBe(true);
  expect(byAda.some((row) => row.includes('the application key tooling of ada created a freeze'))).toBe(true);
  const byKey = await read('by=tooling');
  expect(byKey.every((row) => row.includes('tooling of ada'))).toBe(true);
  expect(await read('by=nobody')).toEqual([]);
  const ofVault = await read('repository=Vault');
  expect(ofVault.length).toBeGreaterThan(0);
  expect(ofVault.every((row) => row.includes('acme/vault'))).toBe(true);
  expect(await read('repository=other')).toEqual([]);
  expect(await read('type=scheduled_freeze.update')).toHaveLength(1);
  expect(await read('type=freeze_plan.create')).toHaveLength(1);
  const byPlan = await read('trigger=plan');
  expect(byPlan.map((row) => /· (\w+) .* created a freeze: (.*)/.exec(row)?.slice(1))).toEqual([
    ['Plan', 'Year end'],
  ]);
  expect(await read('trigger=email')).toEqual(await read(''));
  expect((await read('from=2026-03-01&to=2026-03-01')).some((row) => row.includes('Books'))).toBe(true);
  expect((await read('from=2026-03-02&to=2026-03-09')).filter((row) => row.includes('a freeze'))).toEqual([]);
  expect(await read('from=2026-03-09&to=2026-03-02')).toEqual([]);
});

test('pages lead on and back, and a made-up cursor to the first page', async () => {
  const { id: repositoryId, accountId } = await acme.app.deps.db.repository.findFirstOrThrow({
    where: { nameKey: 'vault' },
  });
  await acme.app.deps.db.auditEvent.createMany({
    data: Array.from({ length: 60 }, (_, index) => ({
      receivedAt: new Date(acme.clock.now()),
      accountId,
      repositoryId,
      repository: 'acme/vault',
      type: 'product.enabled',
      actorKey: '@mallory',
      outcome: 'success',
      trigger: 'api',
      metadata: { product: `merge_queue ${index}`, enabled_by: { type: 'user', id: 9, name: 'Mallory' } },
    })),
  });
  const first = await open('ada', `${owner}?by=mallory`);
  expect(rows(first.text)).toHaveLength(50);
  const second = await open('ada', `${owner}${hrefOf(first.text, 'Older events')}`);
  expect(rows(second.text)).toHaveLength(10);
  const back = await open('ada', `${owner}${hrefOf(second.text, 'Newer events')}`);
  expect(rows(back.text)).toEqual(rows(first.text));
  const odd = await open('ada', `${owner}?by=mallory&cursor=x`);
  expect(rows(odd.text)).toEqual(rows(first.text));
  expect(odd.text).toContain('This cursor was not made by this service');
});

test('downloads have what the filters select, beyond the page, as CSV and as JSON lines', async () => {
  const { text } = await open('ada', `${owner}?by=mallory`);
  const csv = await open('ada', `${owner}${hrefOf(text, 'Download CSV')}`);
  expect(csv.status).toBe(200);
  expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present');
  expect(csv.headers.get('content-disposition')).toBe('attachment; filename="audit-acme-2026-03-10.csv"');
  expect(csv.headers.get('cache-control')).toContain('no-store');
  const lines = csv.text.trimEnd().split('\r\n');
  expect(lines).toHaveLength(61);
  expect(lines[0]).toContain('received_at,actor,on_behalf_of');
  const jsonl = await open('ada', `${owner}${hrefOf(text, 'Download JSON lines')}`);
  expect(jsonl.headers.get('content-type')).toBe('application/jsonl; charset=utf-8');
  const events = jsonl.text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(events).toHaveLength(60);
  expect(events[0]).toMatchObject({ repository: 'acme/vault', type: 'product.enabled' });
  const own = await open('rita', `${web}?format=csv`);
  expect(own.headers.get('content-disposition')).toContain('audit-acme-web-2026-03-10.csv');
});

test('a person who is an admin of some repositories sees those alone', async () => {
  const { status, text } = await open('rita', `${owner}?days=30`);
  expect(status).toBe(200);
  expect(rows(text).length).toBeGreaterThan(0);
  expect(rows(text).every((row) => row.includes('acme/web'))).toBe(true);
  expect(text).not.toContain('vault');
  expect(text).not.toContain('Year end');
  expect(rows((await open('rita', `${owner}?days=30&repository=vault`)).text)).toEqual([]);
});

test.each([
  ['wes', owner, 403],
  ['wes', web, 403],
  ['mallory', owner, 403],
  ['mallory', web, 403],
  ['mallory', '/repos/acme/vault/audit', 404],
  ['nobody', owner, 302],
  ['nobody', web, 302],
])('%s does not see %s: %i', async (login, path, status) => {
  for (const query of ['', '?format=csv', '?format=jsonl']) {
    const seen = await open(login, path + query);
    expect(seen.status).toBe(status);
    expect(seen.text).not.toContain('Release');
    expect(seen.headers.get('content-disposition')).toBeNull();
  }
});

test('the repository’s page has the latest events, and for admins the way to all', async () => {
  const link = `<a href="${web}">Audit log</a>`;
  expect((await open('rita', '/repos/acme/web')).text).toContain(link);
  const { text } = await open('wes', '/repos/acme/web');
  expect(text).toContain('Latest events');
  expect(text).not.toContain(link);
});

test.each([
  ['ada', true, true],
  ['rita', true, false],
  ['wes', false, false],
  ['nobody', false, false],
])(
  'the bar of %s leads only to what they can open: audit %s, settings %s',
  async (login, audit, settings) => {
    for (const path of ['/repos/acme', '/owners/acme/plans', '/repos/acme/web', '/repos/acme/web/pulls/1']) {
      const { text } = await open(login, path);
      const bar = /<nav class="tabs".*?<\/nav>/s.exec(text)![0];
      expect(bar).toContain('href="/owners/acme/plans"');
      const shown = [owner, '/owners/acme/settings'].map((href) => bar.includes(`href="${href}"`));
      expect(shown, path).toEqual([audit, settings]);
    }
  },
);

test.skipIf(!inject('postgresUrl'))('with 2,000 repositories it takes no more statements', async () => {
  const count = () => fewestOf(() => statementsDuring(() => open('ada', owner)));
  const before = await count();
  const { accountId, installationId } = await acme.app.deps.db.repository.findFirstOrThrow({
    where: { nameKey: 'web' },
  });
  await acme.app.deps.db.repository.createMany({
    data: Array.from({ length: 2000 }, (_, index) => ({
      id: BigInt(5_000_000 + index),
      accountId,
      installationId,
      name: `many-${index}`,
      nameKey: `many-${index}`,
      private: true,
      archived: false,
      products: [],
      seenAt: new Date(acme.clock.now()),
    })),
  });
  expectAtMost(before.length, await count());
});
