// What breaks at night around a running service: everybody is told within a minute, and it is over by itself.
import { randomBytes } from 'node:crypto';
import { globSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/github.ts';
import { diagnose } from '../../src/cli/commands/doctor.ts';
import { freePort } from '../support/free-port.ts';
import { administer, databaseUrl } from '../support/postgres.ts';
import { environmentFor, type ServiceProcess, startProcess } from '../support/process.ts';
import { Visitor } from '../support/visitor.ts';

const server = inject('postgresUrl');
const web = 'acme/web';
const page = '/repos/acme/web';
const metricsToken = 'a-token-of-the-tests';
/** Milliseconds from the beginning of a breakage until everybody is told, and from its end until all is right. */
const toldIn = 60_000;
const rightIn = 75_000;

/** Debian's package `faketime` moves the clock of a process. */
const [faketime] = globSync('/usr/lib/*/faketime/libfaketimeMT.so.1');

type World = {
  github: Sandbox;
  setClock(ahead: string): Promise<void>;
  /** Starts the process again, with this role. */
  restart(role: 'all' | 'web'): Promise<void>;
  freeze(): Promise<void>;
};
type Breakage = {
  what: string;
  skip?: boolean;
  /** Whether only several processes can break so. */
  takesServer?: boolean;
  /** Milliseconds until everybody is told, if it takes longer. */
  toldIn?: number;
  begin(world: World): unknown;
  end(world: World): unknown;
  /** What is said while it lasts. */
  log: RegExp;
  ready: RegExp;
  metric: RegExp;
  doctor: RegExp;
  page: RegExp;
  /** Whether what is frozen is held all the while, also what is pushed. */
  holds: boolean;
};

const secret = 'another secret';
let former = '';
let refused: { remove(): void } | null = null;

const breakages: Breakage[] = [
  {
    what: 'a clock that is 20 minutes ahead',
    skip: !faketime,
    begin: ({ setClock }) => setClock('+20m'),
    end: ({ setClock }) => setClock('+0'),
    log: /the clock is wrong, so GitHub’s time counts/,
    ready: /ahead of GitHub/,
    metric: /^holdfast_clock_ahead_seconds\{of="github"\} 1[12]\d\d/m,
    doctor: /clock.*ahead/i,
    page: /clock.*ahead/i,
    holds: true,
  },
  {
    what: 'a key that GitHub refuses',
    begin({ github }) {
      const words = 'A JSON web token could not be decoded';
      refused = github.faults.add({
        kind: 'status',
        status: 401,
        words,
        match: ({ tokenKind }) => tokenKind === 'jwt',
      });
    },
    end: () => refused?.remove(),
    log: /GitHub refuses the App’s key, so nothing new is held or let go/,
    ready: /GitHub refuses the App's key since/,
    metric: /^holdfast_github_key_refused_seconds [1-9]/m,
    doctor: /GitHub refuses the App's key since/,
    page: /GitHub (?:refuses|does not)/,
    holds: false,
  },
  {
    what: 'a webhook secret that is wrong',
    begin({ github }) {
      former = github.app.webhookSecret;
      github.app.webhookSecret = secret;
    },
    end: ({ github }) => (github.app.webhookSecret = former),
    log: /GitHub’s webhooks are refused/,
    ready: /GitHub could not deliver its newest webhooks/,
    metric: /^holdfast_webhooks_undelivered_total\{reason="signature"\} [1-9]/m,
    doctor: /GitHub could not deliver its last webhook/,
    page: /WEBHOOK_SECRET|webhook/i,
    holds: false,
  },
  {
    what: 'an installation that is suspended',
    begin: ({ github }) => github.suspend('acme'),
    end: ({ github }) => github.unsuspend('acme'),
    log: /suspended/,
    ready: /"status":"ready".*Installations that are suspended.*: 1\./,
    metric: /^holdfast_installations_suspended 1/m,
    doctor: /suspended/,
    page: /suspended/,
    holds: false,
  },
  {
    what: 'no worker runs',
    takesServer: true,
    // Work is late after a minute, and planned work is dated back by up to another one.
    toldIn: 130_000,
    begin: ({ restart, freeze }) => restart('web').then(freeze),
    end: ({ restart }) => restart('all'),
    log: /jobs are not done: No worker runs/,
    // It takes requests, as it should.
    ready: /"status":"ready".*No worker runs: jobs are due since/,
    metric: /^holdfast_jobs_oldest_due_seconds\{task="reconcile-repository"\} [1-9]/m,
    doctor: /No worker runs: jobs are due since .*, and a freeze that began is not judged yet/,
    page: /not judged/i,
    holds: false,
  },
];

describe.each([
  ['the embedded database', true],
  ['PostgreSQL', false],
])('a service with %s', (_, isEmbedded) => {
  const isSkipped = !isEmbedded && !server;
  const name = `holdfast_broken_${randomBytes(6).toString('hex')}`;
  let github: Sandbox;
  let folder: string;
  let service: ServiceProcess;
  let url: string;
  let admin: string;
  let visitor: Visitor;
  let world: World;

  const read = async (path: string, headers: Record<string, string> = {}) =>
    (await fetch(`${url}${path}`, { headers })).text();
  const metrics = () => read('/metrics', { Authorization: `Bearer ${metricsToken}` });
  async function doctor(): Promise<string> {
    let out = '';
    const output = new Writable({ write: (chunk, _encoding, done) => ((out += String(chunk)), done()) });
    await diagnose({ repository: web, url, token: admin, isJson: false }, output);
    return out;
  }
  const pageText = async () => (await visitor.open(page)).text.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');

  /** Waits until each of several texts is as it should be. */
  async function until(
    patience: number,
    checks: Record<string, [() => string | Promise<string>, (text: string) => boolean]>,
  ): Promise<void> {
    const since = performance.now();
    const left = new Map(Object.entries(checks));
    const last: Record<string, string> = {};
    while (left.size > 0) {
      for (const [who, [ask, isRight]] of left) {
        last[who] = await ask();
        if (isRight(last[who])) left.delete(who);
      }
      if (left.size > 0 && performance.now() - since > patience)
        expect(Object.fromEntries([...left.keys()].map((who) => [who, last[who]]))).toEqual({});
      await delay(500);
    }
  }

  async function expectTold(breakage: Breakage, before: string): Promise<void> {
    github.push(web, 1);
    const says = (words: RegExp) => (text: string) => words.test(text);
    const logged = () => service.output().replace(before, '');
    await until(breakage.toldIn ?? toldIn, {
      log: [logged, says(breakage.log)],
      readyz: [() => read('/readyz'), says(breakage.ready)],
      metrics: [metrics, says(breakage.metric)],
      doctor: [doctor, says(breakage.doctor)],
      page: [pageText, says(breakage.page)],
    });
    if (breakage.holds) await github.waitForStatus(web, 1, 'pending', { timeoutMs: 20_000 });
  }

  beforeAll(async () => {
    if (isSkipped) return;
    folder = await mkdtemp(join(tmpdir(), 'holdfast-broken-'));
    const clock = join(folder, 'clock');
    const setClock = (ahead: string) => writeFile(clock, `${ahead}\n`);
    await setClock('+0');
    github = await startSandbox();
    admin = github.addUser('ada').token;
    github.addOrganization('acme', { admins: ['ada'] });
    github.addRepository(web, { protect: { main: ['holdfast/freeze'] } });
    for (let count = 0; count < 3; count++) github.openPullRequest(web, { author: 'ada' });
    const port = await freePort();
    if (!isEmbedded) await administer(server, `CREATE DATABASE ${name}`);
    const database: Record<string, string> = isEmbedded
      ? { DATA_DIR: join(folder, 'data') }
      : { DATABASE_URL: databaseUrl(server, name) };
    const environment = {
      ...environmentFor(github),
      ...database,
      PORT: String(port),
      PUBLIC_URL: `http://127.0.0.1:${port}`,
      CLIENT_ID: github.app.clientId,
      CLIENT_SECRET: github.app.clientSecret,
      METRICS_TOKEN: metricsToken,
      SECRET_KEY: randomBytes(32).toString('base64'),
      ...(faketime !== undefined && {
        LD_PRELOAD: faketime,
        FAKETIME_TIMESTAMP_FILE: clock,
        FAKETIME_CACHE_DURATION: '1',
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
      }),
    };
    const start = async (role: string) => {
      service = startProcess({ ...environment, ROLE: role }, folder);
      url = await service.listening;
    };
    const restart = async (role: string) => {
      service.child.kill('SIGTERM');
      expect(await service.ended).toBe(0);
      await start(role);
    };
    const freeze = async () => {
      const answer = await fetch(`${url}/v1${page}/scheduled_freeze`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${admin}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ reason: 'Release', start: null, timezone: 'UTC' }),
      });
      expect(answer.status, await answer.text()).toBe(201);
    };
    world = { github, setClock, restart, freeze };
    await start('all');
    github.app.callbackUrls.push(`${url}/auth/callback`);
    github.deliverTo(`${url}/api/github/webhooks`);
    github.install('acme');
    await github.waitForStatus(web, 1, 'success', { timeoutMs: 60_000 });
    visitor = new Visitor({ github, app: { url, deps: { config: { publicUrl: url } } } } as never);
    expect(await visitor.signIn('ada', page)).toMatchObject({ status: 303, location: page });
    await freeze();
    for (const number of [1, 2, 3]) await github.waitForStatus(web, number, 'pending', { timeoutMs: 60_000 });
  });
  afterAll(async () => {
    if (isSkipped) return;
    service.child.kill('SIGKILL');
    await service.ended;
    await github.close();
    if (!isEmbedded) await administer(server, `DROP DATABASE ${name} WITH (FORCE)`);
    await rm(folder, { recursive: true, force: true });
  });

  test.skipIf(isSkipped).for(breakages)('$what', async (breakage, { skip }) => {
    if (breakage.skip || (breakage.takesServer && isEmbedded)) skip();
    const before = service.output();
    await breakage.begin(world);
    try {
      await expectTold(breakage, before);
    } finally {
      await breakage.end(world);
    }
    github.push(web, 2);
    const isOver = (text: string) => !breakage.doctor.test(text) && /Freezes are enforced/.test(text);
    await until(rightIn, {
      doctor: [doctor, isOver],
      statuses: [
        () => [1, 2, 3].map((number) => github.currentStatus(web, number)?.state).join(),
        (states) => states === 'pending,pending,pending',
      ],
    });
  });
});
