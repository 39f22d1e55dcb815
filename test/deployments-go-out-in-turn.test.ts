import { beforeAll, expect, test } from 'vitest';
import { acmeForAll } from './support/acme.ts';
import { decisions, grantDeployments, pass } from './support/deployments.ts';

// With `release_deployments: all`, an old commit never lands last: each deployment goes out when the one before it in its
// environment has begun or ended, in the order in which GitHub requested them.

const acme = acmeForAll();
beforeAll(() => grantDeployments(acme));
const production = { environments: ['production'] };
const frozen = { holds: ['deployments'] };
type Run = { id: number };

/** A repository that releases all, where no runner is free. */
async function inTurn(name: string, freeze: object = frozen, others: string[] = []) {
  const repository = await acme.repository(name);
  acme.github.addEnvironment(repository, 'production', { others });
  acme.github.occupyRunners(repository);
  const body = { release_deployments: 'all' };
  await acme.call('PATCH', `/v1/repos/${repository}/settings`, { as: acme.admin, body });
  const { id } = await acme.freeze(repository, freeze);
  return { repository, id };
}

/** GitHub makes them a second apart. */
async function runsOf(repository: string, count: number): Promise<Run[]> {
  const runs: Run[] = [];
  for (let index = 0; index < count; index++) {
    runs.push(acme.github.runWorkflow(repository, production));
    await acme.quiet();
    await pass(acme, 1_000, 1_000);
  }
  return runs;
}

const approved = (repository: string, runs: Run[]) =>
  runs.map((run) => decisions(acme, repository, run).includes('approved'));
const asked = () => acme.github.requests.length;

test('each goes when a runner has taken the one before it, or it has ended', async () => {
  const { repository, id } = await inTurn('web');
  const runs = await runsOf(repository, 4);
  await acme.remove(repository, id);
  await pass(acme, 20_000, 2_000);
  expect(approved(repository, runs)).toEqual([true, false, false, false]);
  expect(acme.github.jobsOf(repository, runs[0]!.id)).toEqual(['queued']);
  // Not every second: a runner may come in hours.
  const before = asked();
  await pass(acme, 120_000, 10_000);
  expect(asked() - before).toBeLessThan(60);
  acme.github.takeJobs(repository, runs[0]!.id);
  await acme.quiet();
  expect(approved(repository, runs)).toEqual([true, true, false, false]);
  acme.github.cancelRun(repository, runs[1]!.id);
  await acme.quiet();
  expect(approved(repository, runs)).toEqual([true, true, true, false]);
  // No event tells that this one has begun.
  const lost = acme.github.webhookFaults.add({ kind: 'drop', event: 'deployment_status' });
  acme.github.takeJobs(repository, runs[2]!.id);
  await pass(acme, 35_000, 5_000);
  lost.remove();
  expect(approved(repository, runs)).toEqual([true, true, true, true]);
});

test('what no freeze held does not overtake one that a freeze held', async () => {
  const { repository, id } = await inTurn('api');
  const [held] = await runsOf(repository, 1);
  await acme.remove(repository, id);
  const [next] = await runsOf(repository, 1);
  expect(approved(repository, [held!, next!])).toEqual([true, false]);
  acme.github.takeJobs(repository, held!.id);
  await acme.quiet();
  expect(approved(repository, [held!, next!])).toEqual([true, true]);
  // Another runner may take it later than the next one, as without a freeze.
  const [last] = await runsOf(repository, 1);
  expect(approved(repository, [last!])).toEqual([true]);
});

test('what no freeze held does not wait for the rule of another App', async () => {
  const { repository, id } = await inTurn('reviewed', frozen, ['sentry']);
  const [held] = await runsOf(repository, 1);
  await acme.remove(repository, id);
  const [next] = await runsOf(repository, 1);
  expect(acme.github.jobsOf(repository, held!.id)).toEqual(['waiting']);
  expect(approved(repository, [held!, next!])).toEqual([true, true]);
});

test('the order is that of GitHub’s requests, whoever told of them', async () => {
  const { repository, id } = await inTurn('blog');
  const { webhookFaults } = acme.github;
  const lost = webhookFaults.add({ kind: 'drop', event: 'deployment_protection_rule' });
  const first = await runsOf(repository, 2);
  lost.remove();
  // GitHub tells of these at once, and the sweep finds the others later.
  const runs = [...first, ...(await runsOf(repository, 2))];
  await pass(acme, 75_000);
  const list = async (query: string) =>
    acme.call('GET', `/v1/repos/${repository}/deployments${query}`, { as: acme.admin });
  const { body } = await list('');
  const requested = acme.github.runsOf(repository).map(({ jobs }) => jobs[0]!.requestedAt.toISOString());
  expect(body.deployments.map(({ run_id: run }: { run_id: number }) => run)).toEqual(
    runs.map(({ id }) => id).toReversed(),
  );
  expect(body.deployments.map(({ requested_at: at }: { requested_at: string }) => at)).toEqual(
    requested.toReversed(),
  );
  // The pages go on where the one before ended, in both directions.
  const [one, two] = [await list('?per_page=3'), body.deployments];
  const link = (headers: Headers, rel: string) =>
    new RegExp(`[?&](cursor=[^&>]+)[^>]*>; rel="${rel}"`).exec(headers.get('link') ?? '')?.[1];
  const older = await list(`?per_page=3&${link(one.headers, 'next')}`);
  expect([...one.body.deployments, ...older.body.deployments]).toEqual(two);
  const newer = await list(`?per_page=3&${link(older.headers, 'prev')}`);
  expect(newer.body.deployments).toEqual(one.body.deployments);
  await acme.remove(repository, id);
  for (const [index, run] of runs.entries()) {
    await pass(acme, 5_000, 1_000);
    expect(approved(repository, runs)).toEqual(runs.map((_, at) => at <= index));
    acme.github.takeJobs(repository, run.id);
    await acme.quiet();
  }
});

test('GitHub says that nothing waits: it is asked once', async () => {
  const repository = await acme.repository('done');
  acme.github.addEnvironment(repository, 'production');
  acme.github.runWorkflow(repository, production);
  await acme.quiet();
  const { refusals } = acme.github.runsOf(repository)[0]!;
  expect(refusals).toEqual([]);
  const run = acme.github.runWorkflow(repository, production);
  acme.github.cancelRun(repository, run.id);
  await acme.quiet();
  await pass(acme, 20_000, 2_000);
  expect(acme.github.runsOf(repository)[1]!.refusals).toMatchObject([
    { message: 'No pending deployment requests to approve or reject' },
  ]);
  const { body } = await acme.call('GET', `/v1/repos/${repository}/deployments`, { as: acme.admin });
  expect(body.deployments.map(({ state }: { state: string }) => state)).toEqual(['gone', 'approved']);
});
