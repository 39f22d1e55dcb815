// One plan freezes all repositories, and their statuses wait for hours. Nothing is done about them meanwhile that could
// change nothing, and what somebody freezes beside it is held at once.
import { beforeAll, expect, test } from 'vitest';
import { freeText } from '../src/statuses/status.ts';
import { acmeForAll } from './support/acme.ts';
import { countStatements } from './support/statements.ts';

// One status a minute.
const acme = acmeForAll({ statusWritesPerMinute: { least: 1, most: 1 } });
const repositories = 8;
const each = 1;
const seconds = 1000;

/** A repository whose pull requests show our success already. */
async function green(name: string, count: number): Promise<string> {
  const { github } = acme;
  const { fullName } = github.addRepository(`acme/${name}`, { protect: { main: ['holdfast/freeze'] } });
  for (let made = 0; made < count; made++) {
    const { number } = github.openPullRequest(fullName, { author: 'ada' });
    github.postStatus(fullName, number, { by: 'ada', state: 'success', description: freeText });
  }
  await acme.quiet();
  return fullName;
}

async function pass(duration: number, step = 4 * seconds): Promise<void> {
  for (let passed = 0; passed < duration; passed += step)
    await acme.advanceTo(new Date(acme.clock.now() + step));
}

const held = (names: string[]): number =>
  names.map((name) => acme.frozen(name).length).reduce((sum, count) => sum + count, 0);

let apps: string[];
const freezePlan = (more: object) =>
  acme.call('POST', '/v1/freeze_plans/acme', {
    as: acme.admin,
    body: { name: 'Emergency', reason: 'Emergency', start: null, end: null, timezone: 'UTC', ...more },
  });

beforeAll(async () => {
  apps = [];
  for (let index = 0; index < repositories; index++) apps.push(await green(`app-${index}`, each));
  const { status, text } = await freezePlan({ repositories: { include: ['app-*'] } });
  expect(status, text).toBe(201);
  await acme.quiet();
});

test('while statuses wait and nothing changes, a minute costs as little as without them', async () => {
  const { db } = acme.app.deps;
  // Those that were written are asked about until GitHub blocks them.
  await pass(60 * seconds);
  expect(await db.headStatus.count({ where: { isWaiting: true } })).toBeGreaterThan(repositories * each - 4);
  const taken = await acme.app.settled();
  const { statements, stop } = countStatements();
  await pass(24 * seconds);
  stop();
  expect(held(apps)).toBeLessThan(4);
  expect((await acme.app.settled()) - taken, 'jobs, however many repositories wait').toBeLessThanOrEqual(16);
  expect(statements.filter((text) => text.includes('merge_state_due_at')).length).toBeLessThanOrEqual(12);
  const asking = await db.job.count({ where: { task: 'ask-merge-states' } });
  expect(asking, 'of repositories with a written status').toBeLessThanOrEqual(held(apps));
});

test('GitHub is asked about a pull request soon after its status was written, however long that waited', async () => {
  const asked = () =>
    acme.github.requests.filter(({ operationName }) => operationName === 'MergeStates').length;
  const [before, from] = [asked(), held(apps)];
  await pass(60 * seconds, 20 * seconds);
  expect(held(apps)).toBe(from + 1);
  await pass(16 * seconds);
  expect(asked()).toBeGreaterThan(before);
  const due = await acme.app.deps.db.openPullRequest.count({ where: { mergeState: 'BLOCKED' } });
  expect(due).toBeGreaterThanOrEqual(from + 1);
});

test.each([
  ['one repository', 'alone', () => acme.freeze('acme/alone')],
  ['a plan of few, by name', 'named', () => freezePlan({ repositories: { include: ['named', 'nothing'] } })],
])('a freeze of %s beside it is the next to be written', async (_of, name, freeze) => {
  const beside = await green(name, 2);
  const from = held(apps);
  await freeze();
  await acme.quiet();
  await pass(120 * seconds, 30 * seconds);
  expect(acme.frozen(beside)).toEqual([1, 2]);
  expect(held(apps), 'one that the writer had already').toBeLessThanOrEqual(from + 1);
});

test('a plan over a glob waits for its turn, also where it matches few', async () => {
  await green('glob-1', 2);
  await green('glob-2', 2);
  await freezePlan({ repositories: { include: ['glob-*'] } });
  await acme.quiet();
  const rows = await acme.app.deps.db.headStatus.findMany({
    where: { isWaiting: true, repository: { name: { startsWith: 'glob-' } } },
    select: { tier: true },
  });
  expect(new Set(rows.map(({ tier }) => tier))).toEqual(new Set([1]));
});
