// From the start of the process to its first good answer, and the memory that it then has.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench } from './bench.ts';
import { memoryOf, startProgram } from './child-process.ts';
import { type Aim, alone, atMost, compare, type Figure, upTo } from './figure.ts';
import { makeKey, startGitHub, startService, type Where } from './service.ts';
import { median } from './statistics.ts';

type Start = { readyMs: number; idleMiB: number; usedMiB: number };
type Holdfast = 'PostgreSQL' | 'embedded, first start' | 'embedded, later start';
type Kind = 'floor' | Holdfast;
type Limits = { start: Aim[]; idle: Aim[]; used: Aim[] | null };
const kinds: ({ kind: Holdfast } & Limits)[] = [
  { kind: 'PostgreSQL', start: [], idle: [upTo(160)], used: [upTo(250)] },
  {
    kind: 'embedded, first start',
    start: [atMost(10), atMost(5)],
    idle: [upTo(450), upTo(350)],
    used: [upTo(500), upTo(350)],
  },
  { kind: 'embedded, later start', start: [], idle: [upTo(400), upTo(350)], used: null },
];

/** Milliseconds from ready until the memory is read. After 9 s of calm, V8 frees what only the start needed. */
const afterStart = 15_000;
const requests = 500;
const events = 200;

async function startFloor(connectionString: string): Promise<Start> {
  const began = performance.now();
  const floor = await startProgram('floors/api.ts', { DATABASE_URL: connectionString });
  try {
    const { url } = await floor.ask<{ url: string }>({});
    await (await fetch(`${url}/readyz`)).arrayBuffer();
    const readyMs = performance.now() - began;
    await sleep(afterStart);
    const idleMiB = memoryOf(floor.pid).resident;
    await requestOften(`${url}/v1/repos/acme/web/scheduled_freeze`);
    return { readyMs, idleMiB, usedMiB: memoryOf(floor.pid).resident };
  } finally {
    await floor.stop();
  }
}

/** @param isLoaded only on a new database: each sandbox begins with the same ids. */
async function startHoldfast(where: Where, isLoaded: boolean): Promise<Start> {
  const { github, token } = await startGitHub();
  github.addRepository('acme/web');
  github.openPullRequest('acme/web', { author: 'ada' });
  const service = await startService(github, where);
  try {
    github.install('acme');
    await sleep(afterStart);
    const idleMiB = memoryOf(service.pid).resident;
    if (!isLoaded) return { readyMs: service.readyAfter, idleMiB, usedMiB: NaN };
    await github.waitForStatus('acme/web', 1, 'success', { timeoutMs: 300_000 });
    const key = await makeKey(service, token, 'admin');
    await requestOften(`${service.url}/v1/repos/acme/web/scheduled_freeze`, key);
    const opened = Array.from({ length: events }, () =>
      github.openPullRequest('acme/web', { author: 'ada' }),
    );
    for (const { number } of opened)
      await github.waitForStatus('acme/web', number, 'success', { timeoutMs: 300_000 });
    await sleep(afterStart);
    return { readyMs: service.readyAfter, idleMiB, usedMiB: memoryOf(service.pid).resident };
  } finally {
    await service.stop();
    await github.close();
  }
}

/** Some work for it, one request after another. */
async function requestOften(url: string, key?: string): Promise<void> {
  for (let index = 0; index < requests; index++) {
    const response = await fetch(url, key ? { headers: { Authorization: `Bearer ${key}` } } : {});
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`${url} was answered ${response.status}`);
  }
}

export const benchStartUp: Bench = {
  name: 'start-up',
  title: 'Start-up and memory',
  async run({ isQuick, postgres }) {
    if (!postgres)
      return { figures: [], notes: ['No PostgreSQL is installed, and the floor needs one: skipped.'] };
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-start-up-'));
    const starts = new Map<Kind, Start[]>();
    const note = (kind: Kind, start: Start) => starts.set(kind, [...(starts.get(kind) ?? []), start]);
    try {
      for (let round = 0; round < (isQuick ? 1 : 3); round++) {
        const connectionString = await postgres.createDatabase(`start_up_${round}`);
        const dataDir = join(folder, String(round));
        // Makes the tables, which the floor reads too.
        note('PostgreSQL', await startHoldfast({ connectionString }, true));
        note('floor', await startFloor(connectionString));
        note('embedded, first start', await startHoldfast({ dataDir }, true));
        note('embedded, later start', await startHoldfast({ dataDir }, false));
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
    const of = (kind: Kind, value: keyof Start) => median(starts.get(kind)!.map((start) => start[value]));
    const figures = kinds.flatMap(({ kind, start, idle, used }): Figure[] => [
      compare(
        'start-up',
        `${kind}: start to ready`,
        'ms',
        of(kind, 'readyMs'),
        of('floor', 'readyMs'),
        ...start,
      ),
      alone('start-up', `${kind}: resident, idle`, 'MiB', of(kind, 'idleMiB'), ...idle),
      ...(used
        ? [alone('start-up', `${kind}: resident, after load`, 'MiB', of(kind, 'usedMiB'), ...used)]
        : []),
    ]);
    const notes = [
      `The floor is a bare Hono with pg on PostgreSQL; Holdfast starts as \`npm start\` does. Ready: the first good answer to \`/readyz\`. Idle: ${afterStart / 1000} s later. Load: ${requests} requests, one after another, and ${events} pull requests that are opened at once; read ${afterStart / 1000} s later. The median of the starts, in turns.`,
    ];
    return { figures, notes };
  },
};
