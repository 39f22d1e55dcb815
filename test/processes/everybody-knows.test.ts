import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/github.ts';
import { accepts, hangs, type Receiver, startReceiver } from '../../sandbox/receiver.ts';
import { administer, databaseUrl } from '../support/postgres.ts';
import { environmentFor, type ServiceProcess, startProcess } from '../support/process.ts';

// Two processes tell every kind of webhook what happens to one freeze. The tests build on each other.

const server = inject('postgresUrl');
const kinds = ['standard', 'slack', 'teams', 'discord', 'google_chat'] as const;

describe.skipIf(!server)('two processes on one PostgreSQL that send to outgoing webhooks', () => {
  const database = `holdfast_notices_${randomBytes(6).toString('hex')}`;
  const receivers: Receiver[] = [];
  const outputs: string[] = [];
  const secrets: string[] = [];
  const webhooks: string[] = [];
  let github: Sandbox;
  let folder: string;
  let token: string;
  let running: ServiceProcess[] = [];
  let freeze: string;

  const start = async () => {
    const more = {
      WEBHOOK_ALLOWED_HOSTS: '127.0.0.1',
      SECRET_KEY: 'a key of the tests with 32 characters or more',
    };
    const environment = { ...environmentFor(github), ...more, DATABASE_URL: databaseUrl(server, database) };
    const one = startProcess(environment, folder);
    running.push(one);
    await one.listening;
  };
  const killAll = async () => {
    for (const { child } of running) child.kill('SIGKILL');
    for (const one of running) {
      await one.ended;
      outputs.push(one.output());
    }
    running = [];
  };
  async function call<Body = { id: string; secret?: string }>(method: string, path: string, body?: object) {
    const response = await fetch((await running[0]!.listening) + path, {
      method,
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: body && JSON.stringify(body),
    });
    expect(response.ok, `${method} ${path}: ${response.status}`).toBe(true);
    return (await response.json()) as Body;
  }
  /** Waits until the service has saved that a webhook took so many messages, and knows of no other for it. */
  const tookAll = (webhook: string, count: number) =>
    vi.waitFor(
      async () => {
        const path = `/v1/webhooks/acme/${webhook}/deliveries`;
        const { deliveries } = await call<{ deliveries: { state: string }[] }>('GET', path);
        expect(deliveries.map(({ state }) => state)).toEqual(Array(count).fill('delivered'));
      },
      { timeout: 120_000, interval: 250 },
    );
  const path = '/v1/repos/acme/web/scheduled_freeze';
  const idsOf = ({ arrivals }: Receiver) => arrivals.map(({ headers }) => headers['webhook-id']);

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'holdfast-notices-'));
    await administer(server, `CREATE DATABASE ${database}`);
    github = await startSandbox();
    token = github.addUser('ada').token;
    github.addOrganization('acme', { admins: ['ada'] });
    github.addRepository('acme/web', { protect: { main: ['holdfast/freeze'] } });
    github.openPullRequest('acme/web', { author: 'ada' });
    await start();
    await start();
    github.deliverTo(`${await running[0]!.listening}/api/github/webhooks`);
    github.install('acme');
    await github.waitForStatus('acme/web', 1, 'success', { timeoutMs: 60_000 });
    for (const kind of kinds) {
      const receiver = await startReceiver({ now: () => new Date() });
      receivers.push(receiver);
      const { id, secret } = await call('POST', '/v1/webhooks/acme', { url: receiver.url, kind });
      webhooks.push(id);
      secrets.push(secret ?? receiver.url);
      if (secret) receiver.require(secret);
    }
  });
  afterAll(async () => {
    await killAll();
    for (const receiver of receivers) await receiver.close();
    await github.close();
    await administer(server, `DROP DATABASE ${database} WITH (FORCE)`);
    await rm(folder, { recursive: true, force: true });
  });

  test('each kind hears of a freeze once', async () => {
    freeze = (await call('POST', path, { reason: 'Release', start: null, timezone: 'UTC' })).id;
    await Promise.all(webhooks.map((webhook) => tookAll(webhook, 1)));
    for (const { arrivals } of receivers) expect(arrivals).toMatchObject([{ status: 204 }]);
  });

  test('kill -9 while a message is under way sends it again, with the same id, and nothing else', async () => {
    const [standard, ...chats] = receivers as [Receiver, ...Receiver[]];
    standard.now(hangs);
    await call('PATCH', `${path}/${freeze}`, { reason: 'Another reason' });
    await standard.hasHeard(2);
    const [ofStandard, ...ofChats] = webhooks as [string, ...string[]];
    await Promise.all(ofChats.map((webhook) => tookAll(webhook, 2)));
    await killAll();
    standard.now(accepts);
    await start();
    await tookAll(ofStandard, 2);
    // By the time that a later message is there, others of before would have been.
    await call('PATCH', `${path}/${freeze}`, { reason: 'A third reason' });
    await Promise.all(webhooks.map((webhook) => tookAll(webhook, 3)));
    expect(idsOf(standard)).toHaveLength(4);
    expect(idsOf(standard)[2]).toBe(idsOf(standard)[1]);
    expect(standard.accepted()).toHaveLength(3);
    for (const { arrivals } of chats) expect(arrivals).toHaveLength(3);
  });

  test('no process printed a secret', async () => {
    await killAll();
    expect(outputs.join('')).toContain('listening');
    for (const secret of secrets) expect(outputs.join('')).not.toContain(secret);
  });
});
