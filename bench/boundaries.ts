// 200 freezes that start in the same second over 50 repositories, three times.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sandbox } from '../sandbox/github.ts';
import type { Bench } from './bench.ts';
import { startProgram } from './child-process.ts';
import { type Aim, compare, type Figure, upToAt, usualPost } from './figure.ts';
import type { Posted } from './floors/statuses.ts';
import { startGitHub, startService, type Where } from './service.ts';
import { percentile } from './statistics.ts';

const perRepository = 4;
/** One round is one number by chance: a shared machine that stops for 0.1 s moves it by a fifth. */
const rounds = 3;
/** How many statuses the floor posts, one after another, to say how fast the machine is. */
const posts = 5000;
/** Seconds that a freeze lasts, and from one round to the next. */
const lasts = 5;
const roundEvery = 10;

/** @property post the processor time of a posted status of the floor, in ms: how fast the machine is. */
type Lateness = { ours: number[]; floor: number[]; post: number };

/** The instant of a whole second, so many seconds from now. */
const inSeconds = (seconds: number): number => (Math.ceil(Date.now() / 1000) + seconds) * 1000;

/** An instant as the API takes it. */
const localTime = (instant: number): string => new Date(instant).toISOString().slice(0, 19);

/** Milliseconds from an instant to the first status of each repository that says that it is frozen. */
async function firstStatuses(github: Sandbox, at: number, repositories: string[]): Promise<number[]> {
  const first = new Map<string, number>();
  const stopListening = github.onStatus(({ repository, state }) => {
    if (state === 'pending' && !first.has(repository)) first.set(repository, Date.now() - at);
  });
  const deadline = at + 60_000;
  while (first.size < repositories.length && Date.now() < deadline) await sleep(50);
  stopListening();
  return repositories.map((repository) => first.get(repository) ?? Infinity);
}

async function measure(
  owners: number,
  repositoryCount: number,
  lead: number,
  where: Where,
): Promise<Lateness> {
  const { github, token } = await startGitHub();
  const logins = Array.from({ length: owners }, (_, index) => `owner-${index}`);
  const heads: { repository: string; sha: string }[] = [];
  for (const login of logins) {
    github.addOrganization(login, { admins: ['ada'] });
    for (let index = 0; index < repositoryCount / owners; index++) {
      const repository = `${login}/app-${index}`;
      github.addRepository(repository);
      heads.push({ repository, sha: github.openPullRequest(repository, { author: 'ada' }).headSha });
    }
  }
  const repositories = heads.map(({ repository }) => repository);
  const floor = await startProgram('floors/statuses.ts', { GITHUB: github.url, TOKEN: token });
  const service = await startService(github, where);
  try {
    for (const login of logins) github.install(login);
    for (const repository of repositories)
      await github.waitForStatus(repository, 1, 'success', { timeoutMs: 60_000 });
    const starts = inSeconds(lead);
    const instants = Array.from({ length: rounds }, (_, round) => starts + round * roundEvery * 1000);
    for (const repository of repositories)
      for (const at of instants)
        for (let index = 0; index < perRepository; index++) {
          const window = { start: localTime(at), end: localTime(at + lasts * 1000), timezone: 'UTC' };
          const freeze = { reason: `Release ${index}`, ...window };
          await service.call('POST', `/v1/repos/${repository}/scheduled_freeze`, token, freeze);
        }
    if (Date.now() > starts - 2000) throw new Error(`${lead} s were too few to schedule all freezes`);
    const ours: number[] = [];
    for (const at of instants) {
      await sleep(at - Date.now() - 500);
      ours.push(...(await firstStatuses(github, at, repositories)));
    }
    github.deliverTo(null);
    const late: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const at = inSeconds(2);
      const posted = floor.ask({ do: 'post at', at, heads });
      late.push(...(await firstStatuses(github, at, repositories)));
      await posted;
    }
    const passes = Array.from({ length: posts / heads.length }, () => heads);
    const { cpuMs } = await floor.ask<Posted>({ do: 'post', heads: passes.flat() });
    return { ours, floor: late, post: cpuMs / posts };
  } finally {
    await service.stop();
    await floor.stop();
    await github.close();
  }
}

function figuresOf(name: string, { ours, floor, post }: Lateness): Figure[] {
  const figure = (what: string, share: number, ...limits: Aim[]) =>
    compare(
      'boundaries',
      `${name}: ${what}`,
      'ms',
      percentile(ours, share),
      percentile(floor, share),
      ...limits,
    );
  return [figure('p50', 0.5), figure('p99', 0.99, upToAt(500, post), upToAt(300, post)), figure('max', 1)];
}

export const benchBoundaries: Bench = {
  name: 'boundaries',
  title: 'Many freezes that start at once',
  async run({ isQuick, postgres }) {
    if (!postgres) return { figures: [], notes: ['No PostgreSQL is installed: skipped.'] };
    const repositoryCount = isQuick ? 10 : 50;
    const figures: Figure[] = [];
    const times: number[] = [];
    for (const owners of [1, 10]) {
      const connectionString = await postgres.createDatabase(`boundaries_${owners}`);
      const lateness = await measure(owners, repositoryCount, isQuick ? 15 : 45, { connectionString });
      figures.push(...figuresOf(`${owners} installation${owners > 1 ? 's' : ''}`, lateness));
      times.push(lateness.post);
    }
    const notes = [
      `${repositoryCount * perRepository} freezes of ${repositoryCount} repositories start in the same second, ${rounds} times, all made in advance through the API, on PostgreSQL. Measured for each repository from that instant to its first status; the first round finds a process that never served one.`,
      'The floor is a timer that posts one status for each repository, all at once, as many times.',
      `The budgets are as many times longer as the floor's processor takes longer for a status than where they were set: ${times.map((each) => each.toFixed(3)).join(' and ')} ms of ${posts} statuses one after another, ${usualPost} ms there. The floor's own lateness does not say it: on one machine its p99 was 74 to 226 ms in eight runs.`,
    ];
    return { figures, notes };
  },
};
