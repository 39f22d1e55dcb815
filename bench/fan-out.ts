// A freeze over all open pull requests of a repository: calls, processor time, wall time, memory.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sandbox } from '../sandbox/github.ts';
import type { Bench } from './bench.ts';
import { cpuOf, memoryOf, startProgram } from './child-process.ts';
import { atMost, compare, type Figure, upTo, usualPost } from './figure.ts';
import type { Posted } from './floors/statuses.ts';
import { makeKey, startGitHub, startService, type Where } from './service.ts';

const repository = 'acme/web';

type Spent = { wallMs: number; cpuMs: number; calls: number; peak: number };
type Pair = { count: number; ours: Spent; floor: Posted };

/** What others on the machine do only adds time, so of several rounds the least counts; of calls and memory the most. */
function leastOf(pairs: Pair[]): Pair {
  const least = (of: (pair: Pair) => number) => Math.min(...pairs.map(of));
  const most = (of: (pair: Pair) => number) => Math.max(...pairs.map(of));
  return {
    count: pairs[0]!.count,
    ours: {
      wallMs: least(({ ours }) => ours.wallMs),
      cpuMs: least(({ ours }) => ours.cpuMs),
      calls: most(({ ours }) => ours.calls),
      peak: most(({ ours }) => ours.peak),
    },
    floor: { wallMs: least(({ floor }) => floor.wallMs), cpuMs: least(({ floor }) => floor.cpuMs) },
  };
}

/** Resolves when every pull request has a status of this state. */
async function allHave(github: Sandbox, count: number, state: 'success' | 'pending'): Promise<void> {
  for (let number = 1; number <= count; number++)
    await github.waitForStatus(repository, number, state, { timeoutMs: 300_000 });
}

async function freezeAll(count: number, where: Where): Promise<Pair> {
  const { github, token } = await startGitHub();
  github.addRepository(repository, { protect: { main: ['holdfast/freeze'] } });
  const heads = Array.from({ length: count }, () => github.openPullRequest(repository, { author: 'ada' }));
  const floor = await startProgram('floors/statuses.ts', { GITHUB: github.url, TOKEN: token });
  const service = await startService(github, where);
  try {
    github.install('acme');
    // What it wrote itself it need not look for.
    await allHave(github, count, 'success');
    const key = await makeKey(service, token, 'admin');
    const freeze = { reason: 'Release', start: null, timezone: 'UTC' };
    await sleep(2000);
    github.requests.clear();
    const cpu = cpuOf(service.pid);
    const began = performance.now();
    await service.call('POST', `/v1/repos/${repository}/scheduled_freeze`, key, freeze);
    await allHave(github, count, 'pending');
    const wallMs = performance.now() - began;
    // What it does behind the last status belongs to it.
    await sleep(500);
    const spent = { cpuMs: cpuOf(service.pid) - cpu, peak: memoryOf(service.pid).peak };
    const ours = { wallMs, ...spent, calls: github.requests.length };
    github.deliverTo(null);
    const question = { do: 'post', heads: heads.map(({ headSha: sha }) => ({ repository, sha })) };
    return { count, ours, floor: await floor.ask<Posted>(question) };
  } finally {
    await service.stop();
    await floor.stop();
    await github.close();
  }
}

function figuresOf({ count, ours, floor }: Pair): Figure[] {
  const name = `${count.toLocaleString('en-US')} pull requests`;
  // A read and a question for merge states for each 100, and a status each.
  const least = 2 * Math.ceil(count / 100) + count;
  return [
    compare('fan-out', `${name}: calls to GitHub`, 'calls', ours.calls, least, atMost(1.01), atMost(1)),
    compare('fan-out', `${name}: wall time of each`, 'ms', ours.wallMs / count, floor.wallMs / count),
    compare(
      'fan-out',
      `${name}: processor time of each`,
      'ms',
      ours.cpuMs / count,
      floor.cpuMs / count,
      upTo(2, usualPost),
      upTo(1, usualPost),
    ),
  ];
}

export const benchFanOut: Bench = {
  name: 'fan-out',
  title: 'A freeze over many pull requests',
  async run({ isQuick, postgres }) {
    if (!postgres) return { figures: [], notes: ['No PostgreSQL is installed: skipped.'] };
    const counts = isQuick ? [100, 200] : [1000, 5000];
    const rounds: Pair[] = [];
    // In turns, so that a machine that slows down slows both.
    for (let round = 0; round < (isQuick ? 1 : 3); round++)
      for (const count of counts) {
        const connectionString = await postgres.createDatabase(`fan_out_${count}_${round}`);
        rounds.push(await freezeAll(count, { connectionString }));
      }
    const pairs = counts.map((count) => leastOf(rounds.filter((pair) => pair.count === count)));
    const [few, many] = pairs as [Pair, Pair];
    const each = ({ count, ours, floor }: Pair, what: 'wallMs' | 'cpuMs') =>
      (ours[what] - floor[what]) / count;
    const growth = (name: string, what: 'wallMs' | 'cpuMs') =>
      compare(
        'fan-out',
        `growth: ${name} of each above the floor, ${many.count} beside ${few.count}`,
        'ms',
        each(many, what),
        each(few, what),
        atMost(1.25),
      );
    const figures = [
      ...pairs.flatMap(figuresOf),
      growth('wall time', 'wallMs'),
      growth('processor time', 'cpuMs'),
      compare('fan-out', 'growth: peak memory', 'MiB', many.ours.peak, few.ours.peak),
    ];
    const notes = [
      'Pacing is off, the database is PostgreSQL. The floor of the calls is one GraphQL read and one question whether GitHub would merge them all the same for each 100 pull requests, and one status each (before that question there were 10 calls fewer for 1,000 pull requests); of the times, a loop that posts the same statuses one after another. The calls above the floor are the look, once when a freeze is made, whether anything enforces it, and the question for closed pull requests, once when a freeze begins.',
      'Three rounds, in turns: of the times the least counts, of calls and memory the most.',
      'Growth: what each pull request costs above the floor among the many, beside that among the few; linear is 1. The floor itself grows: GitHub’s stand-in keeps more.',
    ];
    return { figures, notes };
  },
};
