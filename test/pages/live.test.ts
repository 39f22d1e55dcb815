import { beforeAll, describe, expect, inject, test } from 'vitest';
import { type ToldChange, Changes } from '../../src/database/changes.ts';
import { concerns } from '../../src/pages/live.ts';
import { acmeForAll } from '../support/acme.ts';
import { expectAtMost, fewestOf, statementsDuring } from '../support/statements.ts';
import { Visitor } from '../support/visitor.ts';

// Pages update themselves: a page names its stream, and the stream says when to ask for the page again.

const acme = acmeForAll();
const visitors = new Map<string, Visitor>();
let plan: string;
let freeze: string;

beforeAll(async () => {
  acme.github.addUser('mallory');
  await acme.repository('web', [{}, {}], { roles: { bob: 'write' } });
  await acme.repository('vault', [{}], { private: true });
  for (const login of ['ada', 'bob', 'mallory']) {
    const visitor = new Visitor(acme);
    await visitor.signIn(login);
    visitors.set(login, visitor);
  }
  ({ id: freeze } = await acme.freeze('acme/web', { reason: 'Is ongoing' }));
  const body = {
    ...{ name: 'Year end', reason: 'Year end', repositories: { include: ['web'] } },
    ...{ start: '2026-12-24T00:00:00', end: '2027-01-02T00:00:00', timezone: 'UTC' },
  };
  plan = (await acme.call('POST', '/v1/freeze_plans/acme', { as: acme.admin, body })).body.id;
  await acme.quiet();
});

const streamOf = (text: string): string | undefined =>
  /<main\s[^>]*data-live="([^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&');

type Stream = {
  next(): Promise<string>;
  /** When the last event was sent. */
  lastId(): number;
  close(): Promise<void>;
  status: number;
  type: string | null;
};

/** The events of a stream, one by one: a test ends when the one that it waits for is there. */
async function follow(login: string, path: string, headers: Record<string, string> = {}): Promise<Stream> {
  const Cookie = [...visitors.get(login)!.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const answer = await fetch(acme.app.url + path, { headers: { Cookie, ...headers }, redirect: 'manual' });
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  let id = 0;
  return {
    status: answer.status,
    type: answer.headers.get('content-type'),
    async next() {
      while (!rest.includes('\n\n')) {
        const { value, done } = await reader.read();
        if (done) return 'closed';
        rest += value;
      }
      const [event, ...more] = rest.split('\n\n') as [string];
      rest = more.join('\n\n');
      id = Number(/id: (\d+)/.exec(event)?.[1]);
      return /event: (\w+)/.exec(event)?.[1] ?? event;
    },
    lastId: () => id,
    close: () => reader.cancel(),
  };
}

/** What happened before is not told any more. */
const later = () => acme.advanceTo(new Date(acme.clock.now() + 3_000));

async function followPage(login: string, path: string): Promise<Stream> {
  const seen = await visitors.get(login)!.open(path);
  expect(seen.status).toBe(200);
  const stream = await follow(login, streamOf(seen.text)!);
  expect(stream.type).toContain('text/event-stream');
  expect(await stream.next()).toBe('begin');
  return stream;
}

const pages: [page: string, path: () => string][] = [
  ['the first page', () => '/'],
  ['the overview', () => '/repos/acme'],
  ['the list of exemptions', () => '/owners/acme/exemptions'],
  ['the list of plans', () => '/owners/acme/plans'],
  ['a plan', () => `/owners/acme/plans/${plan}`],
  ['a repository', () => '/repos/acme/web'],
  ['a freeze', () => `/repos/acme/web/freezes/${freeze}`],
  ['a pull request', () => '/repos/acme/web/pulls/1'],
];

test('every page that shows what is so now hears of a freeze that somebody makes elsewhere', async () => {
  await later();
  const streams = await Promise.all(pages.map(([, path]) => followPage('ada', path())));
  const { id } = await acme.freeze('acme/web', { reason: 'Made elsewhere' });
  const heard = await Promise.all(streams.map((stream) => stream.next()));
  expect(pages.filter((_, index) => heard[index] !== 'changed')).toEqual([]);
  await Promise.all(streams.map((stream) => stream.close()));
  await acme.remove('acme/web', id);
});

test('a pull request hears of its own push, and not of another one', async () => {
  await later();
  const stream = await followPage('ada', '/repos/acme/web/pulls/1');
  const other = await followPage('ada', '/repos/acme/web/pulls/2');
  acme.github.push('acme/web', 1);
  await acme.quiet();
  expect(await stream.next()).toBe('changed');
  await later();
  const told = acme.clock.now();
  acme.github.push('acme/web', 2);
  await acme.quiet();
  expect(await other.next()).toBe('changed');
  expect(other.lastId(), 'not of the first push').toBeGreaterThanOrEqual(told);
  await Promise.all([stream.close(), other.close()]);
});

test('nobody hears what happens in a repository that they cannot read', async () => {
  const bobs = {
    isAdmin: false,
    account: { id: 1n },
    repositories: [{ id: 7n }],
  } as unknown as Parameters<typeof concerns>[0][number];
  const heard = (change: ToldChange, isAdmin = false) => concerns([{ ...bobs, isAdmin }])(change);
  expect(heard({ repositoryId: 7n, about: null })).toBe(true);
  expect(heard({ repositoryId: 8n, about: null })).toBe(false);
  expect([heard({ accountId: 1n }), heard({ accountId: 1n }, true), heard({ accountId: 2n }, true)]).toEqual([
    ...[false, true, false],
  ]);
  const stream = await follow('mallory', '/repos/acme/vault/live?since=0');
  expect(stream.status).toBe(404);
  await stream.close();
});

test('what changed between a page and its stream is told at once, and nothing is told twice', async () => {
  await later();
  const path = streamOf((await visitors.get('ada')!.open('/repos/acme')).text)!;
  const { id } = await acme.freeze('acme/web', { reason: 'Meanwhile' });
  const late = await follow('ada', path);
  expect([await late.next(), await late.next()]).toEqual(['begin', 'changed']);
  await late.close();
  await later();
  // A browser that comes back says up to when it has heard.
  const again = await follow('ada', path, { 'Last-Event-ID': String(acme.clock.now()) });
  expect(await again.next()).toBe('begin');
  await acme.remove('acme/web', id);
  expect(await again.next()).toBe('changed');
  await again.close();
});

test('a form that was refused stays, so its page has no stream', async () => {
  const path = '/repos/acme/web/pulls/1';
  const { text, status } = await visitors.get('bob')!.send(`${path}/exemptions`, { reason: '', hours: '24' });
  expect(status).toBe(422);
  expect(streamOf(text)).toBeUndefined();
});

test('the tab says whether something is frozen', async () => {
  const tab = async (path: string) => {
    const { text } = await visitors.get('ada')!.open(path);
    return [/<title>(.*?)<\/title>/.exec(text)?.[1], /rel="icon"[^>]*\/(icon[a-z-]*)\.svg/.exec(text)?.[1]];
  };
  expect(await tab('/')).toEqual(['Frozen · Home · Holdfast', 'icon-frozen']);
  expect(await tab('/repos/acme')).toEqual(['Frozen · acme · Holdfast', 'icon-frozen']);
  expect(await tab('/repos/acme/web')).toEqual(['Frozen · acme/web · Holdfast', 'icon-frozen']);
  expect(await tab('/repos/acme/web/pulls/1')).toEqual(['Blocked · acme/web #1 · Holdfast', 'icon-frozen']);
  expect(await tab('/repos/acme/vault')).toEqual(['acme/vault · Holdfast', 'icon']);
  expect(await tab('/repos/acme/vault/pulls/1')).toEqual(['acme/vault #1 · Holdfast', 'icon']);
  const { id } = await acme.freeze('acme/vault', { holds: ['deployments'] });
  expect(await tab('/repos/acme/vault')).toEqual([
    'Deployments frozen · acme/vault · Holdfast',
    'icon-deployments-frozen',
  ]);
  await acme.remove('acme/vault', id);
});

test('another process on the same database hears of it too, and of what it may have missed', async () => {
  const hears: ((message: string | null) => void)[] = [];
  const listen = async (_: string, hear: (message: string | null) => void) => {
    hears.push(hear);
    hear(null);
    return { close: async () => {} };
  };
  const changes = new Changes({ listen }, acme.clock);
  const heard: string[] = [];
  const now = acme.clock.now();
  const wants = (change: object) => 'repositoryId' in change && change.repositoryId === 7n;
  await changes.follow(wants, now, () => heard.push('told'));
  hears[0]!('r7 5');
  hears[0]!('r8');
  hears[0]!('a7');
  expect(heard).toEqual(['told']);
  // It listens again after a loss.
  hears[0]!(null);
  expect(heard).toEqual(['told', 'told']);
  await changes.follow(wants, now - 60_000, () => heard.push('was deaf then'));
  expect(heard.at(-1)).toBe('was deaf then');
});

describe.skipIf(!inject('postgresUrl'))('statements (PostgreSQL)', () => {
  test('readers who follow cost none at a change', async () => {
    let streams: Stream[] = [];
    const all = async () => {
      for (const heard of await Promise.all(streams.map((stream) => stream.next())))
        expect(heard).toBe('changed');
    };
    const change = async () => {
      const { id } = await acme.freeze('acme/web');
      await all();
      await acme.remove('acme/web', id);
      await all();
    };
    await change();
    await later();
    const fewest = () => fewestOf(() => statementsDuring(change));
    const alone = await fewest();
    streams = await Promise.all(Array.from({ length: 25 }, () => followPage('ada', '/repos/acme')));
    // How many jobs of the change run together differs by a few statements; one for each reader would be 25.
    expectAtMost(alone.length + streams.length - 1, await fewest());
    const [row] = await acme.app.deps.db.$queryRaw<[{ count: bigint }]>`
      SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN %'`;
    expect(row.count, 'the workers and the pages listen on one connection').toBe(1n);
    await Promise.all(streams.map((stream) => stream.close()));
  });
});
