import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { FaultyRequest } from '../../sandbox/http/faults.ts';
import { type Sandbox, startSandbox } from '../../sandbox/github.ts';
import { administer, databaseUrl } from '../support/postgres.ts';
import { environmentFor, type ServiceProcess, startProcess } from '../support/process.ts';

// The real process on the real clock, killed in the middle of instant holds. One kill does for all steps: each repository
// has an owner of its own, and stands at another step when the process dies. GitHub does what it was asked last.

const server = process.env['TEST_DATABASE_URL'];
const databases = server ? (['embedded', 'postgresql'] as const) : (['embedded'] as const);

type Step = { name: string; isAt(request: FaultyRequest, heads: { free: string; held: string }): boolean };

const asks = (method: string, path: RegExp) => (request: FaultyRequest) =>
  request.method === method && path.test(request.path);
const writesOn =
  (which: 'free' | 'held'): Step['isAt'] =>
  ({ method, path }, heads) =>
    method === 'POST' && path.endsWith(`/statuses/${heads[which]}`);

const beginning: Step[] = [
  { name: 'rulesets are listed', isAt: asks('GET', /\/rulesets$/) },
  { name: 'the ruleset is made', isAt: asks('POST', /\/rulesets$/) },
  { name: 'it is read back', isAt: asks('GET', /\/rulesets\/\d+$/) },
  { name: 'what is free passes', isAt: writesOn('free') },
  { name: 'what is held is told', isAt: writesOn('held') },
];
const end: Step[] = [
  { name: 'the ruleset is put out of force', isAt: asks('PUT', /\/rulesets\/\d+$/) },
  { name: 'it is read back', isAt: asks('GET', /\/rulesets\/\d+$/) },
  { name: 'what was held is told', isAt: writesOn('held') },
];

describe.each(databases)('%s', (kind) => {
  const database = `holdfast_holds_${randomBytes(6).toString('hex')}`;
  const isEmbedded = kind === 'embedded';
  const places = beginning.map((_, index) => `owner-${index}/web`);
  let github: Sandbox;
  let folder: string;
  let admin: string;
  let second: { id: number; privateKey: string };
  let service: ServiceProcess;

  async function start(): Promise<void> {
    service = startProcess(
      {
        ...environmentFor(github),
        ...(isEmbedded
          ? { DATA_DIR: join(folder, 'data') }
          : { DATABASE_URL: databaseUrl(server!, database) }),
        LOCK_APP_ID: String(second.id),
        LOCK_PRIVATE_KEY: second.privateKey,
      },
      folder,
    );
    github.deliverTo(`${await service.listening}/api/github/webhooks`);
  }
  async function call(method: string, path: string, body?: object) {
    const headers = { Authorization: `Bearer ${admin}`, 'Content-Type': 'application/json' };
    const url = await service.listening;
    const answer = await fetch(url + path, { method, headers, body: body && JSON.stringify(body) });
    const text = await answer.text();
    expect(answer.ok, `${method} ${path}: ${text}`).toBe(true);
    return text === '' ? null : JSON.parse(text);
  }

  /** Does something in every repository, and kills the process when each step is under way in one of them. */
  async function killDuring(steps: Step[], act: (place: string) => Promise<unknown>): Promise<void> {
    const reached = new Set<string>();
    const faults = steps.map(({ name, isAt }, index) => {
      const place = places[index]!;
      const [free, held] = [1, 2].map((number) => github.pullRequest(place, number).headSha);
      return github.faults.add({
        kind: 'delay',
        ms: 120_000,
        match(request) {
          const isThere =
            request.path.startsWith(`/repos/${place}/`) && isAt(request, { free: free!, held: held! });
          if (isThere) reached.add(name);
          return isThere;
        },
      });
    });
    await Promise.all(places.map(act));
    await vi.waitUntil(() => reached.size === steps.length, { timeout: 150_000, interval: 5 });
    service.child.kill('SIGKILL');
    expect(await service.ended).toBe('SIGKILL');
    for (const fault of faults) fault.remove();
  }

  /** What GitHub shows of a place, and what the service says. */
  const shown = async (place: string) => {
    const { instant } = await call('GET', `/v1/repos/${place}/enforcement`);
    return {
      rulesets: github.rulesetsOf(place).map(({ enforcement }) => enforcement),
      mergeable: [1, 2].map((number) => github.mergeable(place, number)),
      states: [1, 2].map((number) => github.currentStatus(place, number)?.state),
      says: [instant.state, instant.error],
    };
  };
  /** Waits for a minute at most. */
  const soon = (expected: object) =>
    expect.poll(() => Promise.all(places.map(shown)), { interval: 500 }).toEqual(places.map(() => expected));

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'holdfast-holds-'));
    if (!isEmbedded) await administer(server!, `CREATE DATABASE ${database}`);
    github = await startSandbox();
    admin = github.addUser('ada').token;
    second = github.addSecondApp();
    for (const place of places) {
      const [owner] = place.split('/') as [string];
      github.addOrganization(owner, { admins: ['ada'] });
      github.addRepository(place, { protect: { main: ['holdfast/freeze'] } });
      for (const labels of [['hotfix'], []]) github.openPullRequest(place, { author: 'ada', labels });
    }
    await start();
    for (const place of places) {
      const [owner] = place.split('/') as [string];
      github.install(owner);
      github.install(owner, { second: true });
      for (const number of [1, 2])
        await github.waitForStatus(place, number, 'success', { timeoutMs: 120_000 });
      await call('PATCH', `/v1/settings/${owner}`, { instant_hold: 'lock' });
    }
  });
  afterAll(async () => {
    service.child.kill('SIGKILL');
    await service.ended;
    await github.close();
    if (!isEmbedded) await administer(server!, `DROP DATABASE ${database} WITH (FORCE)`);
    await rm(folder, { recursive: true, force: true });
    github.assertNoUnknownRoutes();
  });

  const freezes = new Map<string, string>();

  test('killed in every step of a beginning: within a minute everything is held, and what is free passes', async () => {
    const exclude = { exclude_conditions: ['label=hotfix'] };
    await killDuring(beginning, async (place) => {
      const body = { reason: 'Release', start: null, timezone: 'UTC', ...exclude };
      const { id } = await call('POST', `/v1/repos/${place}/scheduled_freeze`, body);
      freezes.set(place, id);
    });
    await start();
    await soon({
      rulesets: ['active'],
      mergeable: ['clean', 'blocked'],
      states: ['success', 'pending'],
      says: ['on', null],
    });
  });

  test('killed in every step of an end: within a minute nothing is held', async () => {
    await killDuring(end, async (place) =>
      call('POST', `/v1/repos/${place}/scheduled_freeze/${freezes.get(place)}/delete`, {
        delete_reason: 'Done',
      }),
    );
    await start();
    await soon({
      rulesets: ['disabled'],
      mergeable: ['clean', 'clean'],
      states: ['success', 'success'],
      says: ['off', null],
    });
  });
});
