import { beforeAll, describe, expect, test } from 'vitest';
import { acmeForAll } from '../support/acme.ts';
import { Visitor, words } from '../support/visitor.ts';

// Who reads what of the audit log: a freezer and an approver read the log of the repositories where the role counts, and
// nothing else. And what one act made is one row.

const acme = acmeForAll();
const visitors = new Map<string, Visitor>();
const tokens = new Map<string, string>();
const people = ['ada', 'rita', 'fred', 'april', 'olga', 'wes', 'mallory'] as const;
const call = (method: string, path: string, body: object) =>
  acme.call(method, path, { as: acme.admin, body });

async function signIn(login: string): Promise<void> {
  const visitor = new Visitor(acme);
  await visitor.signIn(login);
  visitors.set(login, visitor);
}

beforeAll(async () => {
  for (const login of people) if (login !== 'ada') acme.github.addUser(login);
  const all = { rita: 'read', fred: 'read', april: 'read', wes: 'write' } as const;
  await acme.repository('web', [{}], { roles: { ...all, rita: 'admin' } });
  await acme.repository('api', [{}], { roles: all });
  await acme.repository('vault', [{}], { private: true, roles: { olga: 'read' } });
  for (const login of people) {
    await signIn(login);
    tokens.set(login, acme.github.addToken(login, { kind: 'classic', scopes: ['repo', 'admin:org'] }));
  }
  await call('PATCH', '/v1/settings/acme', { freezers: ['olga'], approvers: [] });
  await call('PATCH', '/v1/repos/acme/web/settings', { freezers: ['fred', 'olga'], approvers: ['april'] });
  for (const name of ['web', 'api', 'vault'])
    await acme.freeze(`acme/${name}`, { reason: `Release of ${name}` });
  await acme.setProducts('acme/web', ['merge_queue', 'merge_protections']);
  await call('POST', '/v1/freeze_plans/acme', {
    ...{ name: 'Hidden plan', reason: 'Rest', start: '2026-12-24T18:00:00', timezone: 'UTC' },
    repositories: { include: ['vault'] },
  });
  await call('POST', '/v1/applications/acme', { name: 'hidden key', scope: 'ci' });
  await call('POST', '/v1/webhooks/acme', { url: 'https://hooks.example/x', kind: 'slack' });
  await acme.quiet();
});

/** Each event by what a reader sees of it on a page, and of its metadata with the API. */
const events = {
  'a freeze of web': 'Release of web',
  'a freeze of api': 'Release of api',
  'a freeze of vault': 'Release of vault',
  'settings of web': /changed the settings|repository_settings\.update/,
  'settings of acme': /changed the default settings|owner_settings\.update/,
  'a key': 'hidden key',
  'a webhook': /created a webhook|webhook\.create/,
  'a plan': 'Hidden plan',
};
type Event = keyof typeof events;
const every = Object.keys(events) as Event[];
const ofWeb: Event[] = ['a freeze of web', 'settings of web'];

const seenIn = (text: string) =>
  every.filter((event) =>
    typeof events[event] === 'string' ? text.includes(events[event]) : events[event].test(text),
  );
const log = (text: string) => /<ol class="log">([^]*)<\/ol>/.exec(text)?.[1] ?? '';

/** What each person reads: null where the answer is a refusal. */
const readers: [login: string, web: Event[] | null, api: Event[] | null, owner: Event[] | null][] = [
  ['ada', ofWeb, ['a freeze of api'], every],
  ['rita', ofWeb, null, ofWeb],
  ['fred', ['a freeze of web'], null, ['a freeze of web']],
  ['april', ['a freeze of web'], null, ['a freeze of web']],
  // Freezer of the owner, and so where no repository says otherwise.
  [
    'olga',
    ['a freeze of web'],
    ['a freeze of api'],
    ['a freeze of web', 'a freeze of api', 'a freeze of vault'],
  ],
  ['wes', null, null, null],
  ['mallory', null, null, null],
];

test('a freezer is not sent to an admin to end a freeze', async () => {
  const seen = async (login: string) => words(await visitors.get(login)!.open('/repos/acme/web/pulls/1'));
  expect(await seen('fred')).toContain('Set an end or delete it on the page of the freeze');
  for (const login of ['april', 'wes'])
    expect(await seen(login)).toContain(
      'Ask an admin of acme/web or a freezer (fred, olga) to set an end or delete it',
    );
});

describe.each(readers)('%s', (login, web, api, owner) => {
  test.each([
    ['/repos/acme/web/audit', web],
    ['/repos/acme/api/audit', api],
    ['/owners/acme/audit', owner],
  ])('on the page %s', async (path, expected) => {
    const visitor = visitors.get(login)!;
    const page = await visitor.open(path);
    expect(page.status, words(page)).toBe(expected ? 200 : 403);
    expect(seenIn(log(page.text)).toSorted()).toEqual((expected ?? []).toSorted());
    for (const format of path.startsWith('/owners') ? ['csv', 'jsonl'] : ['csv']) {
      const file = await visitor.open(`${path}?format=${format}`);
      expect(seenIn(file.text).toSorted(), format).toEqual((expected ?? []).toSorted());
    }
  });

  test.each([
    ['/repos/acme/web', web],
    ['/repos/acme/api', api],
  ])('and the page %s links to it', async (path, expected) => {
    const { text } = await visitors.get(login)!.open(path);
    const main = text.slice(text.indexOf('<main'));
    expect(main.includes(`href="${path}/audit"`)).toBe(expected !== null);
  });

  test.each([
    ['/v1/repos/acme/web/logs', web],
    ['/v1/repos/acme/api/logs', api],
  ])('with the API, GET %s', async (path, expected) => {
    const answer = await acme.call('GET', `${path}?per_page=100`, { as: tokens.get(login)! });
    expect(answer.status, answer.text).toBe(expected ? 200 : 403);
    expect(seenIn(JSON.stringify(answer.body.events ?? [])).toSorted()).toEqual((expected ?? []).toSorted());
  });

  test('and the owner’s own log only as an admin of the owner', async () => {
    for (const query of ['', '?repositories=all']) {
      const { status } = await acme.call('GET', `/v1/logs/acme${query}`, { as: tokens.get(login)! });
      expect(status).toBe(login === 'ada' ? 200 : 403);
    }
  });

  test('the bar leads there if the page opens', async () => {
    for (const path of ['/', '/repos/acme', '/repos/acme/web', '/repos/acme/api', '/owners/acme/calendar']) {
      const bar = /<nav class="tabs".*?<\/nav>/s.exec((await visitors.get(login)!.open(path)).text)?.[0];
      expect(bar?.includes('href="/owners/acme/audit"') ?? false, path).toBe(owner !== null);
    }
  });
});

test('a repository is chosen among those where the role counts', async () => {
  const of = async (name: string) =>
    seenIn(log((await visitors.get('olga')!.open(`/owners/acme/audit?repository=${name}`)).text));
  expect(await of('API')).toEqual(['a freeze of api']);
  const fred = await visitors.get('fred')!.open('/owners/acme/audit?repository=vault');
  expect(seenIn(log(fred.text))).toEqual([]);
  expect(fred.text).not.toContain('<option value="vault"');
});

describe('what one act made is one row', () => {
  const rows = (text: string) =>
    [...log(text).matchAll(/<li>([^]*?)<\/li>/g)].map(([, row]) => ({
      text: words({ text: row!.replace(/<details>[^]*?<\/details>/g, '') }).trim(),
      opens: [...row!.matchAll(/<tr>([^]*?)<\/tr>/g)].map(([, each]) => words({ text: each! }).trim()),
    }));
  const audit = async (query = '', login = 'ada', path = '/owners/acme/audit') =>
    visitors.get(login)!.open(`${path}?${query}`);
  const hrefOf = (text: string, name: string) =>
    new RegExp(`<a\\s+href="([^"]*)"[^>]*>\\s*${name}\\s*</a`).exec(text)?.[1]?.replaceAll('&amp;', '&');
  /** Sessions are over by then. */
  const at = async (time: string) => {
    await acme.advanceTo(time);
    for (const login of ['ada', 'april']) await signIn(login);
  };
  let plan: string;

  test('a plan and its freezes, with their dates; the download has each of them', async () => {
    await at('2026-03-03T10:00:00Z');
    const { body } = await call('POST', '/v1/freeze_plans/acme', {
      ...{ name: 'Daily', reason: 'Daily', start: '2026-03-04T18:00:00', end: '2026-03-04T19:00:00' },
      ...{ timezone: 'UTC', recurrence: { rule: 'FREQ=DAILY', except: [], until: '2026-03-23' } },
      repositories: { include: ['web', 'api', 'vault'] },
    });
    plan = body.id;
    await acme.quiet();
    const made = await acme.app.deps.db.freeze.count({ where: { planId: plan } });
    expect(made).toBeGreaterThan(50);
    const [row] = rows((await audit()).text);
    expect(row!.text).toMatch(/admin key of test.* created a plan: Daily/);
    expect(words({ text: (await audit()).text })).toContain(`${made} freezes`);
    expect(row!.opens).toHaveLength(made);
    expect(row!.opens.filter((each) => each.startsWith('acme/vault'))[0]).toMatch(
      /acme\/vault Wed 4 Mar, 18:00 – Wed 4 Mar, 19:00/,
    );
    const csv = (await audit('format=csv')).text;
    expect(csv.split('\r\n').filter((line) => /scheduled_freeze\.create.*Daily/.test(line))).toHaveLength(
      made,
    );
  });

  test('no act is on two pages, on the way on and back', async () => {
    await at('2026-03-03T11:00:00Z');
    const first = await audit();
    const [long] = rows(first.text).filter(({ text }) => text.includes('Daily'));
    expect(long!.opens.length).toBeGreaterThan(50);
    const second = await audit(hrefOf(first.text, 'Older events')!.slice(1));
    expect(rows(second.text).filter(({ text }) => text.includes('Daily'))).toEqual([]);
    const back = await audit(hrefOf(second.text, 'Newer events')!.slice(1));
    expect(rows(back.text)).toContainEqual(long);
  });

  test('freezes of a plan that one press ended, and those of an approver’s repository only', async () => {
    await at('2026-03-04T18:30:00Z');
    const ada = visitors.get('ada')!;
    const ongoing = `freezes ${plan}`;
    const ended = await ada.send('/owners/acme/unfreeze', { ongoing, delete_reason: 'Over' });
    expect(ended.status, ended.text).toBe(303);
    await acme.quiet();
    const [row] = rows((await audit('by=ada')).text);
    expect(row!.text).toMatch(/ada (changed|deleted) 3 freezes: Daily/);
    expect(row!.opens.map((each) => each.split(' ')[0]).toSorted()).toEqual([
      'acme/api',
      'acme/vault',
      'acme/web',
    ]);
    const [his] = rows((await audit('by=ada', 'april')).text);
    expect(his!.text).toMatch(/ada (changed|deleted) a freeze: Daily/);
    expect(his!.opens).toEqual([]);
  });

  test('what scripts do one by one stays one by one', async () => {
    await at('2026-03-05T10:00:00Z');
    for (const reason of ['One', 'Two']) await acme.freeze('acme/api', { reason });
    const all = rows((await audit()).text).map(({ text }) => text);
    for (const reason of ['One', 'Two'])
      expect(all.filter((text) => text.endsWith(`created a freeze: ${reason}`))).toHaveLength(1);
  });
});
