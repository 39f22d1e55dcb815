import { beforeAll, expect, test, vi } from 'vitest';
import { acmeForAll } from '../support/acme.ts';
import { grantDeployments } from '../support/deployments.ts';
import { Visitor, words } from '../support/visitor.ts';

// A freeze of deployments is enforced where GitHub waits for Holdfast in an environment that it names. Every page, answer
// and text counts the same repositories.

const acme = acmeForAll();
let ada: Visitor;
const see = async (path: string): Promise<string> => words(await ada.open(path));
const names = ['bare', 'held', 'loose', 'part'];
const body = (include: string[], more: object = {}) => ({
  ...{ name: 'Move', reason: 'Move', repositories: { include }, holds: ['deployments'], start: null },
  ...{ environments: ['production', 'staging'], end: '2026-03-01T12:00:00', timezone: 'UTC', ...more },
});
const call = (method: string, path: string, sent?: object) =>
  acme.call(method, path, { as: acme.admin, ...(sent && { body: sent }) });

async function makePlan(include: string[], more: object = {}): Promise<string> {
  const { id } = (await call('POST', '/v1/freeze_plans/acme', body(include, more))).body;
  await acme.quiet();
  const progress = `/owners/acme/progress?plan=${id}`;
  await vi.waitFor(async () => expect(await see(progress)).not.toContain('Asking GitHub'), 5_000);
  return id;
}

async function endPlan(id: string): Promise<void> {
  await call('POST', `/v1/freeze_plans/acme/${id}/delete`, { delete_reason: 'Over' });
  await acme.quiet();
}

beforeAll(async () => {
  await grantDeployments(acme);
  for (const name of names) await acme.repository(name, []);
  acme.github.addEnvironment('acme/held', 'production');
  acme.github.addEnvironment('acme/loose', 'production', { ours: false });
  acme.github.addEnvironment('acme/part', 'production');
  acme.github.addEnvironment('acme/part', 'staging', { ours: false });
  ada = new Visitor(acme);
  await ada.signIn('ada');
});

const nothingIn = [
  'Nothing would be held in loose: the rule is not enabled there.',
  'Not held: staging of part. The rule is not enabled there.',
  'Nothing would be held in bare: there is no such environment.',
];

test('a preview says how many environments would be held, and where nothing would', async () => {
  const fields = {
    ...{ reason: 'Move', which: 'ticked', repository: names, duration: '1h', zone: 'UTC', step: 'preview' },
    ...{ holds: 'deployments', environments: 'production\nstaging' },
  };
  const says = ['2 environments in 2 repositories would be held.', ...nothingIn].join(' ');
  await vi.waitFor(
    async () => expect(words(await ada.send('/owners/acme/freeze', fields))).toContain(says),
    5_000,
  );
  const { repositories, not_enforced } = (await call('POST', '/v1/freeze_plans/acme/preview', body(names)))
    .body;
  expect(repositories.map((each: { name: string; enforced: string }) => [each.name, each.enforced])).toEqual([
    ['bare', 'no'],
    ['held', 'yes'],
    ['loose', 'no'],
    ['part', 'no'],
  ]);
  expect(not_enforced).toEqual(['acme/bare', 'acme/loose', 'acme/part']);
});

test('the overview, the plan, its progress and the API count the same repositories', async () => {
  const plan = await makePlan(names);
  const { not_enforced } = (await call('GET', `/v1/freeze_plans/acme/${plan}/enforcement`)).body;
  expect(not_enforced.toSorted()).toEqual(['acme/bare', 'acme/loose', 'acme/part']);
  const ofPlan = await see(`/owners/acme/plans/${plan}`);
  expect(ofPlan).toMatch(
    /Deployments frozen .* deployments wait in 2 of 4 repositories 2 not enforced 1 enforced in part/,
  );
  expect(await see(`/owners/acme/progress?plan=${plan}`)).toMatch(
    /Deployments are frozen in 2 of 4 repositories of acme 2 not enforced 1 enforced in part/,
  );
  for (const path of ['/', '/repos/acme']) {
    const text = await see(path);
    expect(text).toMatch(
      /Deployments are frozen in 2 of 4 repositories of acme .*deployments not enforced in 2 repositories deployments enforced in part in 1 repository/,
    );
    expect(text).toMatch(
      /Deployments frozen until .* Stops deployments in 2 of 4 repositories Not enforced in 1 repository: no environment has the rule Enforced in part in 1 repository: .* Not enforced in 1 repository: there is no such environment/,
    );
  }
  expect(await see('/owners/acme/unfreeze')).toContain('Deployments in 2 of 4 repositories');
  const rows = await see('/repos/acme');
  for (const name of ['bare', 'loose']) expect(rows).toMatch(new RegExp(`${name} Deployments not enforced`));
  expect(rows).toMatch(/held Deployments frozen/);
  expect(rows).toMatch(/part Deployments frozen in part/);
  expect(await see('/')).toContain('freeze of deployments in 2 freeze of deployments not enforced in 2');
  await endPlan(plan);
});

test.each([
  [
    'loose',
    'Deployments to production and staging are not stopped: no environment has the rule. see why . To enforce it, an admin enables the rule there.',
  ],
  [
    'bare',
    'Deployments to production and staging are not stopped: there is no such environment. see why . To enforce it, name an environment in the job that deploys and enable the rule there, or correct the environments of the freeze.',
  ],
])('the page of %s says that its freeze is not enforced, and what to do', async (name, says) => {
  const freeze = await acme.freeze(`acme/${name}`, {
    ...{ reason: 'Move', holds: ['deployments'], environments: ['production', 'staging'] },
  });
  const page = await ada.open(`/repos/acme/${name}`);
  expect(page.text).not.toContain('<title>Deployments frozen');
  expect(words(page)).toContain(`The freeze of deployments of acme/${name} is not enforced`);
  expect(words(page)).not.toContain('are frozen');
  expect(words(page)).toContain(says);
  // What to do stands there, unfolded, and nothing says that freezes are enforced.
  const [, section] = words(page).split(' Enforcement ');
  expect(section).toMatch(
    /^Freezes of deployments are not enforced Freezes of merges are enforced .*? Warning: /,
  );
  expect(page.text).not.toContain('>Freezes are enforced<');
  expect(await see(`/repos/acme/${name}/freezes/${freeze.id}`)).toContain('Ongoing, not enforced');
  const progress = await see(`/owners/acme/progress?freeze=${freeze.id}`);
  expect(progress).toContain(`A freeze of deployments is on in acme/${name} , and not enforced`);
  expect(progress).toContain('The freeze holds no deployment, so there is nothing to tell yet.');
  const { enforced } = (await call('GET', `/v1/repos/acme/${name}/scheduled_freeze/${freeze.id}/enforcement`))
    .body;
  expect(enforced).toBe(false);
  for (const path of ['/', '/repos/acme']) {
    const text = await see(path);
    expect(text).toContain('A freeze of deployments is on, and enforced in none of 4 repositories of acme');
    expect(text).not.toMatch(/Deployments frozen|Deployments are frozen/);
  }
  await acme.remove(`acme/${name}`, freeze.id);
});

test('what to tell people says what is not held, and a chat is not told less', async () => {
  const plan = await makePlan(names);
  const text = await see(`/owners/acme/progress?plan=${plan}`);
  for (const each of nothingIn) expect(text).toContain(each.replace('would be', 'is'));
  expect(text).toContain('2 environments in 2 repositories are held.');
  expect(text).toContain('A chat would not learn what is not held. Copy the text.');
  await endPlan(plan);
  const whole = await makePlan(['held'], { environments: ['production'] });
  expect(await see(`/owners/acme/progress?plan=${whole}`)).not.toMatch(/not held|is held|A chat would/);
  await endPlan(whole);
});

test('a freeze of merges, too, lacks nothing where there is no environment', async () => {
  const plan = await makePlan(['bare', 'held'], {
    holds: ['merges', 'deployments'],
    environments: ['production'],
  });
  const card = await see('/');
  expect(card).toContain('Stops deployments in 1 of 2 repositories No such environment in 1 repository');
  expect(card).not.toMatch(/deployments not enforced|deployments enforced in part/);
  await endPlan(plan);
});

test('a card is judged by the environments of all its freezes', async () => {
  const plan = await makePlan(['held', 'part'], { environments: ['production'] });
  expect(await see('/')).toContain('Stops deployments in 2 repositories');
  const [{ id }] = (await call('GET', '/v1/repos/acme/part/scheduled_freeze')).body.scheduled_freezes;
  const changed = await call('PATCH', `/v1/repos/acme/part/scheduled_freeze/${id}`, {
    environments: ['staging'],
  });
  expect(changed.status).toBe(200);
  await acme.quiet();
  expect(await see('/')).toMatch(
    /Stops deployments in 1 of 2 repositories Not enforced in 1 repository: no environment has the rule/,
  );
  await endPlan(plan);
});
