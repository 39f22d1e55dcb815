// Two routes of the API under load, on both databases.
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

const freezes = '/v1/repos/acme/web/scheduled_freeze';
const scopes = '/v1/repos/acme/web/pulls/1/scopes';
const freezeCount = 20;

type Route = { name: string } & Pick<Load, 'method' | 'headers' | 'body'> & { path: string };

/** Far ahead, so that nothing but the list has to do with them. */
async function schedule(service: Service, key: string): Promise<void> {
  for (let index = 0; index < freezeCount; index++) {
    const month = String(1 + (index % 12)).padStart(2, '0');
    await service.call('POST', freezes, key, {
      ...{ reason: `Release ${index}`, timezone: 'Europe/Paris' },
      ...{ start: `2090-${month}-01T08:00:00`, end: `2090-${month}-02T08:00:00` },
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
      'The floor is a bare Hono that runs one SQL statement. Holdfast also checks the key and the repository, and a push of scopes checks that the pull request exists, commits a job with it, and has the pull request looked at.',
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
          ({ path, ...given }) =>
            load.ask<Loaded>({ ...given, url: to + path });
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
  github.openPullRequest('acme/web', { author: 'ada' });
  const service = await startService(github, where);
  try {
    github.install('acme');
    await github.waitForStatus('acme/web', 1, 'success', { timeoutMs: 60_000 });
    const admin = await makeKey(service, token, 'admin');
    const ci = await makeKey(service, token, 'ci');
    await schedule(service, admin);
    const json = { 'Content-Type': 'application/json' };
    return [
      { name: 'list', method: 'GET', path: freezes, headers: { Authorization: `Bearer ${admin}` } },
      {
        ...{ name: 'push scopes', method: 'PUT', path: scopes },
        headers: { Authorization: `Bearer ${ci}`, ...json },
        body: JSON.stringify({ scopes: ['backend', 'docs'] }),
      },
    ];
  } finally {
    await service.stop();
  }
}

type Run = (given: Omit<Load, 'url'> & { path: string }) => Promise<Loaded>;

/** Floor and Holdfast in turns, at each number of connections. */
async function benchRoute(
  database: string,
  { name, ...request }: Route,
  ours: Run,
  floor: Run,
  isQuick: boolean,
): Promise<Figure[]> {
  const seconds = isQuick ? 1 : 2;
  // Warms both up.
  for (const run of [floor, ours]) await run({ ...request, connections: 4, seconds: 1 });
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
    add('throughput', 'requests/s', 'perSecond', atLeast(0.5));
    add('p50', 'ms', 'p50');
    add('p99', 'ms', 'p99', atMost(3));
  }
  return figures;
}
