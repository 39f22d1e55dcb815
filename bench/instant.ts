// Instant holds: how soon nothing can merge after a freeze begins, how soon the first can after its end, and the calls.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sandbox } from '../sandbox/github.ts';
import type { Bench } from './bench.ts';
import { alone, type Figure, upTo } from './figure.ts';
import { median } from './statistics.ts';
import { makeKey, type Service, startGitHub, startService, type Where } from './service.ts';

type Measured = { beginMs: number; endMs: number; rulesetCalls: number; statuses: number };

const isHeld = (github: Sandbox, repository: string) =>
  github.rulesetsOf(repository).some(({ enforcement }) => enforcement === 'active');

async function until(holds: () => boolean, most = 60_000): Promise<number> {
  const began = performance.now();
  while (!holds()) {
    if (performance.now() - began > most) throw new Error(`It took longer than ${most / 1000} s`);
    await sleep(1);
  }
  return performance.now() - began;
}

/** Freezes a repository, waits for its statuses, and ends the freeze. */
async function once(github: Sandbox, service: Service, key: string, repository: string): Promise<Measured> {
  const open = github.pullRequests(repository).map(({ number }) => number);
  const shown = (state: string) =>
    open.every((number) => github.currentStatus(repository, number)?.state === state);
  const first = github.requests.length;
  const path = `/v1/repos/${repository}/scheduled_freeze`;
  const freeze = { reason: 'Release', start: null, timezone: 'UTC' };
  const beginning = until(() => isHeld(github, repository));
  const { body } = await service.call('POST', path, key, freeze);
  const beginMs = await beginning;
  await until(() => shown('pending'));
  const calls = github.requests.slice(first).filter((each) => each.path.startsWith(`/repos/${repository}/`));
  const rulesetCalls = calls.filter(({ path: at }) => at.includes('/rulesets')).length;
  const statuses = calls.filter(
    ({ method, path: at }) => method === 'POST' && at.includes('/statuses/'),
  ).length;
  const ending = until(() => open.some((number) => github.mergeable(repository, number) === 'clean'));
  await service.call('POST', `${path}/${body.id}/delete`, key, { delete_reason: 'Done' });
  const endMs = await ending;
  await until(() => shown('success'));
  return { beginMs, endMs, rulesetCalls, statuses };
}

type Parts = { github: Sandbox; service: Service; key: string; names: string[] };

async function withRepositories<Result>(
  count: number,
  each: number,
  where: Where,
  run: (parts: Parts) => Promise<Result>,
): Promise<Result> {
  const { github, token } = await startGitHub();
  const second = github.addSecondApp();
  const names = Array.from({ length: count }, (_, index) => `acme/web-${index}`);
  for (const name of names) {
    github.addRepository(name, { protect: { main: ['holdfast/freeze'] } });
    for (let number = 0; number < each; number++) github.openPullRequest(name, { author: 'ada' });
  }
  const service = await startService(github, where, {
    LOCK_APP_ID: String(second.id),
    LOCK_PRIVATE_KEY: second.privateKey,
  });
  try {
    github.install('acme');
    github.install('acme', { second: true });
    const numbers = Array.from({ length: each }, (_, index) => index + 1);
    const isFree = (name: string) => (number: number) =>
      github.currentStatus(name, number)?.state === 'success';
    await until(() => names.every((name) => numbers.every(isFree(name))), 300_000);
    const key = await makeKey(service, token, 'admin');
    await service.call('PATCH', '/v1/settings/acme', key, { instant_hold: 'lock' });
    return await run({ github, service, key, names });
  } finally {
    await service.stop();
    await github.close();
  }
}

/** Milliseconds that GitHub takes for an answer about a ruleset, as far away as it is. */
const farAway = 150;

type Plan = { heldMs: number; refused: number; rulesetCalls: number };

/** A plan begins in many repositories at one instant. @returns how long after it the last of them is held. */
async function planned({ github, service, key, names }: Parts, writesPerMinute = Infinity): Promise<Plan> {
  github.faults.add({ kind: 'delay', ms: farAway, match: { path: /\/rulesets/ } });
  const at = (Math.ceil(Date.now() / 1000) + 15) * 1000;
  const start = new Date(at).toISOString().slice(0, 19);
  const plan = { name: 'Year end', reason: 'Books are closed', repositories: { include: ['*'] } };
  await service.call('POST', '/v1/freeze_plans/acme', key, { ...plan, start, timezone: 'UTC' });
  await sleep(at - Date.now());
  const first = github.requests.length;
  github.writeLimit.perMinute = writesPerMinute;
  const open = new Set(names);
  await until(() => {
    for (const name of open) if (isHeld(github, name)) open.delete(name);
    return open.size === 0;
  }, 600_000);
  const heldMs = Date.now() - at;
  const calls = github.requests.slice(first).filter(({ path }) => path.includes('/rulesets'));
  return { heldMs, refused: github.writeLimit.refusals, rulesetCalls: calls.length / names.length };
}

const most = (all: Measured[], of: (each: Measured) => number) => Math.max(...all.map(of));

export const benchInstant: Bench = {
  name: 'instant',
  title: 'Instant holds',
  async run({ isQuick, postgres }) {
    if (!postgres) return { figures: [], notes: ['No PostgreSQL is installed: skipped.'] };
    const pullRequests = isQuick ? 100 : 1000;
    const rounds = isQuick ? 3 : 20;
    const one = await withRepositories(
      1,
      pullRequests,
      { connectionString: await postgres.createDatabase('instant') },
      async ({ github, service, key, names }) => {
        const all: Measured[] = [];
        for (let round = 0; round < rounds; round++) all.push(await once(github, service, key, names[0]!));
        return all;
      },
    );
    const together = await withRepositories(
      10,
      pullRequests / 10,
      { connectionString: await postgres.createDatabase('instant_many') },
      ({ github, service, key, names }) => Promise.all(names.map((name) => once(github, service, key, name))),
    );
    const repositories = isQuick ? 50 : 500;
    const plan = await withRepositories(
      repositories,
      2,
      { connectionString: await postgres.createDatabase('instant_plan') },
      planned,
    );
    const [first, ...later] = one;
    const name = `${pullRequests.toLocaleString('en-US')} pull requests`;
    const figures: Figure[] = [
      alone(
        'instant',
        `${name}: nothing can merge after`,
        'ms',
        most(one, (each) => each.beginMs),
        upTo(1000),
      ),
      alone(
        'instant',
        `${name}: the first can merge after`,
        'ms',
        most(one, (each) => each.endMs),
        upTo(1000),
      ),
      alone('instant', 'calls for the ruleset, the first time', 'calls', first!.rulesetCalls, upTo(3)),
      alone(
        'instant',
        'calls for the ruleset, later',
        'calls',
        // In each minute, one beginning coincides with the comparison with GitHub, which asks for itself.
        median(later.map((each) => each.rulesetCalls)),
        upTo(2),
      ),
      alone(
        'instant',
        `${name}: statuses`,
        'calls',
        most(one, (each) => each.statuses),
        upTo(pullRequests),
      ),
      alone(
        'instant',
        '10 repositories at once: nothing can merge after',
        'ms',
        most(together, (each) => each.beginMs),
        upTo(3000),
      ),
      alone(
        'instant',
        `a plan over ${repositories} repositories: nothing can merge after`,
        'ms',
        plan.heldMs,
        upTo(30_000),
      ),
    ];
    const notes = [
      `The slowest of ${rounds} beginnings and ends in the mode lock, from the request on; of the later calls the median. Pacing is off, the database is PostgreSQL.`,
    ];
    return { figures, notes };
  },
};
