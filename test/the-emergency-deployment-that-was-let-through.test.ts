// A freeze holds deployments, and an exemption lets one go.
import { beforeAll, expect, test } from 'vitest';
import { acmeForAll } from './support/acme.ts';
import { decisions, grantDeployments, pass, toldOf } from './support/deployments.ts';
import { exemptionsOf } from './support/exemptions.ts';

const acme = acmeForAll();
let exemptions: ReturnType<typeof exemptionsOf>;
let wes: string;
let rita: string;
beforeAll(async () => {
  exemptions = exemptionsOf(acme);
  for (const login of ['wes', 'rita']) acme.github.addUser(login);
  [wes, rita] = ['wes', 'rita'].map((login) =>
    acme.github.addToken(login, { kind: 'classic', scopes: ['repo'] }),
  ) as [string, string];
  await grantDeployments(acme);
});

const frozen = { holds: ['deployments'] };
const production = { environments: ['production'] };
const states = (repository: string, ...runs: { id: number }[]) =>
  runs.map(({ id }) => acme.github.jobsOf(repository, id)[0]);
const last = (repository: string, { id }: { id: number }) =>
  acme.github.reviewsOf(repository, id).at(-1)!.comment;

/** A repository whose deployments to production wait. */
async function held(name: string, freeze: object = frozen) {
  const repository = await acme.repository(name, [], { roles: { wes: 'write', rita: 'admin' } });
  acme.github.addEnvironment(repository, 'production');
  const { id } = await acme.freeze(repository, freeze);
  const deploy = async (more: object = {}) => {
    const run = acme.github.runWorkflow(repository, { ...production, ...more });
    await acme.quiet();
    return run;
  };
  return { repository, freeze: id, deploy };
}

const list = async (repository: string, query = '') => {
  const path = `/v1/repos/${repository}/deployment_exemptions${query}`;
  const { status, body } = await acme.call('GET', path, { as: acme.admin });
  expect(status).toBe(200);
  return body.deployment_exemptions;
};
const state = async (repository: string) => (await list(repository))[0].state;

test('the emergency deployment: a writer requests, a second person approves, it goes, others wait', async () => {
  const { repository, freeze, deploy } = await held('web');
  const settings = `/v1/repos/${repository}/settings`;
  await acme.call('PATCH', settings, { as: acme.admin, body: { two_person_exemptions: true } });
  const [older, fix, newer] = [await deploy(), await deploy(), await deploy()];
  const asked = await exemptions.requestToDeploy(repository, { run_id: fix.id, public_reason: 'A fix' }, wes);
  expect(asked).toMatchObject({
    status: 201,
    body: {
      ...{ environment: 'production', sha: null, run_id: fix.id, state: 'requested', used_at: null },
      ...{ requested_by: { name: 'wes' }, decided_by: null, url: expect.stringMatching('/repos/acme/web#') },
    },
  });
  expect((await exemptions.decideToDeploy('approve', repository, asked.body, wes)).status).toBe(403);
  acme.github.setRole(repository, 'wes', 'admin');
  const own = await exemptions.decideToDeploy('approve', repository, asked.body, wes);
  expect([own.status, own.body.detail]).toEqual([403, expect.stringMatching(/^wes requested this/)]);
  // The routes of exemptions of pull requests know nothing of it.
  expect((await exemptions.decide('approve', repository, asked.body, rita)).status).toBe(404);
  expect(await exemptions.list(repository)).toEqual([]);
  expect(states(repository, older, fix, newer)).toEqual(['waiting', 'waiting', 'waiting']);

  expect((await exemptions.decideToDeploy('approve', repository, asked.body, rita)).status).toBe(200);
  expect(states(repository, older, fix, newer)).toEqual(['waiting', 'in_progress', 'waiting']);
  expect(last(repository, fix)).toBe('An exemption lets this deployment go: `A fix`.');
  expect(await list(repository, '?state=used')).toMatchObject([
    { id: asked.body.id, decided_by: { name: 'rita' }, used_at: expect.any(String) },
  ]);
  expect((await toldOf(acme, repository)).slice(3)).toEqual([
    'deployment_exemption.requested',
    'deployment_exemption.approved',
    'deployment_exemption.used',
    'deployment.released',
  ]);
  expect((await exemptions.decideToDeploy('revoke', repository, asked.body)).status).toBe(409);
  await acme.remove(repository, freeze);
  expect(states(repository, older, fix, newer)).toEqual(['failure', 'in_progress', 'in_progress']);
});

test('of a commit, ahead of time: one run of it goes, in that environment alone', async () => {
  const { repository, deploy } = await held('api', { ...frozen, on_deployment: 'reject' });
  acme.github.addEnvironment(repository, 'staging');
  const sha = 'ABCDEF0123456789abcdef0123456789abcdef01';
  expect(
    (await exemptions.requestToDeploy(repository, { environment: 'Production', sha })).body,
  ).toMatchObject({
    ...{ sha: sha.toLowerCase(), run_id: null, state: 'approved' },
  });
  const other = await deploy();
  const run = await deploy({ sha: sha.toLowerCase(), environments: ['production', 'staging'] });
  expect(acme.github.jobsOf(repository, run.id)).toEqual(['in_progress', 'failure']);
  // More jobs of its matrix go too; the run once more, and another run of the commit, do not.
  await pass(acme, 1_000, 1_000);
  acme.github.startJob(repository, run.id, 'production');
  await acme.quiet();
  expect(acme.github.jobsOf(repository, run.id)).toEqual(['in_progress', 'failure', 'in_progress']);
  const again = await deploy({ sha: sha.toLowerCase() });
  acme.github.rerunWorkflow(repository, run.id);
  await acme.quiet();
  expect(states(repository, other, again, run)).toEqual(['failure', 'failure', 'failure']);
  expect(
    (await list(repository)).map(({ state, run_id }: { state: string; run_id: number }) => [state, run_id]),
  ).toEqual([['used', run.id]]);
  expect((await toldOf(acme, repository)).filter((type) => type.endsWith('used'))).toHaveLength(1);
});

test('of several runs of one commit that wait, the newest goes', async () => {
  const { repository, deploy } = await held('newest');
  const first = await deploy();
  const second = await deploy({ sha: first.sha });
  await exemptions.requestToDeploy(repository, { sha: first.sha });
  expect(states(repository, first, second)).toEqual(['waiting', 'in_progress']);
});

test('revoked, denied or expired before it came, it lets nothing go', async () => {
  const { repository, deploy } = await held('late');
  const sha = 'a'.repeat(40);
  const { body: revoked } = await exemptions.requestToDeploy(repository, { sha });
  await exemptions.decideToDeploy('revoke', repository, revoked);
  const { body: denied } = await exemptions.requestToDeploy(repository, { sha }, wes);
  expect((await exemptions.decideToDeploy('deny', repository, denied)).body.state).toBe('denied');
  const expires_at = new Date(acme.clock.now() + 60_000).toISOString();
  await exemptions.requestToDeploy(repository, { sha, expires_at });
  await pass(acme, 75_000);
  expect((await list(repository)).map((each: { state: string }) => each.state)).toEqual([
    ...['expired', 'denied', 'revoked'],
  ]);
  const run = await deploy({ sha });
  expect(states(repository, run)).toEqual(['waiting']);
  expect((await toldOf(acme, repository)).filter((type) => type.includes('exemption'))).toEqual(
    ['requested', 'approved', 'revoked', 'requested', 'denied', 'requested', 'approved', 'expired'].map(
      (each) => `deployment_exemption.${each}`,
    ),
  );
});

test('the answer of GitHub never came: it is used once; a run that was cancelled leaves it to another', async () => {
  const { repository, deploy } = await held('cut');
  const match = { method: 'POST', path: /\/deployment_protection_rule$/ };
  const run = await deploy();
  const cut = acme.github.faults.add({ match, kind: 'reset-after', times: 1 });
  await exemptions.requestToDeploy(repository, { sha: run.sha });
  await pass(acme, 20_000, 2_000);
  cut.remove();
  expect(decisions(acme, repository, run)).toEqual(['pending', 'approved']);
  expect(await state(repository)).toBe('used');

  const next = await deploy();
  const down = acme.github.faults.add({ match, kind: 'secondary-limit' });
  await exemptions.requestToDeploy(repository, { sha: next.sha });
  expect(await state(repository)).toBe('approved');
  acme.github.cancelRun(repository, next.id);
  down.remove();
  await pass(acme, 90_000);
  expect(await state(repository)).toBe('approved');
  acme.github.rerunWorkflow(repository, next.id);
  await pass(acme, 75_000);
  expect(states(repository, next)).toEqual(['in_progress']);
  expect(await state(repository)).toBe('used');
});

test('an answer of ours that the list of GitHub shows late is ours: nobody went past us', async () => {
  const { repository, deploy } = await held('seen-late');
  const run = await deploy();
  const { faults } = acme.github;
  faults.add({
    match: { method: 'POST', path: /\/deployment_protection_rule$/ },
    kind: 'reset-after',
    times: 1,
  });
  const url = `https://api.github.com/repos/${repository}/environments/production`;
  const environment = { id: 1, node_id: 'EN_1', name: 'production', url, html_url: url };
  const rest = { wait_timer: 0, wait_timer_started_at: null, current_user_can_approve: false, reviewers: [] };
  const late = { status: 200, body: [{ environment, ...rest }] };
  faults.add({ match: { path: /\/pending_deployments$/ }, kind: 'answer', times: 1, answer: () => late });
  await exemptions.requestToDeploy(repository, { sha: run.sha });
  await pass(acme, 75_000);
  faults.clear();
  expect(decisions(acme, repository, run)).toEqual(['pending', 'approved']);
  expect(await state(repository)).toBe('used');
  expect(await toldOf(acme, repository)).not.toContain('deployment.bypassed');
});

test('set aside for a run of which GitHub heard nothing, it lets that run go, and no newer one', async () => {
  const { repository, deploy } = await held('died');
  const run = await deploy();
  const match = { method: 'POST', path: /\/deployment_protection_rule$/ };
  const down = acme.github.faults.add({ match, kind: 'status', status: 502 });
  await exemptions.requestToDeploy(repository, { sha: run.sha });
  const newer = await deploy({ sha: run.sha });
  expect(states(repository, run, newer)).toEqual(['waiting', 'waiting']);
  down.remove();
  await pass(acme, 75_000);
  expect(states(repository, run, newer)).toEqual(['in_progress', 'waiting']);
  expect(decisions(acme, repository, run)).toEqual(['pending', 'approved']);
  expect(await state(repository)).toBe('used');
});

test('without a freeze it is not used up, and its reason is as public as on merges', async () => {
  const { repository, deploy, freeze } = await held('free', { ...frozen, public_reason: 'Holidays' });
  const run = await deploy();
  await exemptions.requestToDeploy(repository, { environment: 'staging', run_id: run.id });
  await acme.remove(repository, freeze);
  const { body } = await exemptions.requestToDeploy(repository, { sha: 'b'.repeat(40) });
  const going = await deploy({ sha: 'b'.repeat(40) });
  expect(states(repository, run, going)).toEqual(['in_progress', 'in_progress']);
  expect(await list(repository, '?state=approved')).toMatchObject([{ id: body.id }, {}]);
  await acme.freeze(repository, { ...frozen, public_reason: 'Holidays' });
  const after = await deploy({ sha: 'b'.repeat(40) });
  expect(last(repository, after)).toBe('An exemption lets this deployment go.');
});

test('what does not validate, and a 21st open request, are refused', async () => {
  const { repository } = await held('refused');
  const sha = 'c'.repeat(40);
  const ask = (body: object, as = wes) => exemptions.requestToDeploy(repository, body, as);
  for (const body of [{}, { sha, run_id: 7 }, { sha: 'c0ffee' }, { run_id: 0 }, { sha, environment: '' }])
    expect((await ask(body)).status, JSON.stringify(body)).toBe(422);
  const far = new Date(acme.clock.now() + 31 * 86_400_000).toISOString();
  expect((await ask({ sha, expires_at: far })).status).toBe(422);
  expect((await ask({ sha }, await acme.key('acme', 'ci'))).status).toBe(403);
  const all = await Promise.all(Array.from({ length: 22 }, () => ask({ sha })));
  expect(all.map(({ status }) => status).toSorted()).toEqual([...Array(20).fill(201), 409, 409]);
  const path = `/v1/repos/${repository}/deployment_exemptions?state=nonsense`;
  expect((await acme.call('GET', path, { as: acme.admin })).status).toBe(422);
});
