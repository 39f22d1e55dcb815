// Holdfast on a database of years, beside one that is nearly empty: the floor is Holdfast itself there.
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { systemClock } from '../src/time/clock.ts';
import { connectDatabase } from '../src/database/connect.ts';
import type { Deps } from '../src/deps.ts';
import { createJobQueue } from '../src/database/queue/queue.ts';
import { sweep } from '../src/server/sweep.ts';
import type { Sandbox } from '../sandbox/github.ts';
import type { Bench } from './bench.ts';
import { atMost, compare, type Figure } from './figure.ts';
import { makeKey, type Service, startGitHub, startService } from './service.ts';
import { median } from './statistics.ts';
import { fill, type Size } from './store/fill.ts';
import { explainAll, prepareForPlans, type Statement, statementsOf } from './store/plans.ts';

const repository = 'acme/web';
const path = `/v1/repos/${repository}`;

/** A service on a database of its own, with the keys for it. */
type Site = { github: Sandbox; service: Service; admin: string; ci: string; connectionString: string };

async function startSite(connectionString: string): Promise<Site> {
  const { github, token } = await startGitHub();
  github.addRepository(repository, { protect: { main: ['holdfast/freeze'] } });
  for (let index = 0; index < 20; index++) github.openPullRequest(repository, { author: 'ada' });
  const service = await startService(github, { connectionString });
  github.install('acme');
  await github.waitForStatus(repository, 20, 'success', { timeoutMs: 60_000 });
  const admin = await makeKey(service, token, 'admin');
  const ci = await makeKey(service, token, 'ci');
  return { github, service, admin, ci, connectionString };
}

async function stopSite({ service, github }: Site): Promise<void> {
  await service.stop();
  await github.close();
}

type Deed = { name: string; run(site: Site): Promise<unknown> };

const freeze = {
  reason: 'Release',
  start: '2090-01-01T00:00:00',
  timezone: 'UTC',
  matching_conditions: ['label=risky'],
};
const create = ({ service, admin }: Site, more: object = {}) =>
  service.call('POST', `${path}/scheduled_freeze`, admin, { ...freeze, ...more });
const remove = ({ service, admin }: Site, id: string) =>
  service.call('POST', `${path}/scheduled_freeze/${id}/delete`, admin, { delete_reason: 'Done' });

/** What clients do all day. */
const calls: Deed[] = [
  {
    name: 'list freezes',
    run: ({ service, admin }) => service.call('GET', `${path}/scheduled_freeze`, admin),
  },
  { name: 'create and delete a freeze', run: async (site) => remove(site, (await create(site)).body.id) },
  {
    name: 'push scopes',
    run: ({ service, ci }) => service.call('PUT', `${path}/pulls/1/scopes`, ci, { scopes: ['backend'] }),
  },
];

/** What events and time set off: watched for plans, not for time. */
const events: Deed[] = [
  {
    name: 'a push to a pull request',
    async run({ github }) {
      github.push(repository, 2);
      await github.waitForStatus(repository, 2, 'success', { timeoutMs: 30_000 });
    },
  },
  {
    name: 'a freeze that holds, and its end',
    async run(site) {
      const { body } = await create(site, { start: null, matching_conditions: ['scope=backend'] });
      await site.github.waitForStatus(repository, 1, 'pending', { timeoutMs: 30_000 });
      await remove(site, body.id);
      await site.github.waitForStatus(repository, 1, 'success', { timeoutMs: 30_000 });
    },
  },
  {
    name: 'an event that only conditions may read',
    run: async ({ github }) =>
      github.postStatus(repository, 3, { by: 'ada', state: 'success', context: 'build' }),
  },
  {
    name: 'explain a pull request',
    run: ({ service, admin }) => service.call('GET', `${path}/pulls/1/freezes`, admin),
  },
  {
    name: 'the log of a repository',
    run: ({ service, admin }) => service.call('GET', `${path}/logs`, admin),
  },
];

/** Milliseconds of each round, both databases in turns. */
async function time(rounds: number, sides: (() => Promise<unknown>)[]): Promise<number[]> {
  const times = sides.map((): number[] => []);
  for (let round = 0; round < rounds; round++)
    for (const [index, side] of sides.entries()) {
      const began = performance.now();
      await side();
      times[index]!.push(performance.now() - began);
    }
  return times.map(median);
}

/** The real sweep on a database whose service has stopped, so that nobody works on what it sends. */
async function openSweep(connectionString: string) {
  const database = await connectDatabase({ connectionString });
  const log = pino({ level: 'silent' });
  const jobs = createJobQueue(database, systemClock);
  const { prisma: db, sql, keepUp } = database;
  const config = { secretKeyPrevious: null, slack: { app: null } } as Deps['config'];
  const deps = { db, sql, keepUp, queue: jobs, clock: systemClock, log, config };
  return {
    run: () => sweep(deps as Partial<Deps> as Deps),
    close: () => database.close(),
  };
}

async function benchSweep(full: string, empty: string, rounds: number): Promise<Figure> {
  const sweeps = [await openSweep(full), await openSweep(empty)] as const;
  try {
    const [ours, floor] = await time(
      rounds,
      sweeps.map(({ run }) => run),
    );
    return compare('store', 'the sweep', 'ms', ours!, floor!);
  } finally {
    for (const { close } of sweeps) await close();
  }
}

/** Plans of everything that runs while a deed is done and its jobs are worked on. */
async function watch(site: Site, logs: string): Promise<Map<string, Statement[]>> {
  const watched = new Map<string, Statement[]>();
  for (const { name, run } of [...calls, ...events]) {
    const work = () => run(site).then(() => sleep(1000));
    watched.set(name, await statementsOf(logs, 'store_full', work));
  }
  return watched;
}

export const benchStore: Bench = {
  name: 'store',
  title: 'A database of years',
  async run({ isQuick, postgres }) {
    if (!postgres) return { figures: [], notes: ['No PostgreSQL is installed: skipped.'] };
    const size: Size = {
      repositories: isQuick ? 1000 : 10_000,
      freezesEach: 10,
      scopesEach: 100,
      headsEach: 10,
    };
    const full = await startSite(await prepareForPlans(await postgres.createDatabase('store_full')));
    const empty = await startSite(await postgres.createDatabase('store_empty'));
    const figures: Figure[] = [];
    let watched: Map<string, Statement[]>;
    try {
      await fill(full.connectionString, size);
      for (const { name, run } of calls) {
        const [ours, floor] = await time(isQuick ? 10 : 60, [() => run(full), () => run(empty)]);
        figures.push(compare('store', name, 'ms', ours!, floor!, atMost(1.5)));
      }
      await explainAll(full.connectionString, true);
      watched = await watch(full, postgres.logs);
    } finally {
      await explainAll(full.connectionString, false);
      await stopSite(full);
      await stopSite(empty);
    }
    figures.push(await benchSweep(full.connectionString, empty.connectionString, isQuick ? 3 : 7));
    watched.set('the sweep', await watchSweep(full.connectionString, postgres.logs));
    return { figures, notes: [notesOf(size), ...observations(watched)], failures: scansIn(watched) };
  },
};

async function watchSweep(connectionString: string, logs: string): Promise<Statement[]> {
  await explainAll(connectionString, true);
  const { run, close } = await openSweep(connectionString);
  try {
    return await statementsOf(logs, 'store_full', run);
  } finally {
    await close();
    await explainAll(connectionString, false);
  }
}

const notesOf = ({ repositories, freezesEach, scopesEach, headsEach }: Size): string => {
  const count = (each: number) => (repositories * each).toLocaleString('en-US');
  return `${count(1)} repositories, ${count(freezesEach)} freezes, ${count(scopesEach)} pull requests with scopes, ${count(headsEach)} open pull requests with their statuses, on PostgreSQL. The floor is Holdfast itself on a nearly empty database, in turns.`;
};

const oneLine = (sql: string): string => sql.replace(/\s+/g, ' ').trim().slice(0, 160);

/** Each statement once, with what it stands for. */
const distinct = (statements: Statement[]): Statement[] => [
  ...new Map(statements.map((each) => [each.sql, each])).values(),
];

function scansIn(watched: Map<string, Statement[]>): string[] {
  return [...watched].flatMap(([name, statements]) =>
    distinct(statements.filter(({ scanned }) => scanned.length > 0)).map(
      ({ scanned, sql, ms }) =>
        `${name} reads ${scanned.join(' and ')} from end to end (${ms.toFixed(1)} ms): \`${oneLine(sql)}\``,
    ),
  );
}

/** Most rows that a statement may look at before it is told. */
const manyRows = 1000;

function observations(watched: Map<string, Statement[]>): string[] {
  return [...watched].map(([name, statements]) => {
    const slowest = statements.toSorted((one, other) => other.ms - one.ms)[0];
    const many = distinct(statements.filter(({ rows }) => rows > manyRows)).map(
      ({ rows, sql }) => `${rows.toLocaleString('en-US')} rows by \`${oneLine(sql)}\``,
    );
    return `Plans of ${name}: ${statements.length} statements, the slowest ${slowest?.ms.toFixed(1)} ms${many.length > 0 ? `; looked at ${many.join(', ')}` : ''}.`;
  });
}
