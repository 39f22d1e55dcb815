// Routes of the API under load, on both databases.
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Sandbox } from '../sandbox/github.ts';
import type { Bench } from './bench.ts';
import { startProgram } from './child-process.ts';
import { type Aim, atLeast, atMost, compare, type Figure } from './figure.ts';
import type { Load, Loaded } from './load.ts';
import { makeKey, type Service, startGitHub, startService, type Where } from './service.ts';
import { median } from './statistics.ts';

const state = '/v1/repos/acme/web/freeze_state?base=main';
const gate = '/v1/repos/acme/web/freeze_state?environment=production';
const freezes = '/v1/repos/acme/web/scheduled_freeze';
const freezeCount = 20;
const pullRequestCount = 16;

type Route = { name: string; floors: Floors } & Pick<Load, 'method' | 'headers' | 'body' | 'paths'>;

/** The shares of the floor's throughput that must be reached, by the number of connections. */
type Floors = Record<number, number>;

/** Far ahead, so that nothing but the list has to do with them. */
async function schedule(service: Service, key: string): Promise<void> {
  for (let index = 0; index < freezeCount; index++) {
    const month = String(1 + (index % 12)).padStart(2, '0');
    await service.call('POST', freezes, key, {
      reason: `Release ${index}`,
      timezone: 'Europe/Paris',
      start: `2090-${month}-01T08:00:00`,
      end: `2090-${month}-02T08:00:00`,
      matching_conditions: ['base=main', 'label=risky'],
      exclude_conditions: ['label=hotfix'],
    });
  }
}

export const benchApi: Bench = {
  name: 'api',
  title: 'The API under load',
  async run({ isQuick, postgres }) {
    const load = await startProgram('load.ts');
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-api-'));
    const figures: Figure[] = [];
    try {
      if (postgres) {
        const where = { connectionString: await postgres.createDatabase('api') };
        figures.push(...(await benchOn('PostgreSQL', where, () => where)));
      }
      const embedded = join(folder, 'service');
      figures.push(...(await benchOn('embedded', { dataDir: embedded }, () => copyOf(embedded))));
    } finally {
      await load.stop();
      rmSync(folder, { recursive: true });
    }
    const notes = [
      `${freezeCount} freezes; autocannon in a process of its own; the median of rounds, floor and Holdfast in turns.`,
      `The floor is a bare Hono that runs one prepared SQL statement of the same shape. Holdfast also checks the key and the repository, and a push whether the pull request exists. Pushes are spread over ${pullRequestCount} pull requests, and after the first of each nothing changes, so neither side writes.`,
    ];
    return { figures, notes };

    /** The floor gets the rows of the embedded database, in a folder of its own. */
    function copyOf(dataDir: string): Where {
      const dataOfFloor = join(folder, 'floor');
      cpSync(join(dataDir, 'postgres'), dataOfFloor, { recursive: true });
      return { dataDir: dataOfFloor };
    }

    async function benchOn(database: string, where: Where, whereOfFloor: () => Where): Promise<Figure[]> {
      const { github, token } = await startGitHub();
      const routes = await prepare(github, token, where);
      const floor = await startProgram('floors/api.ts', environmentOf(whereOfFloor()));
      const service = await startService(github, where);
      const found: Figure[] = [];
      try {
        const { url } = await floor.ask<{ url: string }>({});
        const run =
          (to: string): Run =>
          (given) =>
            load.ask<Loaded>({ ...given, url: to });
        for (const route of routes)
          found.push(...(await benchRoute(database, route, run(service.url), run(url), isQuick)));
      } finally {
        await service.stop();
        await floor.stop();
        await github.close();
      }
      return found;
    }
  },
};

const environmentOf = (where: Where): Record<string, string> =>
  'dataDir' in where ? { DATA_DIR: where.dataDir } : { DATABASE_URL: where.connectionString };

/** A repository, its freezes and the keys, made through the API by a service that then ends. */
async function prepare(github: Sandbox, token: string, where: Where): Promise<Route[]> {
  github.addRepository('acme/web');
  const numbers = Array.from(
    { length: pullRequestCount },
    () => github.openPullRequest('acme/web', { author: 'ada' }).number,
  );
  const service = await startService(github, where);
  try {
    github.install('acme');
    for (const number of numbers)
      await github.waitForStatus('acme/web', number, 'success', { timeoutMs: 60_000 });
    const admin = await makeKey(service, token, 'admin');
    const ci = await makeKey(service, token, 'ci');
    await schedule(service, admin);
    const json = { 'Content-Type': 'application/json' };
    return [
      {
        name: 'list',
        method: 'GET',
        paths: [freezes],
        floors: { 1: 0.45, 16: 0.5, 64: 0.45 },
        headers: { Authorization: `Bearer ${admin}` },
      },
      {
        name: 'state unchanged (304)',
        method: 'GET',
        paths: [state],
        floors: { 16: 0.4 },
        headers: { Authorization: `Bearer ${ci}`, 'If-None-Match': await tagOf(service, ci, state) },
      },
      {
        name: 'gate of an environment unchanged (304)',
        method: 'GET',
        paths: [gate],
        floors: { 16: 0.4 },
        headers: { Authorization: `Bearer ${ci}`, 'If-None-Match': await tagOf(service, ci, gate) },
      },
      {
        name: 'push scopes unchanged',
        method: 'PUT',
        floors: { 16: 0.4 },
        paths: numbers.map((number) => `/v1/repos/acme/web/pulls/${number}/scopes`),
        headers: { Authorization: `Bearer ${ci}`, ...json },
        body: JSON.stringify({ scopes: ['backend', 'docs'] }),
      },
    ];
  } finally {
    await service.stop();
  }
}

/** What a pipeline that asks again sends along. */
async function tagOf(service: Service, key: string, path: string): Promise<string> {
  const answer = await fetch(service.url + path, { headers: { Authorization: `Bearer ${key}` } });
  return answer.headers.get('etag')!;
}

type Run = (given: Omit<Load, 'url'>) => Promise<Loaded>;

/** Floor and Holdfast in turns, at each number of connections. */
async function benchRoute(
  database: string,
  { name, floors, ...request }: Route,
  ours: Run,
  floor: Run,
  isQuick: boolean,
): Promise<Figure[]> {
  const seconds = isQuick ? 1 : 2;
  // Warms both up, by requests and not by time: code that ran seldom is not compiled yet.
  const amount = isQuick ? 500 : 5000;
  for (const run of [floor, ours]) await run({ ...request, connections: 16, seconds: 1, amount });
  const figures: Figure[] = [];
  for (const connections of [1, 16, 64]) {
    const given = { ...request, connections, seconds };
    const rounds: { ours: Loaded; floor: Loaded }[] = [];
    for (let round = 0; round < (isQuick ? 1 : 3); round++)
      rounds.push({ floor: await floor(given), ours: await ours(given) });
    const add = (what: string, unit: string, value: keyof Loaded, aim?: Aim) => {
      const [mine, least] = (['ours', 'floor'] as const).map((side) =>
        median(rounds.map((round) => round[side][value])),
      );
      figures.push(
        compare('api', `${database}: ${name}, ${connections} connections, ${what}`, unit, mine!, least!, aim),
      );
    };
    const share = database === 'PostgreSQL' ? floors[connections] : undefined;
    add('throughput', 'requests/s', 'perSecond', share === undefined ? undefined : atLeast(share));
    add('p50', 'ms', 'p50');
    add('p99', 'ms', 'p99', share === undefined ? undefined : atMost(3));
  }
  return figures;
}
