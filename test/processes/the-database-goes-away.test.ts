// The service as a process of its own, on a PostgreSQL that it reaches by a name and through networks that fail.
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/github.ts';
import { freePort } from '../support/free-port.ts';
import { type Names, openWay, startNames, type Way } from '../support/cut-network.ts';
import { hasPgbouncer, type Pooler, startPgbouncer } from '../support/pgbouncer.ts';
import { canMakeNamespaces, openKernelWay } from '../support/network-namespace.ts';
import { administer, databaseUrl } from '../support/postgres.ts';
import { environmentFor, type ServiceProcess, startProcess } from '../support/process.ts';

const server = inject('postgresUrl');
const web = 'acme/web';
/** Milliseconds within which whoever asks is answered, while the database is away. */
const answeredIn = 6_000;
/** Milliseconds after the end of a failure until all is right. */
const rightIn = 15_000;
/** Milliseconds after SIGTERM. */
const stoppedIn = 10_000;

type Answer = { status: number; retryAfter: string | null; milliseconds: number; body: unknown };

describe.skipIf(!server)('the database goes away while the service runs', () => {
  const name = `holdfast_away_${randomBytes(6).toString('hex')}`;
  let github: Sandbox;
  let folder: string;
  let names: Names;
  let ways: Way[];
  let pooler: Pooler | null = null;
  let service: ServiceProcess;
  let admin: string;

  const urlFor = () => {
    const url = new URL(databaseUrl(server, name));
    url.username = name;
    url.host = `db.test:${ways[0]!.port}`;
    return url.href;
  };
  const pointToFirst = () => names.point('db.test', ways[0]!.address);
  const sql = (text: string) => administer(databaseUrl(server, name), text);
  const breakSessions = () =>
    sql(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}' AND pid <> pg_backend_pid()`,
    );

  async function ask(method: string, path: string, body?: object): Promise<Answer> {
    const since = performance.now();
    const response = await fetch(`${await service.listening}${path}`, {
      method,
      headers: { Authorization: `Bearer ${admin}`, 'Content-Type': 'application/json' },
      body: body && JSON.stringify(body),
    });
    const text = await response.text();
    const milliseconds = performance.now() - since;
    const retryAfter = response.headers.get('retry-after');
    return { status: response.status, retryAfter, milliseconds, body: text ? JSON.parse(text) : null };
  }
  const list = () => ask('GET', `/v1/repos/${web}/scheduled_freeze`);
  const create = () =>
    ask('POST', `/v1/repos/${web}/scheduled_freeze`, {
      reason: 'Release',
      start: '2999-01-01T00:00:00',
      timezone: 'UTC',
    });
  const ready = () => ask('GET', '/readyz');
  const some = (count: number) => Promise.all(Array.from({ length: count }, () => [list(), create()]).flat());
  const kindsInLog = () =>
    service
      .output()
      .split('\n')
      .flatMap((line) => /"database":"(\w+)"/.exec(line)?.[1] ?? []);

  /** Asks in any order until a time, and keeps what was answered. */
  async function askUntil(end: number): Promise<Answer[]> {
    const answers: Answer[] = [];
    const one = async () => {
      while (performance.now() < end) {
        answers.push(...(await Promise.all([list(), create()])));
        await delay(200);
      }
    };
    await Promise.all([one(), one(), one()]);
    return answers;
  }

  function expectHonest(answers: Answer[]): void {
    const late = answers.filter(({ milliseconds }) => milliseconds > answeredIn);
    expect(late, 'answers that came late').toEqual([]);
    for (const { status, retryAfter } of answers)
      if (![200, 201].includes(status)) expect([status, retryAfter]).toEqual([503, '5']);
    expect(answers.filter(({ status }) => status === 503).length).toBeGreaterThan(0);
  }

  /** Everything works: on every connection, and a push gets its status. */
  async function right(since: number): Promise<void> {
    const isRight = async () => {
      const answers = await Promise.all([ready(), ...(await some(1))]);
      return answers.every(({ status }) => status < 300);
    };
    while (!(await isRight())) {
      if (performance.now() - since > rightIn) expect((await ready()).body).toBe('ready in time');
      await delay(200);
    }
    expect((await some(20)).filter(({ status }) => status >= 300)).toEqual([]);
    github.push(web, 1);
    await github.waitForStatus(web, 1, 'success', { timeoutMs: rightIn - (performance.now() - since) });
  }

  async function start(): Promise<void> {
    service = startProcess(
      { ...environmentFor(github), DATABASE_URL: urlFor(), NODE_OPTIONS: names.options },
      folder,
    );
    github.deliverTo(`${await service.listening}/api/github/webhooks`);
  }

  async function stop(): Promise<{ code: number | string; milliseconds: number }> {
    const since = performance.now();
    service.child.kill('SIGTERM');
    const code = await service.ended;
    return { code, milliseconds: performance.now() - since };
  }

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'holdfast-away-'));
    await administer(server, `CREATE ROLE ${name} LOGIN`);
    await administer(server, `CREATE DATABASE ${name} OWNER ${name}`);
    const { hostname: host, port } = new URL(server);
    const to = { host, port: Number(port) };
    const first = canMakeNamespaces()
      ? await openKernelWay(to, await freePort(), folder)
      : await openWay(to, '127.0.0.1');
    ways = [first, await openWay(to, '127.0.0.2', first.port)];
    if (hasPgbouncer) {
      pooler = await startPgbouncer({ ...to, user: name }, folder);
      ways.push(await openWay({ host: '127.0.0.1', port: pooler.port }, '127.0.0.3', first.port));
    }
    names = await startNames(folder);
    await pointToFirst();
    github = await startSandbox();
    admin = github.addUser('ada').token;
    github.addOrganization('acme', { admins: ['ada'] });
    github.addRepository(web, { protect: { main: ['holdfast/freeze'] } });
    github.openPullRequest(web, { author: 'ada' });
    await start();
    github.install('acme');
    await github.waitForStatus(web, 1, 'success', { timeoutMs: 60_000 });
    await some(20);
  });
  afterAll(async () => {
    service.child.kill('SIGKILL');
    await service.ended;
    await github.close();
    for (const way of ways) await way.close();
    await pooler?.close();
    await administer(server, `DROP DATABASE ${name} WITH (FORCE)`);
    await administer(server, `DROP ROLE ${name}`);
    await rm(folder, { recursive: true, force: true });
  });

  beforeEach(async () => {
    for (const way of ways) await way.heal();
    await pointToFirst();
    await administer(server, `ALTER ROLE ${name} CONNECTION LIMIT -1`);
    await administer(server, `ALTER DATABASE ${name} RESET default_transaction_read_only`);
    await right(performance.now());
  });

  test('a partition of 60 s', async () => {
    await ways[0]!.part();
    const answers = await askUntil(performance.now() + 60_000);
    expect((await ready()).status).toBe(503);
    await ways[0]!.heal();
    await right(performance.now());
    expectHonest(answers);
  });

  test('a firewall that forgot its connections', async () => {
    await ways[0]!.forget();
    const since = performance.now();
    const answers = await askUntil(since + 6_000);
    await right(since);
    expectHonest(answers);
  });

  test('a failover: the old address is silent, and the name points to another one', async () => {
    await ways[0]!.part();
    const answers = await askUntil(performance.now() + 8_000);
    await names.point('db.test', '127.0.0.2');
    await right(performance.now());
    expectHonest(answers);
  });

  /** What is wrong, how it begins and ends, the word for it, and what `/readyz` says. */
  type Failure = [string, () => Promise<unknown>, () => Promise<unknown>, string, string];
  const inBetween: Failure = [
    'a pgbouncer in transaction mode',
    () => names.point('db.test', '127.0.0.3').then(breakSessions),
    () => pointToFirst().then(() => ways[2]!.refuse()),
    'pooler',
    'pooler in transaction mode',
  ];
  const failures: Failure[] = [
    [
      'a server that refuses connections',
      // The failover left the name at another address.
      () =>
        pointToFirst()
          .then(() => ways[0]!.refuse())
          .then(breakSessions),
      () => ways[0]!.heal(),
      'unreachable',
      'does not answer at DATABASE_URL',
    ],
    [
      'a name that cannot be looked up',
      () => names.point('db.test', null).then(breakSessions),
      () => pointToFirst(),
      'unresolved',
      'cannot be looked up',
    ],
    [
      'a limit of connections',
      () => administer(server, `ALTER ROLE ${name} CONNECTION LIMIT 3`).then(breakSessions),
      () => administer(server, `ALTER ROLE ${name} CONNECTION LIMIT -1`),
      'connections',
      'no connection left',
    ],
    [
      'a database that became read-only',
      () =>
        administer(server, `ALTER DATABASE ${name} SET default_transaction_read_only = on`).then(
          breakSessions,
        ),
      () => administer(server, `ALTER DATABASE ${name} RESET default_transaction_read_only`),
      'read_only',
      'read-only',
    ],
    ...(hasPgbouncer ? [inBetween] : []),
  ];
  test.each(failures)('%s', async (_, begin, end, kind, reason) => {
    await begin();
    const answers = await askUntil(performance.now() + 3_000);
    expect(await ready()).toMatchObject({
      status: 503,
      body: { status: 'not ready', reasons: expect.arrayContaining([expect.stringContaining(reason)]) },
    });
    await end();
    await right(performance.now());
    expectHonest(answers);
    expect(kindsInLog()).toContain(kind);
  });

  test('the log says each kind at most once a minute, and no stack', () => {
    const lines = service
      .output()
      .split('\n')
      .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Record<string, unknown>] : []));
    expect(lines.filter(({ level, database }) => Number(level) >= 40 && database === undefined)).toEqual([]);
    const ofKinds = Map.groupBy(
      lines.filter(({ database }) => typeof database === 'string'),
      ({ database }) => database,
    );
    for (const each of ofKinds.values()) {
      const times = each.map(({ time }) => Number(time));
      for (const [index, time] of times.slice(1).entries())
        expect(time - times[index]!).toBeGreaterThanOrEqual(60_000);
    }
  });

  test('SIGTERM is obeyed while statements are not answered', async () => {
    await ways[0]!.part();
    void some(10).catch(() => {});
    github.push(web, 1);
    await delay(1000);
    const { code, milliseconds } = await stop();
    expect([code, milliseconds < stoppedIn ? 'in time' : milliseconds]).toEqual([0, 'in time']);
  });
});
