import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/github.ts';
import { administer, databaseUrl } from '../support/postgres.ts';
import { environmentFor, type ServiceProcess, startProcess } from '../support/process.ts';

// The real process, killed in the middle of a POST: on its own database, where nothing else can look into it, while it
// asks GitHub; on PostgreSQL between the begin and the commit of the change.

const server = process.env['TEST_DATABASE_URL'];
const databases = server ? (['embedded', 'postgresql'] as const) : (['embedded'] as const);

describe.each(databases)('%s', (kind) => {
  const web = 'acme/web';
  const name = `holdfast_crash_${randomBytes(6).toString('hex')}`;
  const isEmbedded = kind === 'embedded';
  let github: Sandbox;
  let folder: string;
  let admin: string;
  let service: ServiceProcess;

  async function start(): Promise<string> {
    const database: Record<string, string> = isEmbedded
      ? { DATA_DIR: join(folder, 'data') }
      : { DATABASE_URL: databaseUrl(server!, name) };
    service = startProcess({ ...environmentFor(github), ...database }, folder);
    const url = await service.listening;
    github.deliverTo(`${url}/api/github/webhooks`);
    return url;
  }

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'holdfast-crash-'));
    if (!isEmbedded) await administer(server!, `CREATE DATABASE ${name}`);
    github = await startSandbox();
    admin = github.addUser('ada').token;
    github.addOrganization('acme', { admins: ['ada'] });
    github.addRepository(web, { protect: { main: ['holdfast/freeze'] } });
    github.openPullRequest(web, { author: 'ada' });
  });
  afterAll(async () => {
    service.child.kill('SIGKILL');
    await service.ended;
    await github.close();
    if (!isEmbedded) await administer(server!, `DROP DATABASE ${name} WITH (FORCE)`);
    await rm(folder, { recursive: true, force: true });
  });

  const path = `/v1/repos/${web}/scheduled_freeze`;
  const headers = () => ({
    Authorization: `Bearer ${admin}`,
    'Content-Type': 'application/json',
    'Idempotency-Key': 'one',
  });
  const body = JSON.stringify({ reason: 'Release', start: null, timezone: 'UTC' });
  const post = (url: string) => fetch(`${url}${path}`, { method: 'POST', headers: headers(), body });

  /** Has the next POST stop on its way; resolves when it stands there, to what lets go. */
  async function holdUp(): Promise<{ reached: Promise<unknown>; letGo(): Promise<unknown> }> {
    if (isEmbedded) {
      const reached = Promise.withResolvers<undefined>();
      const fault = github.faults.add({
        kind: 'delay',
        ms: 1_500,
        match: ({ method, path: asked }) => {
          const isOfFreeze = method === 'GET' && asked.includes(`/repos/${web}/`);
          if (isOfFreeze) reached.resolve(undefined);
          return isOfFreeze;
        },
      });
      return { reached: reached.promise, letGo: async () => fault.remove() };
    }
    const client = new pg.Client({ connectionString: databaseUrl(server!, name) });
    await client.connect();
    await client.query('BEGIN');
    await client.query('LOCK TABLE audit_events IN ACCESS EXCLUSIVE MODE');
    const waiting = `SELECT 1 FROM pg_locks WHERE relation = 'audit_events'::regclass AND NOT granted`;
    const reached = vi.waitUntil(async () => (await client.query(waiting)).rows.length > 0, {
      timeout: 120_000,
    });
    return {
      reached,
      async letGo() {
        await client.query('ROLLBACK');
        await client.end();
      },
    };
  }

  test('killed in a POST: the retry is 201 at once, and there is one freeze', async () => {
    const url = await start();
    github.install('acme');
    await github.waitForStatus(web, 1, 'success', { timeoutMs: 120_000 });
    const { reached, letGo } = await holdUp();
    const lost = post(url).then(
      ({ status }) => status,
      () => 'no answer',
    );
    await reached;
    service.child.kill('SIGKILL');
    expect(await service.ended).toBe('SIGKILL');
    expect(await lost).toBe('no answer');
    await letGo();

    const again = await start();
    const retry = await post(again);
    expect([retry.status, retry.headers.get('idempotent-replayed')]).toEqual([201, null]);
    const replayed = await post(again);
    expect([replayed.status, replayed.headers.get('idempotent-replayed')]).toEqual([201, 'true']);
    const list = await fetch(`${again}${path}`, { headers: headers() });
    expect(((await list.json()) as { scheduled_freezes: unknown[] }).scheduled_freezes).toHaveLength(1);
  });
});
