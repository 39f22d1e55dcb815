import { beforeAll, expect, test } from 'vitest';
import { jobs } from '../../src/database/queue/jobs.ts';
import { acmeForAll } from '../support/acme.ts';
import { decisions, grantDeployments, pass, toldOf } from '../support/deployments.ts';
import { amount } from '../support/amounts.ts';

// What happens to deployments when webhooks, answers or people go other ways: within a minute it is right.

const acme = acmeForAll();
beforeAll(() => grantDeployments(acme));
const production = { environments: ['production'] };
const frozen = { holds: ['deployments'] };
const event = 'deployment_protection_rule';
const state = (repository: string, { id }: { id: number }) => acme.github.jobsOf(repository, id)[0];
const rows = async (name: string) =>
  (await acme.app.deps.db.deployment.findMany({ where: { repository: { nameKey: name } } }))
    .toSorted((one, other) => Number(one.runId - other.runId) || one.attempt - other.attempt)
    .map((row) => row.state);

test('the webhook that never came: the request is found within a minute, and answered', async () => {
  const web = await acme.repository('web');
  acme.github.addEnvironment(web, 'production');
  acme.github.addEnvironment(web, 'reviewed', { ours: false, others: ['sentry'] });
  acme.github.runWorkflow(web, production);
  await acme.quiet();
  const lost = acme.github.webhookFaults.add({ kind: 'lose', event });
  const run = acme.github.runWorkflow(web, { environments: ['production', 'reviewed'] });
  await acme.quiet();
  expect(state(web, run)).toBe('waiting');
  await pass(acme, 75_000);
  // It answers only for its own rule.
  expect(acme.github.jobsOf(web, run.id)).toEqual(['in_progress', 'waiting']);
  const { id } = await acme.freeze(web, frozen);
  const held = acme.github.runWorkflow(web, production);
  await pass(acme, 75_000);
  expect(decisions(acme, web, held)).toEqual(['pending']);
  lost.remove();
  await acme.remove(web, id);
  expect(state(web, held)).toBe('in_progress');
});

test('a delivery that failed is read from GitHub, also the first one of a repository', async () => {
  const first = await acme.repository('first');
  acme.github.addEnvironment(first, 'production');
  const lost = acme.github.webhookFaults.add({ kind: 'lose', event });
  const run = acme.github.runWorkflow(first, production);
  await acme.quiet();
  lost.remove();
  await pass(acme, 75_000);
  expect(state(first, run)).toBe('in_progress');
});

test('a request is answered where the repository is new, was transferred or has another name', async () => {
  const { github } = acme;
  const events = ['installation', 'installation_repositories', 'repository'].map((event) =>
    github.webhookFaults.add({ kind: 'drop', event }),
  );
  const ask = async (repository: string) => {
    const run = github.runWorkflow(repository, production);
    await acme.quiet();
    await pass(acme, 6_000, 2_000);
    return state(repository, run);
  };
  const { fullName: fresh } = github.addRepository('acme/fresh');
  github.addEnvironment(fresh, 'production');
  expect(await ask(fresh)).toBe('in_progress');
  // Another repository has the name that we know.
  github.renameRepository(fresh, 'renamed');
  github.addRepository(fresh);
  expect(await ask('acme/renamed')).toBe('in_progress');
  github.addOrganization('umbrella', { admins: ['ada'] });
  github.install('umbrella');
  github.transferRepository('acme/renamed', 'umbrella');
  expect(await ask('umbrella/renamed')).toBe('in_progress');
  for (const each of events) each.remove();
});

test('an administrator goes past us: that is seen and told; a cancelled wait is none', async () => {
  const api = await acme.repository('api');
  acme.github.addEnvironment(api, 'production');
  const { id } = await acme.freeze(api, frozen);
  const runs: { id: number; sha: string }[] = [];
  for (let count = 0; count < 3; count++) {
    runs.push(acme.github.runWorkflow(api, production));
    await acme.quiet();
  }
  const [one, other, third] = runs;
  acme.github.bypassRules(api, one!.id, 'production', 'ada');
  await acme.quiet();
  expect(await rows('api')).toEqual(['bypassed', 'waiting', 'waiting']);
  expect((await toldOf(acme, api)).at(-1)).toBe('deployment.bypassed');
  acme.github.cancelRun(api, other!.id);
  await pass(acme, 75_000);
  // The webhook of this one is lost.
  const lost = acme.github.webhookFaults.add({ kind: 'lose' });
  acme.github.bypassRules(api, third!.id, 'production', 'ada');
  await pass(acme, 75_000);
  lost.remove();
  expect(await rows('api')).toEqual(['bypassed', 'gone', 'bypassed']);
  const list = (query: string) =>
    acme.call('GET', `/v1/repos/${api}/deployments?${query}`, { as: acme.admin });
  const { body, headers } = await list('state=bypassed&per_page=1');
  expect(body.deployments).toEqual([
    {
      ...{ run_id: third!.id, attempt: 1, environment: 'production', workflow: 'Deploy', ref: 'main' },
      ...{ sha: third!.sha, state: 'bypassed', freeze_ids: [id] },
      ...{ requested_at: expect.any(String), decided_at: expect.any(String) },
      url: expect.stringMatching(`/acme/api/actions/runs/${third!.id}$`),
    },
  ]);
  expect(headers.get('link')).toContain('rel="next"');
  expect((await list('state=nonsense')).status).toBe(422);
  expect((await list('state=waiting')).body.deployments).toEqual([]);
});

test('a bypass is seen beside a matrix of the same commit', async () => {
  const bulk = await acme.repository('bulk');
  acme.github.addEnvironment(bulk, 'production');
  await acme.freeze(bulk, frozen);
  const one = acme.github.runWorkflow(bulk, production);
  await pass(acme, 60_000);
  acme.github.runWorkflow(bulk, { environments: Array.from({ length: 150 }, () => 'production') });
  await acme.quiet();
  acme.github.bypassRules(bulk, one.id, 'production', 'ada');
  await pass(acme, 75_000);
  expect(await rows('bulk')).toEqual(['bypassed', 'waiting']);
});

test('a bypass of an attempt is none of the next one', async () => {
  const next = await acme.repository('next');
  acme.github.addEnvironment(next, 'production');
  await acme.freeze(next, frozen);
  const run = acme.github.runWorkflow(next, production);
  await acme.quiet();
  acme.github.bypassRules(next, run.id, 'production', 'ada');
  await acme.quiet();
  await pass(acme, 15_000);
  acme.github.rerunWorkflow(next, run.id);
  await acme.quiet();
  await pass(acme, 30_000);
  acme.github.cancelRun(next, run.id);
  await pass(acme, 75_000);
  expect(await rows('next')).toEqual(['bypassed', 'gone']);
});

test('what GitHub forgot after 30 days, and an attempt that was run again, are gone', async () => {
  const lib = await acme.repository('lib');
  acme.github.addEnvironment(lib, 'production');
  const { id } = await acme.freeze(lib, frozen);
  const run = acme.github.runWorkflow(lib, production);
  await acme.quiet();
  acme.github.rerunWorkflow(lib, run.id);
  await pass(acme, 75_000);
  expect(await rows('lib')).toEqual(['gone', 'waiting']);
  await acme.advanceTo(new Date(acme.clock.now() + 31 * 86_400_000));
  await pass(acme, 75_000);
  expect(await rows('lib')).toEqual(['gone', 'gone']);
  await acme.remove(lib, id);
  expect(decisions(acme, lib, run)).toEqual(['pending', 'pending']);
});

test('what a process of a version before asks for is done in the lane', async () => {
  const old = await acme.repository('old');
  acme.github.addEnvironment(old, 'production');
  const match = { method: 'POST', path: /\/deployment_protection_rule$/ };
  acme.github.faults.add({ match, kind: 'status', status: 502, times: 1 });
  const run = acme.github.runWorkflow(old, production);
  await acme.quiet();
  expect(decisions(acme, old, run)).toEqual([]);
  const { db, queue } = acme.app.deps;
  const { id } = await db.repository.findFirstOrThrow({ where: { nameKey: 'old' } });
  await queue.send([jobs.decideDeployments(id)]);
  await acme.quiet();
  expect(decisions(acme, old, run)).toEqual(['approved']);
});

test('hundreds of jobs of one matrix are one decision', async () => {
  const matrix = await acme.repository('matrix');
  acme.github.addEnvironment(matrix, 'production');
  const environments = Array.from({ length: amount(200) }, () => 'production');
  const free = acme.github.runWorkflow(matrix, { environments });
  await acme.quiet();
  await pass(acme, 4_000, 2_000);
  expect(new Set(acme.github.jobsOf(matrix, free.id))).toEqual(new Set(['in_progress']));
  expect(decisions(acme, matrix, free)).toEqual(['approved']);
  const { id } = await acme.freeze(matrix, frozen);
  const held = acme.github.runWorkflow(matrix, { environments });
  await acme.quiet();
  await pass(acme, 4_000, 2_000);
  expect(decisions(acme, matrix, held)).toEqual(['pending']);
  await acme.remove(matrix, id);
  await pass(acme, 4_000, 2_000);
  expect(new Set(acme.github.jobsOf(matrix, held.id))).toEqual(new Set(['in_progress']));
  expect(decisions(acme, matrix, held)).toEqual(['pending', 'approved']);
});
