import { beforeAll, expect, test } from 'vitest';
import { acmeForAll } from './support/acme.ts';
import { decisions, grantDeployments, pass, toldOf } from './support/deployments.ts';
import { testOfAmount } from './support/amounts.ts';

// Which of the deployments that waited go out when a freeze ends.

const acme = acmeForAll();
beforeAll(() => grantDeployments(acme));
const production = { environments: ['production'] };
const frozen = { holds: ['deployments'] };
const states = (repository: string, runs: { id: number }[]) =>
  runs.map(({ id }) => acme.github.jobsOf(repository, id)[0]);

test('the newest run of each environment and workflow goes out, and older ones are superseded', async () => {
  const web = await acme.repository('web');
  for (const name of ['production', 'staging']) acme.github.addEnvironment(web, name);
  const { id } = await acme.freeze(web, frozen);
  const runs: { id: number }[] = [];
  for (const given of [
    production,
    production,
    { ...production, workflow: 'Docs' },
    { environments: ['staging'] },
    production,
  ]) {
    runs.push(acme.github.runWorkflow(web, given));
    await acme.quiet();
  }
  expect(new Set(states(web, runs))).toEqual(new Set(['waiting']));
  await acme.remove(web, id);
  expect(states(web, runs)).toEqual(['failure', 'failure', 'in_progress', 'in_progress', 'in_progress']);
  const [, rejection] = acme.github.reviewsOf(web, runs[0]!.id);
  expect(rejection!.comment).toMatch(
    /^The freeze is over\. This deployment is superseded by \[run 4\]\(http.*\/acme\/web\/actions\/runs\/\d+\) of `Deploy`\.$/,
  );
  expect((await toldOf(acme, web)).toSorted()).toEqual([
    ...Array(5).fill('deployment.held'),
    ...Array(2).fill('deployment.rejected'),
    ...Array(3).fill('deployment.released'),
  ]);
});

test('what nobody told Holdfast of during the freeze waits for its turn as well', async () => {
  const blog = await acme.repository('blog');
  acme.github.addEnvironment(blog, 'production');
  const end = new Date(acme.clock.now() + 600_000).toISOString().slice(0, 19);
  await acme.freeze(blog, { ...frozen, end });
  const isAsked = { match: { path: /\/actions\/runs$/ } };
  const blind = acme.github.faults.add({ kind: 'status', status: 502, ...isAsked });
  const lost = acme.github.webhookFaults.add({ kind: 'drop', event: 'deployment_protection_rule' });
  const runs = [1, 2, 3].map(() => acme.github.runWorkflow(blog, production));
  await pass(acme, 660_000, 60_000);
  const later = acme.github.runWorkflow(blog, { ...production, workflow: 'Docs' });
  blind.remove();
  lost.remove();
  await pass(acme, 75_000);
  expect(states(blog, [...runs, later])).toEqual(['failure', 'failure', 'in_progress', 'in_progress']);
});

test('what was cancelled meanwhile supersedes nothing', async () => {
  const api = await acme.repository('api');
  acme.github.addEnvironment(api, 'production');
  const { id } = await acme.freeze(api, frozen);
  const [old, cancelled] = [
    acme.github.runWorkflow(api, production),
    acme.github.runWorkflow(api, production),
  ];
  await acme.quiet();
  await pass(acme, 30_000);
  const lost = acme.github.webhookFaults.add({ kind: 'lose', event: 'deployment_status' });
  acme.github.cancelRun(api, cancelled.id);
  await acme.quiet();
  lost.remove();
  await acme.remove(api, id);
  await pass(acme, 60_000);
  expect(states(api, [old, cancelled])).toEqual(['in_progress', 'failure']);
  const rows = await acme.app.deps.db.deployment.findMany({ where: { repository: { nameKey: 'api' } } });
  expect(rows.map(({ runNumber, state }) => [runNumber, state]).toSorted()).toEqual([
    [1, 'approved'],
    [2, 'gone'],
  ]);
});

test('with release_deployments: all, one after another, the oldest first', async () => {
  const lib = await acme.repository('lib');
  acme.github.addEnvironment(lib, 'production', { others: ['sentry'] });
  const change = { release_deployments: 'all' };
  const path = `/v1/repos/${lib}/settings`;
  const answer = await acme.call('PATCH', path, { as: acme.admin, body: change });
  expect([answer.status, answer.body.release_deployments]).toEqual([200, 'all']);
  const { id } = await acme.freeze(lib, frozen);
  const runs: { id: number }[] = [];
  for (let count = 0; count < 3; count++) {
    runs.push(acme.github.runWorkflow(lib, production));
    await acme.quiet();
    await acme.advanceTo(new Date(acme.clock.now() + 1000));
  }
  await acme.remove(lib, id);
  await pass(acme, 10_000, 2_000);
  // Another App still holds the first one, so the second one waits.
  const approved = () => runs.map((run) => decisions(acme, lib, run).includes('approved'));
  expect(approved()).toEqual([true, false, false]);
  acme.github.approveAs('sentry', lib, runs[0]!.id, 'production');
  await pass(acme, 6_000, 2_000);
  expect([approved(), states(lib, runs)]).toEqual([
    [true, true, false],
    ['in_progress', 'waiting', 'waiting'],
  ]);
  acme.github.cancelRun(lib, runs[1]!.id);
  await pass(acme, 6_000, 2_000);
  expect(approved()).toEqual([true, true, true]);
});

/** So many runs, each with an environment of its own, wait for a freeze. */
async function manyHeld(name: string, count: number) {
  const many = await acme.repository(name);
  const names = Array.from({ length: count }, (_, index) => `eu-${index}`);
  for (const each of names) acme.github.addEnvironment(many, each);
  const { id } = await acme.freeze(many, frozen);
  const runs = names.map((each) => acme.github.runWorkflow(many, { environments: [each] }));
  await acme.quiet();
  await pass(acme, 120_000);
  for (const run of runs) expect(decisions(acme, many, run)).toEqual(['pending']);
  return { many, id, runs };
}

testOfAmount(
  'a thaw keeps to the limit of GitHub: 50 runs in 10 seconds, 100 in 40, none twice',
  async () => {
    const { many, id, runs } = await manyHeld('many', 100);
    const { writeLimit } = acme.github;
    writeLimit.perMinute = 180;
    const begun = () => states(many, runs).filter((state) => state === 'in_progress').length;
    await acme.remove(many, id);
    await pass(acme, 10_000, 1_000);
    expect(begun()).toBeGreaterThanOrEqual(50);
    expect(begun()).toBeLessThan(100);
    await pass(acme, 30_000, 1_000);
    expect(begun()).toBe(100);
    expect(writeLimit.refusals).toBe(0);
    for (const run of runs) expect(decisions(acme, many, run)).toEqual(['pending', 'approved']);
  },
);

testOfAmount('statuses go on during a thaw: together they keep to the limit', async () => {
  const { many, id, runs } = await manyHeld('both', 40);
  for (let count = 0; count < 40; count++) acme.github.openPullRequest(many, { author: 'ada' });
  await acme.quiet();
  await pass(acme, 120_000);
  const { writeLimit } = acme.github;
  writeLimit.perMinute = 180;
  const refused = writeLimit.refusals;
  const { id: merges } = await acme.freeze(many);
  await pass(acme, 120_000);
  await acme.remove(many, merges);
  await acme.remove(many, id);
  await pass(acme, 60_000, 2_000);
  expect(acme.frozen(many)).toEqual([]);
  expect(new Set(states(many, runs))).toEqual(new Set(['in_progress']));
  expect(writeLimit.refusals).toBe(refused);
  writeLimit.perMinute = Infinity;
});

testOfAmount('a limit in the middle of a thaw delays it, and loses nothing', async () => {
  const { many, id, runs } = await manyHeld('limited', 40);
  const { writeLimit } = acme.github;
  const before = writeLimit.refusals;
  writeLimit.perMinute = 25;
  await acme.remove(many, id);
  await pass(acme, 30_000, 2_000);
  const refused = writeLimit.refusals - before;
  // Each of those that are left at most once.
  expect(refused).toBeGreaterThan(0);
  expect(refused).toBeLessThanOrEqual(15);
  expect(states(many, runs).filter((state) => state === 'in_progress')).toHaveLength(25);
  await pass(acme, 360_000, 5_000);
  writeLimit.perMinute = Infinity;
  expect(new Set(states(many, runs))).toEqual(new Set(['in_progress']));
  for (const run of runs) expect(decisions(acme, many, run)).toEqual(['pending', 'approved']);
});
