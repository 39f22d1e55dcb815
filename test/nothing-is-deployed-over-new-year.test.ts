import { beforeAll, expect, test } from 'vitest';
import { acmeForAll } from './support/acme.ts';
import { Visitor } from './support/visitor.ts';
import { decisions, grantDeployments, toldOf } from './support/deployments.ts';

// A freeze holds deployments through GitHub's deployment protection rule.

const acme = acmeForAll();
beforeAll(() => grantDeployments(acme));

const quiet = { holds: ['deployments'], environments: ['prod*'], timezone: 'Europe/Paris' };

test('what no freeze holds is approved at once', async () => {
  const web = await acme.repository('web');
  acme.github.addEnvironment(web, 'production');
  const run = acme.github.runWorkflow(web, { environments: ['production'] });
  await acme.quiet();
  expect(acme.github.jobsOf(web, run.id)).toEqual(['in_progress']);
  expect(decisions(acme, web, run)).toEqual(['approved']);
  expect(await toldOf(acme, web)).toEqual([]);
});

test('nothing is deployed over New Year: it waits, is told why once, and goes out at the end', async () => {
  const api = await acme.repository('api', [{}]);
  for (const name of ['production', 'staging']) acme.github.addEnvironment(api, name);
  const window = { start: '2026-03-01T10:30:00', end: '2026-03-01T12:30:00' };
  const reason = 'Books are `closed` @everybody';
  const { id } = await acme.freeze(api, { ...quiet, ...window, reason, public_reason: 'New Year' });
  await acme.advanceTo('2026-03-01T09:35:00Z');
  const run = acme.github.runWorkflow(api, { environments: ['production', 'staging'] });
  await acme.quiet();
  expect(acme.github.jobsOf(api, run.id)).toEqual(['waiting', 'in_progress']);
  const [report] = acme.github.reviewsOf(api, run.id).filter(({ state }) => state === 'pending');
  expect(report!.comment).toBe(
    `A freeze holds this deployment until 2026-03-01 12:30 Europe/Paris: \`New Year\`. Holdfast decides at that time. [See the freeze](https://holdfast.example/repos/acme/api/freezes/${id}).`,
  );
  // Writers see what waits, and others do not.
  const ada = new Visitor(acme);
  await ada.signIn('ada');
  const { text } = await ada.open(`/repos/${api}`);
  expect(text).toContain('Deployments that wait');
  expect(text).toContain(`/acme/api/actions/runs/${run.id}"`);
  expect((await new Visitor(acme).open(`/repos/${api}`)).text).not.toContain('Deployments that wait');
  // Merges go on, and nothing is told again.
  expect(acme.frozen(api)).toEqual([]);
  await acme.advanceTo('2026-03-01T10:30:00Z');
  expect(decisions(acme, api, run).filter((state) => state === 'pending')).toHaveLength(1);
  await acme.advanceTo('2026-03-01T11:30:00Z');
  expect(acme.github.jobsOf(api, run.id)).toEqual(['in_progress', 'in_progress']);
  expect(await toldOf(acme, api)).toEqual(['deployment.held', 'deployment.released']);
});

test('`reject` says no at once, with the same words', async () => {
  const lib = await acme.repository('lib');
  acme.github.addEnvironment(lib, 'production');
  await acme.freeze(lib, quiet);
  await acme.freeze(lib, { ...quiet, on_deployment: 'reject', reason: 'No deployments' });
  const run = acme.github.runWorkflow(lib, { environments: ['production'] });
  await acme.quiet();
  expect(acme.github.jobsOf(lib, run.id)).toEqual(['failure']);
  const [review] = acme.github.reviewsOf(lib, run.id);
  expect([review!.state, review!.comment]).toEqual([
    'rejected',
    expect.stringMatching(/^A freeze holds this deployment until somebody ends the freeze \(and 1 more\): /),
  ]);
  expect(await toldOf(acme, lib)).toEqual(['deployment.rejected']);
});

test('changes of freezes are applied to what waits', async () => {
  const tv = await acme.repository('tv');
  for (const name of ['production', 'prod-eu']) acme.github.addEnvironment(tv, name);
  const { id } = await acme.freeze(tv, quiet);
  const run = acme.github.runWorkflow(tv, { environments: ['production', 'prod-eu'] });
  await acme.quiet();
  expect(acme.github.jobsOf(tv, run.id)).toEqual(['waiting', 'waiting']);
  const [report] = acme.github.reviewsOf(tv, run.id);
  expect(report!.comment).toContain('GitHub fails a job that waits for more than 30 days.');
  await acme.update(tv, id, { environments: ['prod-*'] });
  expect(acme.github.jobsOf(tv, run.id)).toEqual(['in_progress', 'waiting']);
  await acme.update(tv, id, { on_deployment: 'reject' });
  expect(acme.github.jobsOf(tv, run.id)).toEqual(['in_progress', 'failure']);
  const next = acme.github.runWorkflow(tv, { environments: ['production'] });
  await acme.quiet();
  expect(acme.github.jobsOf(tv, next.id)).toEqual(['in_progress']);
  await acme.update(tv, id, { environments: ['*'], on_deployment: 'wait' });
  const last = acme.github.runWorkflow(tv, { environments: ['production'] });
  await acme.quiet();
  expect(acme.github.jobsOf(tv, last.id)).toEqual(['waiting']);
  await acme.remove(tv, id);
  expect(acme.github.jobsOf(tv, last.id)).toEqual(['in_progress']);
});

test('without a product that freezes, nothing is held', async () => {
  const off = await acme.repository('off');
  acme.github.addEnvironment(off, 'production');
  await acme.freeze(off, quiet);
  const run = acme.github.runWorkflow(off, { environments: ['production'] });
  await acme.quiet();
  expect(acme.github.jobsOf(off, run.id)).toEqual(['waiting']);
  await acme.setProducts(off, []);
  await acme.advanceTo(new Date(acme.clock.now() + 61_000));
  expect(acme.github.jobsOf(off, run.id)).toEqual(['in_progress']);
});

test('an address that is not that of a run of the repository is ignored', async () => {
  const before = acme.github.requests.length;
  const { id } = await acme.app.deps.db.repository.findFirstOrThrow({ where: { nameKey: 'web' } });
  expect(before).toBeGreaterThan(0);
  const { wakesOf } = await import('../src/webhooks/handled-events.ts');
  const own = { statusContext: 'holdfast/freeze', githubApiUrl: 'https://api.github.com' };
  const wakes = (deployment_callback_url: string) =>
    wakesOf.deployment_protection_rule(
      {
        repository: { id: Number(id), full_name: 'acme/web' },
        environment: 'production',
        deployment_callback_url,
      },
      own,
    );
  const path = '/actions/runs/7/deployment_protection_rule';
  expect(wakes(`https://api.github.com/repos/acme/web${path}`)).toHaveLength(1);
  for (const url of [
    `https://evil.example/repos/acme/web${path}`,
    `https://api.github.com/repos/acme/api${path}`,
    `https://api.github.com/repos/acme/web${path}?x`,
    `https://api.github.com/repos/acme/web/actions/runs/7/../8/deployment_protection_rule`,
    'nonsense',
  ])
    expect(wakes(url)).toEqual([]);
});
