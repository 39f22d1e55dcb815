// 200 freezes that start in the same second over 50 repositories.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sandbox } from '../sandbox/github.ts';
import type { Bench } from './bench.ts';
import { startProgram } from './child-process.ts';
import { type Aim, compare, type Figure, upTo } from './figure.ts';
import { startGitHub, startService, type Where } from './service.ts';
import { percentile } from './statistics.ts';

const perRepository = 4;

type Lateness = { ours: number[]; floor: number[] };

/** When, in seconds from now, as the instant and as the API takes it. */
function inSeconds(seconds: number): { at: number; start: string } {
  const at = (Math.ceil(Date.now() / 1000) + seconds) * 1000;
  return { at, start: new Date(at).toISOString().slice(0, 19) };
}

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
    const { at, start } = inSeconds(lead);
    for (const repository of repositories)
      for (let index = 0; index < perRepository; index++) {
        const freeze = { reason: `Release ${index}`, start, timezone: 'UTC' };
        await service.call('POST', `/v1/repos/${repository}/scheduled_freeze`, token, freeze);
      }
    if (Date.now() > at - 2000) throw new Error(`${lead} s were too few to schedule all freezes`);
    const ours = await firstStatuses(github, at, repositories);
    github.deliverTo(null);
    const next = inSeconds(2);
    const posted = floor.ask({ do: 'post at', at: next.at, heads });
    const late = await firstStatuses(github, next.at, repositories);
    await posted;
    return { ours, floor: late };
  } finally {
    await service.stop();
    await floor.stop();
    await github.close();
  }
}

/** @param usual the floor's p99 where the budget was set, in ms. */
function figuresOf(name: string, { ours, floor }: Lateness, usual: number): Figure[] {
  const figure = (what: string, share: number, ...limits: Aim[]) =>
    compare(
      'boundaries',
      `${name}: ${what}`,
      'ms',
      percentile(ours, share),
      percentile(floor, share),
      ...limits,
    );
  return [figure('p50', 0.5), figure('p99', 0.99, upTo(500, usual), upTo(300, usual)), figure('max', 1)];
}

export const benchBoundaries: Bench = {
  name: 'boundaries',
  title: 'Many freezes that start at once',
  async run({ isQuick, postgres }) {
    if (!postgres) return { figures: [], notes: ['No PostgreSQL is installed: skipped.'] };
    const repositoryCount = isQuick ? 10 : 50;
    const figures: Figure[] = [];
    for (const [owners, usual] of [
      [1, 62],
      [10, 35],
    ] as const) {
      const connectionString = await postgres.createDatabase(`boundaries_${owners}`);
      const lateness = await measure(owners, repositoryCount, isQuick ? 8 : 20, { connectionString });
      figures.push(...figuresOf(`${owners} installation${owners > 1 ? 's' : ''}`, lateness, usual));
    }
    const notes = [
      `${repositoryCount * perRepository} freezes of ${repositoryCount} repositories start in the same second, all made in advance through the API, on PostgreSQL. Measured for each repository from that instant to its first status.`,
      'The floor is a timer that posts one status for each repository, all at once.',
    ];
    return { figures, notes };
  },
};
