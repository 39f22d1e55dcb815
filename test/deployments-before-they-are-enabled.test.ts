import { beforeAll, expect, test } from 'vitest';
import type { Finding } from '../src/explanations/enforcement/finding.ts';
import { acmeForAll } from './support/acme.ts';
import { forDeployments } from './support/deployments.ts';
import { Visitor, words } from './support/visitor.ts';

// Before freezes block deployments: everything says what is missing, and how to switch it on.

const acme = acmeForAll();
const held = { holds: ['deployments'], environments: ['prod*'] };
const notAccepted = 'Holdfast lacks deployments: write, actions: read.';
let web: string;
let ada: Visitor;
beforeAll(async () => {
  web = await acme.repository('web', [{}]);
  ada = new Visitor(acme);
  await ada.signIn('ada');
});

const findings = async (): Promise<Finding[]> => {
  const { body } = await acme.call('GET', `/v1/repos/${web}/enforcement`, { as: acme.admin });
  return body.findings.filter(({ check }: Finding) => check === 'deployments');
};
/** The words of a page, when no answer about GitHub is used again. */
const page = async (path: string): Promise<string> => {
  await acme.advanceTo(new Date(acme.clock.now() + 61_000));
  const { status, text } = await ada.open(path);
  expect(status).toBe(200);
  return words({ text });
};
const settings = [
  '/owners/acme/settings/deployments',
  '/repos/acme/web/settings',
  '/owners/acme/first-steps',
];

test('while the App asks for nothing, the pages name what to add, and nobody else speaks of it', async () => {
  expect(await findings()).toEqual([]);
  for (const path of settings) {
    const text = await page(path);
    expect(text).toContain('Deployments: read and write , so that Holdfast can approve or reject');
    expect(text).toContain(
      'Actions: read , so that it finds them. Subscribe to the Deployment protection rule',
    );
    const { text: source } = await ada.open(path);
    expect(source).toMatch(/href="[^"]*\/settings\/apps\/[\w-]+\/permissions"/);
    expect(source).toMatch(/href="[^"]*\/organizations\/acme\/settings\/installations\/\d+"/);
  }
});

test('until they are accepted, the answer, its page and doctor say that nothing is stopped', async () => {
  const freeze = await acme.freeze(web, { ...held, end: '2026-03-02T12:00:00' });
  const warning = `Freezes cannot block deployments on GitHub: ${notAccepted} Only a gate in the pipeline stops them.`;
  expect(freeze).toHaveProperty('warnings', [warning]);
  const body = { ...held, reason: 'x', start: null, timezone: 'UTC', end: '2026-03-02T12:00:00' };
  const path = `/v1/repos/${web}/scheduled_freeze/preview`;
  const { body: preview } = await acme.call('POST', path, { as: acme.admin, body });
  expect(preview.warnings).toEqual([{ type: 'deployments_not_stopped', message: warning }]);
  const [found] = await findings();
  expect(found).toMatchObject({ state: 'warning', message: expect.stringContaining(notAccepted) });
  const shown = await page(`/repos/${web}/freezes/${freeze.id}`);
  expect(shown).toContain(warning);
  expect(shown).toContain(
    'Holdfast cannot tell whether deployments to prod* are stopped: it needs Actions: read.',
  );
  // The App asks, and nobody has accepted.
  acme.github.askForMore(forDeployments, ['deployment_protection_rule']);
  for (const path of settings)
    expect(await page(path)).toContain('Ask an owner to accept deployments: write and actions: read in');
  expect((await findings())[0]!.remedy).toMatch(/^Ask an owner to accept the new permissions at /);
  await acme.remove(web, freeze.id);
});

test('then they say which environments have the rule, and which jobs fail', async () => {
  acme.github.acceptPermissions('acme', acme.github.app.permissions);
  await acme.quiet();
  acme.github.addEnvironment(web, 'production', { ours: false });
  acme.github.addEnvironment(web, 'prod EU', { adminsBypass: false });
  acme.github.addEnvironment(web, 'staging');
  acme.github.addEnvironment(web, 'six', { ours: false, others: ['a', 'b', 'c', 'd', 'e', 'f'] });
  const deploy = 'jobs:\n  a:\n    environment: {name: staging, deployment: false}\n';
  acme.github.writeFile(web, '.github/workflows/deploy.yml', deploy);
  acme.github.writeFile(web, '.github/workflows/large.yml', `# ${'x'.repeat(50_000)}\n${deploy}`);
  acme.github.writeFile(web, '.github/workflows/notes.md', deploy);
  acme.github.writeFile(web, 'deploy.yml', deploy);
  const freeze = await acme.freeze(web, { ...held, end: '2026-03-02T12:00:00' });
  expect(freeze).not.toHaveProperty('warnings');
  const requests = acme.github.requests.length;
  const found = await findings();
  const { appId: id } = { appId: acme.github.app.id };
  const said = (message: string) => found.find((each) => each.message.includes(message));
  expect(said('Holdfast can approve and reject deployments.')).toMatchObject({ state: 'ok' });
  expect(said('deploys to production, so freezes do not block that')).toMatchObject({
    state: 'warning',
    remedy: expect.stringMatching(
      new RegExp(
        `/acme/web/settings/environments/\\d+/edit, or with: gh api --hostname \\S+ --method POST repos/acme/web/environments/production/deployment_protection_rules -F integration_id=${id}$`,
      ),
    ),
  });
  expect(said('deploys to prod EU.')).toMatchObject({ state: 'ok', remedy: null });
  expect(said('staging, but administrators can bypass')).toMatchObject({ state: 'warning' });
  expect(said('deploys to six')!.remedy).toContain('the most that GitHub allows');
  expect(said('can edit a workflow can name another environment')).toMatchObject({ state: 'ok' });
  expect(said('.github/workflows/deploy.yml:3 says deployment: false for staging')).toMatchObject({
    state: 'failed',
  });
  expect(said('too large or too many: .github/workflows/large.yml.')).toMatchObject({ state: 'unknown' });
  expect(found.filter(({ message }) => /notes|deploy\.yml/.test(message))).toHaveLength(1);
  // Two requests for all workflows, and one for each environment beside their list.
  const since = acme.github.requests.slice(requests).map(({ path }) => path);
  expect(since.filter((path) => path.includes('/environments'))).toHaveLength(5);

  const [ofRepository, steps] = [await page(settings[1]!), await page(settings[2]!)];
  for (const text of [ofRepository, steps]) {
    expect(text).toContain('GitHub waits for Holdfast before it deploys to prod EU.');
    expect(text).toContain('.github/workflows/deploy.yml:3 says deployment: false');
  }
  expect(steps).toContain('Done Freezes can block deployments');
  expect(await page(settings[0]!)).toContain('See which environments have the rule');
  expect((await ada.open(settings[1]!)).text).toMatch(
    /<pre><code>gh api [^<]*integration_id=\d+<\/code><\/pre>/,
  );

  const path = `/repos/${web}/freezes/${freeze.id}`;
  const partly =
    'Deployments to production are not stopped: the rule is not enabled there. GitHub waits for Holdfast before it deploys to prod EU.';
  expect(await page(path)).toContain(`Deployments ${partly} see why`);
  expect(await page(`/repos/${web}`)).toContain('Ongoing Enforced in part');
  acme.github.disableRule(web, 'prod EU');
  expect(await page(path)).toContain('Deployments to prod* are not stopped: no environment has the rule.');
  acme.github.removeEnvironment(web, 'production');
  acme.github.removeEnvironment(web, 'prod EU');
  acme.github.addEnvironment(web, 'prod', { adminsBypass: false });
  expect(await page(path)).toContain(
    'Deployments GitHub waits for Holdfast before it deploys to prod. Created by',
  );
  expect(await page(`/repos/${web}`)).not.toMatch(/Ongoing (Not enforced|Enforced in part)/);
  await acme.remove(web, freeze.id);
});

const long = 'GitHub forgets a deployment that waited 30 days: its job fails.';
test.each([
  [{ end: '2026-03-31T09:00:00' }, null],
  [{ end: '2026-03-31T09:00:01' }, `${long} The freeze lasts longer.`],
  [{}, `${long} The freeze has no end.`],
  [{ on_deployment: 'reject' }, null],
  [{ holds: ['merges'] }, null],
])('a freeze with %j that would outlast 30 days warns', async (more, warning) => {
  const body = { reason: 'x', start: '2026-03-01T09:00:00', timezone: 'UTC', ...held, ...more };
  const ask = async (path: string, of: object = {}) =>
    (await acme.call('POST', `/v1/${path}`, { as: acme.admin, body: { ...body, ...of } })).body;
  const texts = warning === null ? [] : [warning];
  const preview = await ask(`repos/${web}/scheduled_freeze/preview`);
  expect(preview.warnings.filter(({ type }: { type: string }) => type.startsWith('deployments'))).toEqual(
    texts.map((message) => ({ type: 'deployments_forgotten', message })),
  );
  const plan = { name: 'P', repositories: { include: ['web'] } };
  const ofPlan = (await ask('freeze_plans/acme/preview', plan)).warnings ?? [];
  expect(ofPlan.filter((text: string) => text.startsWith(long))).toEqual(texts);
  const made = await ask('freeze_plans/acme', plan);
  expect(made.warnings ?? []).toEqual(texts);
  const changed = await acme.call('PATCH', `/v1/freeze_plans/acme/${made.id}`, {
    as: acme.admin,
    body: { reason: 'y' },
  });
  expect(changed.body.warnings ?? []).toEqual(texts);
  expect((await page(`/owners/acme/plans/${made.id}`)).includes(long)).toBe(warning !== null);
  await acme.call('DELETE', `/v1/freeze_plans/acme/${made.id}`, { as: acme.admin });
  const freeze = await ask(`repos/${web}/scheduled_freeze`);
  expect(freeze.warnings ?? []).toEqual(texts);
  await acme.quiet();
  await acme.remove(web, freeze.id);
});

test('Freeze now and the form of a freeze choose what it holds', async () => {
  const form = '/owners/acme/freeze';
  const fields = {
    ...{ which: 'ticked', repository: 'web', reason: 'Quiet', duration: 'open', zone: 'UTC' },
    ...{ holds: 'both', environments: 'prod*\nlive', on_deployment: 'wait' },
  };
  const seen = await ada.send(form, { ...fields, step: 'preview' });
  expect(words(seen)).toContain(`${long} The freeze has no end.`);
  const [, previewed] = /name="previewed" value="([^"]*)"/.exec(seen.text)!;
  const [, key] = /name="key" value="([^"]*)"/.exec(seen.text)!;
  expect((await ada.send(form, { ...fields, previewed: previewed!, key: key!, step: 'freeze' })).status).toBe(
    303,
  );
  await acme.quiet();
  const list = async () =>
    (await acme.call('GET', `/v1/repos/${web}/scheduled_freeze`, { as: acme.admin })).body.scheduled_freezes;
  const [freeze] = await list();
  const both = { holds: ['merges', 'deployments'], environments: ['prod*', 'live'], on_deployment: 'wait' };
  expect(freeze).toMatchObject(both);
  const path = `/repos/${web}/freezes/${freeze.id}`;
  const { text } = await ada.open(path);
  expect(text).toContain('Merges are blocked; deployments to prod* and live wait.');
  expect(text).toMatch(/name="holds"\s+value="both"\s+checked/);
  const [, version] = /name="version" value="([^"]*)"/.exec(text)!;
  const change = { holds: 'deployments', environments: '', on_deployment: 'reject', version: version! };
  expect((await ada.send(`${path}/edit`, change)).status).toBe(303);
  expect((await list())[0]).toMatchObject({
    holds: ['deployments'],
    environments: ['*'],
    on_deployment: 'reject',
  });
  // The pages that list freezes have it, too.
  for (const path of ['/repos/acme', '/owners/acme/calendar'])
    expect(await page(path)).toContain('Deployments: Quiet');
  expect(await page('/repos/acme')).not.toContain('0 pull requests');
  expect(await page('/owners/acme/unfreeze')).toContain('Deployments are rejected; merges are not blocked.');
  acme.github.assertNoUnknownRoutes();
});
