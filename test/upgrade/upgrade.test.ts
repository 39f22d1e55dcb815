import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/github.ts';
import { amount } from '../support/amounts.ts';
import { administer, databaseUrl, dropAll } from '../support/postgres.ts';
import { environmentFor, type ServiceProcess, startProcess } from '../support/process.ts';
import { checkOut, lastCommitOf, migrationsIn, type OlderCode } from './older-code.ts';

// Replicas of 0.1.0 are replaced by this version, one after the other, while they are used; and the way back.

const server = inject('postgresUrl');
const commit = lastCommitOf('0.1.0');
const web = 'acme/web';
const timeoutMs = 120_000;
/** Audit events of a large owner. */
const events = amount(1_000_000);
/** Milliseconds within which a freeze can be created at any time. */
const longestCreate = 5_000;

// Four processes start one after another, beside the load.
vi.setConfig({ testTimeout: 600_000 });

describe.skipIf(!server)('on one PostgreSQL', () => {
  const prefix = `holdfast_upgrade_${randomBytes(6).toString('hex')}`;
  // Skipped blocks run too, so it must not throw without a server.
  const database = server && databaseUrl(server, prefix);
  const replicas = new Map<string, ServiceProcess>();
  let github: Sandbox;
  let folder: string;
  let older: OlderCode;
  let owner: string;
  let admin: string;
  let ci: string;
  /** Reasons of freezes that may exist once more: 0.1.0 cuts connections that are in use when it stops. */
  const unanswered = new Set<unknown>();
  /** Commits that had a status. */
  const shas = new Set<string>();

  /** Starts a replica, of this version where no other is named, and has it used. */
  async function start(name: string, main?: string): Promise<void> {
    const settings = { DATABASE_URL: database, STATUS_WRITES_PER_MINUTE: '100000-100000' };
    const replica = startProcess({ ...environmentFor(github), ...settings }, folder, main);
    replicas.set(name, replica);
    github.deliverTo(`${await replica.listening}/api/github/webhooks`);
  }
  /** Stops one while another is used. */
  async function stop(name: string): Promise<void> {
    const replica = replicas.get(name)!;
    replicas.delete(name);
    const [other] = replicas.values();
    if (other) github.deliverTo(`${await other.listening}/api/github/webhooks`);
    replica.child.kill('SIGTERM');
    expect(await replica.ended).toBe(0);
  }

  /** Asks one replica after another, as a balancer does. @returns null where none answered. */
  async function call(method: string, path: string, body?: object, key = admin) {
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
    for (const replica of replicas.values()) {
      try {
        const answer = await fetch((await replica.listening) + path, {
          method,
          headers,
          body: body && JSON.stringify(body),
        });
        const text = await answer.text();
        return { status: answer.status, body: text ? JSON.parse(text) : null };
      } catch {
        // It starts or stops.
        if (body && 'reason' in body) unanswered.add(body.reason);
      }
    }
    return null;
  }
  async function makeKey(scope: 'admin' | 'ci'): Promise<string> {
    const answer = await call('POST', '/v1/applications/acme', { name: 'tool', scope }, owner);
    expect(answer?.status).toBe(201);
    return answer!.body.secret;
  }
  const freezes = `/v1/repos/${web}/scheduled_freeze`;
  async function freeze(more: object = {}): Promise<string> {
    const answer = await call('POST', freezes, { reason: 'Release', start: null, timezone: 'UTC', ...more });
    expect(answer?.status, JSON.stringify(answer?.body)).toBe(201);
    return answer!.body.id;
  }
  const everywhere = (state: 'success' | 'pending') =>
    Promise.all(
      github.pullRequests(web).map(({ number }) => github.waitForStatus(web, number, state, { timeoutMs })),
    );

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'holdfast-upgrade-'));
    await administer(server, `CREATE DATABASE ${prefix}`);
    github = await startSandbox();
    owner = github.addUser('ada').token;
    github.addOrganization('acme', { admins: ['ada'] });
    github.addRepository(web, { protect: { main: ['holdfast/freeze'] } });
    for (let count = 0; count < 8; count++)
      github.openPullRequest(web, { author: 'ada', labels: count < 4 ? ['risky'] : [] });
    github.onStatus(({ sha }) => void shas.add(sha));
    github.install('acme');
  });
  afterAll(async () => {
    for (const { child } of replicas.values()) child.kill('SIGKILL');
    await Promise.all([...replicas.values()].map(({ ended }) => ended));
    await github.close();
    await dropAll(server, prefix);
    await rm(folder, { recursive: true, force: true });
    github.assertNoUnknownRoutes();
  });

  test.skipIf(!commit)(
    `0.1.0 is replaced by this version while it is used (${commit ?? 'skipped: the history of 0.1.0 is not in this clone'})`,
    async () => {
      older = await checkOut(commit!, join(folder, 'older'));
      await start('old-1', older.main);
      await start('old-2', older.main);
      await everywhere('success');
      [admin, ci] = [await makeKey('admin'), await makeKey('ci')];
      await administer(
        database,
        `INSERT INTO audit_events (received_at, account_id, type, outcome, trigger, metadata)
         SELECT now() - number * interval '7 seconds', (SELECT id FROM accounts), 'scheduled_freeze.create', 'success', 'api',
           jsonb_build_object('created_by', jsonb_build_object('type', 'user', 'id', 1, 'name', 'Ada'),
             'scheduled_freeze_attributes', jsonb_build_object('reason', repeat('Release ', 50)))
         FROM generate_series(1, ${events}) AS number`,
      );
      const held = await freeze({ matching_conditions: ['label=risky'] });
      for (const number of [1, 2, 3, 4]) await github.waitForStatus(web, number, 'pending', { timeoutMs });

      const acknowledged = { freezes: [held], scopes: new Map<number, string>() };
      let slowest = 0;
      let isUsed = true;
      const use = async (): Promise<void> => {
        for (let round = 0; isUsed; round++) {
          const number = (round % 8) + 1;
          const began = performance.now();
          const made = await call('POST', freezes, {
            reason: `Round ${round}`,
            start: '2090-01-01T00:00:00',
            timezone: 'UTC',
          });
          slowest = Math.max(slowest, performance.now() - began);
          if (made?.status === 201) acknowledged.freezes.push(made.body.id);
          const scope = `scope-${round}`;
          const pushed = await call(
            'PUT',
            `/v1/repos/${web}/pulls/${number}/scopes`,
            { scopes: [scope] },
            ci,
          );
          if (pushed && pushed.status < 300) acknowledged.scopes.set(number, scope);
          else acknowledged.scopes.delete(number);
          github.push(web, number);
        }
      };
      const using = use();
      const rounds = () => acknowledged.freezes.length;
      const untilUsed = (more: number) => {
        const enough = rounds() + more;
        return vi.waitFor(() => expect(rounds()).toBeGreaterThan(enough), { timeout: timeoutMs });
      };
      await untilUsed(5);
      await start('new-1');
      await untilUsed(5);
      await stop('old-1');
      await untilUsed(5);
      await start('new-2');
      await stop('old-2');
      await untilUsed(5);
      // Who acted in the events of before is filled in meanwhile.
      const filled = `SELECT FROM audit_events WHERE type = 'scheduled_freeze.create' AND actor_key = '@ada' LIMIT 5000`;
      await vi.waitFor(async () => expect((await administer(database, filled)).rowCount).toBe(5000), {
        timeout: timeoutMs,
        interval: 500,
      });
      isUsed = false;
      await using;
      expect(slowest).toBeLessThan(longestCreate);

      for (const { number } of github.pullRequests(web))
        await github.waitForStatus(web, number, number <= 4 ? 'pending' : 'success', { timeoutMs });
      const { body } = (await call('GET', freezes))!;
      const kept = body.scheduled_freezes.filter(
        ({ id, reason }: { id: string; reason: string }) =>
          acknowledged.freezes.includes(id) || !unanswered.has(reason),
      );
      expect(kept.map(({ id }: { id: string }) => id).toSorted()).toEqual(acknowledged.freezes.toSorted());
      const { rows } = (await administer(
        database,
        'SELECT number::int, scopes FROM pull_request_scopes ORDER BY 1',
      )) as unknown as { rows: { number: number; scopes: string[] }[] };
      const scopes = new Map(rows.map(({ number, scopes: [scope] }) => [number, scope]));
      expect(acknowledged.scopes.size).toBeGreaterThan(4);
      for (const [number, scope] of acknowledged.scopes) expect(scopes.get(number), `#${number}`).toBe(scope);
      expectNoneTwice();
    },
  );

  /** No status of a commit says what the one before it said. */
  function expectNoneTwice(): void {
    expect(shas.size).toBeGreaterThan(8);
    for (const sha of shas) {
      const said = github.statusHistory(web, sha).map(({ state, description }) => `${state} ${description}`);
      expect(
        said.filter((each, index) => each === said[index - 1]),
        sha,
      ).toEqual([]);
    }
  }

  test.skipIf(!commit)('and back, where the older code can', async () => {
    const added = migrationsIn().filter((name) => !older.migrations.includes(name));
    const knowsBreaking = readFileSync(join(dirname(older.main), 'database/migrate.ts'), 'utf8').includes(
      '_breaking',
    );
    const back = start('back', older.main);
    if (added.some((name) => !knowsBreaking || name.endsWith('_breaking'))) {
      await expect(back).rejects.toThrow(
        `The database was migrated by a newer Holdfast (${added.join(', ')})`,
      );
      replicas.delete('back');
      return;
    }
    await back;
    for (const name of ['new-1', 'new-2']) await stop(name);
    await holdsAndLetsGo();
    await start('new-1');
    await stop('back');
  });

  async function holdsAndLetsGo(): Promise<void> {
    const { body } = (await call('GET', freezes))!;
    const ongoing = body.scheduled_freezes.filter(
      ({ start }: { start: string }) => !start.startsWith('2090'),
    );
    for (const { id } of ongoing)
      expect((await call('POST', `${freezes}/${id}/delete`, { delete_reason: 'Done' }))!.status).toBe(204);
    await everywhere('success');
    const id = await freeze();
    await everywhere('pending');
    expect((await call('POST', `${freezes}/${id}/delete`, { delete_reason: 'Done' }))!.status).toBe(204);
    await everywhere('success');
    expectNoneTwice();
  }

  const record = (name: string) =>
    administer(
      database,
      `INSERT INTO _prisma_migrations (id, checksum, finished_at, migration_name)
       VALUES (gen_random_uuid(), 'of a newer version', now(), '${name}')`,
    );

  test('this version runs if a newer one only added something', async () => {
    // Without the history of 0.1.0 nothing runs yet.
    await start('before');
    admin = await makeKey('admin');
    for (const name of [...replicas.keys()]) await stop(name);
    await administer(
      database,
      `ALTER TABLE freezes ADD COLUMN later TEXT NOT NULL DEFAULT ''; CREATE TABLE later (id INT PRIMARY KEY)`,
    );
    await record('29990101000000_later');
    await start('one-back');
    await holdsAndLetsGo();
    await stop('one-back');
  });

  test('and does not start if it removed something', async () => {
    await record('29990102000000_without_reasons_breaking');
    const tables = () => administer(database, 'SELECT count(*)::text AS name FROM audit_events');
    const before = (await tables()).rows;
    await expect(start('refused')).rejects.toThrow(
      'The database was migrated by a newer Holdfast (29990102000000_without_reasons_breaking): run that version.',
    );
    expect(await replicas.get('refused')!.ended).toBe(1);
    replicas.delete('refused');
    expect((await tables()).rows).toEqual(before);
  });
});
