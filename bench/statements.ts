// How many SQL statements the work costs, by PostgreSQL's own count, less what runs when nothing happens.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sandbox } from '../sandbox/github.ts';
import type { Bench } from './bench.ts';
import { type Aim, alone, type Figure, upTo } from './figure.ts';
import type { Postgres } from './postgres.ts';
import { makeKey, type Service, startGitHub, startService } from './service.ts';

const repository = 'acme/web';
const path = `/v1/repos/${repository}`;
const freezes = `${path}/scheduled_freeze`;
/** Statuses that follow an event, its echo and the question behind it are there by then. Milliseconds. */
const aftermath = 5000;

type Site = { github: Sandbox; service: Service; admin: string; ci: string };

/** 20 freezes that hold nothing for now, and 16 pull requests to push scopes to. */
async function startSite(connectionString: string): Promise<Site> {
  const { github, token } = await startGitHub();
  github.addRepository(repository);
  for (let index = 0; index < 16; index++) github.openPullRequest(repository, { author: 'ada' });
  const service = await startService(github, { connectionString });
  github.install('acme');
  await github.waitForStatus(repository, 16, 'success', { timeoutMs: 60_000 });
  const [admin, ci] = [await makeKey(service, token, 'admin'), await makeKey(service, token, 'ci')];
  for (let index = 0; index < 20; index++)
    await service.call('POST', freezes, admin, {
      reason: `Release ${index}`,
      timezone: 'UTC',
      start: '2090-01-01T08:00:00',
      matching_conditions: ['label=risky'],
    });
  return { github, service, admin, ci };
}

const list = ({ service, admin }: Site) => service.call('GET', freezes, admin);
const push = ({ service, ci }: Site, index: number, scope: string) =>
  service.call('PUT', `${path}/pulls/${1 + (index % 16)}/scopes`, ci, { scopes: [scope] });

async function open({ github }: Site, count: number): Promise<void> {
  const opened = Array.from({ length: count }, () => github.openPullRequest(repository, { author: 'ada' }));
  for (const { number } of opened)
    await github.waitForStatus(repository, number, 'success', { timeoutMs: 120_000 });
}

async function freezeAll(site: Site, count: number): Promise<void> {
  const conditions = { matching_conditions: ['-draft'] };
  await site.service.call('POST', freezes, site.admin, {
    reason: 'Release',
    timezone: 'UTC',
    start: null,
    ...conditions,
  });
  for (let number = 1; number <= count; number++)
    await site.github.waitForStatus(repository, number, 'pending', { timeoutMs: 300_000 });
}

async function times(count: number, work: (index: number) => Promise<unknown>): Promise<void> {
  for (let index = 0; index < count; index++) await work(index);
}

async function measure(postgres: Postgres, connectionString: string, isQuick: boolean): Promise<Figure[]> {
  const site = await startSite(connectionString);
  const count = () => postgres.statementsIn(connectionString);
  const figures: Figure[] = [];
  try {
    await sleep(aftermath);
    const idleSeconds = isQuick ? 10 : 60;
    const before = await count();
    await sleep(idleSeconds * 1000);
    const perSecond = ((await count()) - before) / idleSeconds;
    figures.push(alone('statements', 'idle, a second', '', perSecond, upTo(3)));

    const during = async (name: string, units: number, limits: Aim[], work: () => Promise<unknown>) => {
      const [began, first] = [performance.now(), await count()];
      await work();
      await sleep(aftermath);
      const idle = (perSecond * (performance.now() - began)) / 1000;
      const each = Math.max(0, (await count()) - first - idle) / units;
      figures.push(alone('statements', name, '', each, ...limits));
    };
    // What a first request alone has to do.
    await list(site);
    await times(16, (index) => push(site, index, 'backend'));
    await sleep(aftermath);
    const requests = isQuick ? 32 : 320;
    await during('a list', requests, [upTo(2)], () => times(requests, () => list(site)));
    await during('a push of scopes, unchanged', requests, [upTo(3)], () =>
      times(requests, (index) => push(site, index, 'backend')),
    );
    await during('a push of scopes, changed', requests, [upTo(5)], () =>
      times(requests, (index) => push(site, index, `scope-${index}`)),
    );
    await during('one event to its status', 5, [upTo(16), upTo(12)], () =>
      times(5, async () => {
        await open(site, 1);
        await sleep(1000);
      }),
    );
    await during('an event of a burst of 100', 100, [upTo(5), upTo(3)], () => open(site, 100));
    const all = isQuick ? 200 : 1000;
    await open(site, all - 16 - 5 - 100);
    await sleep(aftermath);
    await during(`a status of ${all.toLocaleString('en-US')}`, all, [upTo(2), upTo(0.5)], () =>
      freezeAll(site, all),
    );
    return figures;
  } finally {
    await site.service.stop();
    await site.github.close();
  }
}

export const benchStatements: Bench = {
  name: 'statements',
  title: 'SQL statements',
  async run({ isQuick, postgres }) {
    if (!postgres) return { figures: [], notes: ['No PostgreSQL is installed: skipped.'] };
    const connectionString = await postgres.createDatabase('statements');
    const figures = await measure(postgres, connectionString, isQuick);
    const notes = [
      `Counted by pg_stat_statements: BEGIN and COMMIT too, and each of several in one message. What an idle process runs in the same time is subtracted. An event counts until ${aftermath / 1000} s after its status, our own \`status\` event included. One request after another, by fetch.`,
    ];
    return { figures, notes };
  },
};
