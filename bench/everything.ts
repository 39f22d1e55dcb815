// An emergency freeze of everything: whether the service still answers, and still holds what somebody freezes beside it,
// while the statuses of all repositories wait for GitHub's pace.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sandbox } from '../sandbox/github.ts';
import { freeText } from '../src/statuses/status.ts';
import type { Bench } from './bench.ts';
import { cpuOf, memoryOf, startProgram } from './child-process.ts';
import { alone, type Figure, upTo } from './figure.ts';
import type { Seen } from './pulse.ts';
import { makeKey, type Service, startGitHub, startService, type Where } from './service.ts';

type Size = { repositories: number; each: number };

/** Pull requests of a repository that is frozen beside: what may go at once at the starting pace, and is left for it. */
const eachBeside = 5;
/** How many repositories are frozen beside, in each of the two installations, and milliseconds between them. */
const beside = 8;
const betweenBeside = 8_000;
/** Milliseconds that statuses wait while the processor time is measured. */
const waiting = 60_000;
const patience = 1_200_000;

/** What the variable is by default. */
const pace = { STATUS_WRITES_PER_MINUTE: '170' };

/**
 * Pull requests that show our success. Nothing that they had to wait for is part of this. Those beside get theirs from the
 * service, as in daily work: statuses that it does not know have to be counted first.
 */
function populate(github: Sandbox, { repositories, each }: Size): void {
  github.addOrganization('beta', { admins: ['ada'] });
  const add = (repository: string, count: number) => {
    github.addRepository(repository, { protect: { main: ['holdfast/freeze'] } });
    for (let made = 0; made < count; made++) {
      const { number } = github.openPullRequest(repository, { author: 'ada' });
      if (!repository.includes('/other-'))
        github.postStatus(repository, number, { by: 'ada', state: 'success', description: freeText });
    }
  };
  for (let index = 0; index < repositories; index++) add(`acme/app-${index}`, each);
  for (let index = 0; index < beside; index++)
    for (const owner of ['acme', 'beta']) add(`${owner}/other-${index}`, eachBeside);
}

const observed = (service: Service): number => service.log().split('"repository reconciled"').length - 1;

async function untilObserved(service: Service, count: number, more: () => Promise<void> = async () => {}) {
  for (const deadline = performance.now() + patience; observed(service) < count; await sleep(500)) {
    if (performance.now() > deadline) throw new Error(`${observed(service)} of ${count} were observed`);
    await more();
  }
}

type Measured = {
  healthz: Seen;
  /** Seconds until the freezes beside held, by owner. */
  held: Record<'acme' | 'beta', number[]>;
  /** Seconds until the plan was answered, and until every repository was observed. */
  planned: number;
  observed: number;
  /** Share of a core while statuses wait. */
  cpu: number;
  written: number;
  resident: number;
  stopped: number;
  ready: number;
  /** Statuses in the minute after the restart. */
  writtenAfter: number;
};

async function measure(where: Where, size: Size): Promise<Measured> {
  const { github, token } = await startGitHub();
  populate(github, size);
  let free = 0;
  github.onStatus(({ state }) => void (free += Number(state === 'success')));
  const pulse = await startProgram('pulse.ts');
  let service = await startService(github, where, pace);
  try {
    github.install('acme');
    github.install('beta');
    const all = size.repositories + 2 * beside;
    await untilObserved(service, all);
    const key = { acme: await makeKey(service, token, 'admin'), beta: token };
    for (const deadline = performance.now() + patience; free < 2 * beside * eachBeside; await sleep(500))
      if (performance.now() > deadline) throw new Error(`${free} pull requests beside are free`);
    // The pace has its burst again.
    await sleep(20_000);
    const before = observed(service);

    let written = 0;
    const waits = new Map<string, number>();
    const held = { acme: [] as number[], beta: [] as number[] };
    github.onStatus(({ repository, state }) => {
      written++;
      const left = waits.get(repository);
      if (state === 'pending' && left) waits.set(repository, left - 1);
    });
    let turn = 0;
    const freezeBeside = async (owner: 'acme' | 'beta') => {
      const repository = `${owner}/other-${turn}`;
      waits.set(repository, eachBeside);
      const began = performance.now();
      const freeze = { reason: 'Release', start: null, timezone: 'UTC' };
      await service.call('POST', `/v1/repos/${repository}/scheduled_freeze`, key[owner], freeze);
      while (waits.get(repository)! > 0 && performance.now() - began < 20_000) await sleep(10);
      held[owner].push(waits.get(repository)! > 0 ? Infinity : (performance.now() - began) / 1000);
    };
    const freezesBeside = (async () => {
      for (; turn < beside; turn++) {
        await sleep(betweenBeside);
        await Promise.all([freezeBeside('acme'), freezeBeside('beta')]);
      }
    })();
    freezesBeside.catch(() => {});

    await pulse.ask<Seen>({ url: `${service.url}/healthz` });
    const began = performance.now();
    const plan = {
      ...{ name: 'Emergency', reason: 'Emergency', repositories: { include: ['app-*'] } },
      ...{ start: null, end: null, timezone: 'UTC' },
    };
    await service.call('POST', '/v1/freeze_plans/acme', token, plan);
    const planned = (performance.now() - began) / 1000;
    await untilObserved(service, before + size.repositories);
    const observedAfter = (performance.now() - began) / 1000;
    await freezesBeside;
    // Closed pull requests are looked at behind.
    await sleep(10_000);
    const [cpu, from, writtenBefore] = [cpuOf(service.pid), performance.now(), written];
    await sleep(waiting);
    const share = (100 * (cpuOf(service.pid) - cpu)) / (performance.now() - from);
    const writtenWaiting = written - writtenBefore;
    const { resident } = memoryOf(service.pid);
    const healthz = await pulse.ask<Seen>({ url: null });

    const stopping = performance.now();
    await service.stop();
    const stopped = (performance.now() - stopping) / 1000;
    service = await startService(github, where, pace);
    const writtenStopped = written;
    await sleep(waiting);
    return {
      ...{ healthz, held, planned, observed: observedAfter, cpu: share, written: writtenWaiting, resident },
      ...{ stopped, ready: service.readyAfter / 1000, writtenAfter: written - writtenStopped },
    };
  } finally {
    await service.stop();
    await pulse.stop();
    await github.close();
  }
}

function figuresOf(name: string, measured: Measured): Figure[] {
  const { healthz, held, planned, observed, cpu, written, resident, stopped, ready, writtenAfter } = measured;
  const figure = (what: string, unit: string, value: number, most?: number) =>
    alone('everything', `${name}: ${what}`, unit, value, most === undefined ? undefined : upTo(most));
  const worst = (of: number[]) => Math.max(...of);
  return [
    figure('the plan is answered after', 's', planned),
    figure('all repositories were observed after', 's', observed),
    figure('/healthz, p99', 'ms', healthz.p99, 250),
    figure('/healthz, longest', 'ms', healthz.max),
    figure('/healthz, without an answer', 'requests', healthz.failed, 0),
    figure('a freeze beside, same installation, longest', 's', worst(held.acme), 2),
    figure('a freeze beside, another installation, longest', 's', worst(held.beta), 2),
    figure('processor while statuses wait', '% of a core', cpu, 15),
    figure('statuses written in a minute', 'statuses', written),
    figure('resident', 'MiB', resident),
    figure('ends after SIGTERM', 's', stopped, 10),
    figure('a restart is ready after', 's', ready, 10),
    figure('statuses in the minute after it', 'statuses', writtenAfter),
  ];
}

export const benchEverything: Bench = {
  name: 'everything',
  title: 'A freeze of everything, at GitHub’s pace',
  async run({ isQuick, postgres }) {
    const size = isQuick ? { repositories: 300, each: 20 } : { repositories: 2000, each: 20 };
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-everything-'));
    const figures: Figure[] = [];
    try {
      if (postgres) {
        const connectionString = await postgres.createDatabase('everything');
        figures.push(...figuresOf('PostgreSQL', await measure({ connectionString }, size)));
      }
      figures.push(...figuresOf('embedded', await measure({ dataDir: folder }, size)));
    } finally {
      rmSync(folder, { recursive: true });
    }
    const notes = [
      `One plan freezes ${size.repositories} repositories with ${size.each} green pull requests each, at the pace that is the default. /healthz is asked 20 times a second from then on, to the end of the minute in which the processor time is measured. Meanwhile, every ${betweenBeside / 1000} s, somebody freezes one repository with ${eachBeside} green pull requests in the same installation, and one in another: measured from the request until the last of them shows pending.`,
      'GitHub’s side works in the process of the benchmarks, on the same cores. The processor time is that of Holdfast, which has PostgreSQL in it where it is embedded.',
    ];
    return { figures, notes };
  },
};
