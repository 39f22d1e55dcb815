import { expect, test } from 'vitest';
import { acme, appJwt, call, installationToken } from './acme.ts';

const context = 'Frozen until removed';

/** A repository ruleset that requires a status of the App under test. */
const rulesetOf = (app: number, enforcement = 'active') => ({
  name: 'Holdfast instant hold',
  target: 'branch',
  enforcement,
  bypass_actors: [],
  conditions: { ref_name: { include: ['~DEFAULT_BRANCH'], exclude: [] } },
  rules: [
    {
      type: 'required_status_checks',
      parameters: {
        strict_required_status_checks_policy: false,
        do_not_enforce_on_create: true,
        required_status_checks: [{ context, integration_id: app }],
      },
    },
  ],
});

/** A world in which both Apps are installed, with a token of each. */
async function withBoth() {
  const world = await acme();
  const { github } = world;
  const { id: appId, privateKey } = github.addSecondApp();
  const { id } = github.install('acme', { second: true });
  const jwt = appJwt(github, { iss: appId }, privateKey);
  const issued = await call(github, jwt, 'POST', `/app/installations/${id}/access_tokens`, {});
  const first = await installationToken(github, world.installationId);
  return { ...world, jwt, second: issued.body.token as string, first };
}

const path = '/repos/acme/web/rulesets';

test('each App has installations of its own', async () => {
  const { github, jwt, second, installationId } = await withBoth();
  const { body } = await call(github, jwt, 'GET', '/repos/acme/web/installation');
  expect(body).toMatchObject({ app_slug: 'holdfast-lock', permissions: { administration: 'write' } });
  expect((await call(github, jwt, 'GET', `/app/installations/${installationId}`)).status).toBe(404);
  const own = await call(github, appJwt(github), 'GET', '/orgs/acme/installation');
  expect(own.body.id).toBe(installationId);
  github.uninstall('acme', { second: true });
  expect((await call(github, second, 'GET', path)).status).toBe(401);
  expect((await call(github, jwt, 'GET', '/repos/acme/web/installation')).status).toBe(404);
  expect(github.deliveries.filter(({ event }) => event === 'installation')).toHaveLength(1);
  await github.close();
});

test('only an App with Administration: write changes rulesets', async () => {
  const { github, first, second } = await withBoth();
  expect(await call(github, first, 'POST', path, rulesetOf(github.app.id))).toMatchObject({
    status: 403,
    body: { message: 'Resource not accessible by integration' },
  });
  const made = await call(github, second, 'POST', path, rulesetOf(github.app.id, 'disabled'));
  expect(made.status).toBe(201);
  const own = `${path}/${made.body.id}`;
  expect((await call(github, second, 'PUT', own, { enforcement: 'active' })).body).toMatchObject({
    enforcement: 'active',
    rules: rulesetOf(github.app.id).rules,
  });
  expect((await call(github, first, 'PUT', own, { enforcement: 'disabled' })).status).toBe(403);
  github.acceptPermissions('acme', { metadata: 'read' }, { second: true });
  expect((await call(github, second, 'DELETE', own)).status).toBe(403);
  github.acceptPermissions('acme', { metadata: 'read', administration: 'write' }, { second: true });
  await github.close();
});

test('a required status of one App holds merges, groups and pushes until that App posts it', async () => {
  const { github, ada, first, second } = await withBoth();
  github.openPullRequest('acme/web', { author: 'bob' });
  const { headSha } = github.pullRequest('acme/web', 1);
  const post = (token: string, of: string) =>
    call(github, token, 'POST', `/repos/acme/web/statuses/${headSha}`, { state: 'success', context: of });
  await post(first, 'holdfast/freeze');
  expect(github.mergeable('acme/web', 1)).toBe('clean');
  expect(github.pushDirectly('acme/web', 'main', { person: 'ada' })).toBeNull();
  const { body } = await call(github, second, 'POST', path, {
    ...rulesetOf(github.app.id),
    bypass_actors: [{ actor_type: 'Integration', actor_id: 7, bypass_mode: 'always' }],
  });
  expect(github.mergeable('acme/web', 1)).toBe('blocked');
  const merge = () => call(github, ada.token, 'PUT', '/repos/acme/web/pulls/1/merge', {});
  expect((await merge()).status).toBe(405);
  expect(github.pushDirectly('acme/web', 'main', { person: 'ada' })).toMatch(/"Frozen until removed"/);
  expect(github.pushDirectly('acme/web', 'main', { app: 7 })).toBeNull();
  expect(github.pushDirectly('acme/web', 'other', { person: 'ada' })).toBeNull();
  // Somebody else's does not count.
  github.postStatus('acme/web', 1, { by: 'bob', state: 'success', context });
  expect(github.mergeable('acme/web', 1)).toBe('blocked');
  await post(first, context);
  expect((await merge()).status).toBe(200);
  expect((await call(github, second, 'DELETE', `${path}/${body.id}`)).status).toBe(204);
  expect(github.pushDirectly('acme/web', 'main', { person: 'ada' })).toBeNull();
  await github.close();
});

test('rulesets have limits, plans and answers that are wrong', async () => {
  const { github, second } = await withBoth();
  const wanted = rulesetOf(github.app.id);
  const made = await call(github, second, 'POST', path, wanted);
  const own = `${path}/${made.body.id}`;
  const enforcement = async () => (await call(github, second, 'GET', own)).body.enforcement;
  github.rulesetFaults.ignoredUpdates = 1;
  expect((await call(github, second, 'PUT', own, { enforcement: 'disabled' })).status).toBe(200);
  expect(await enforcement()).toBe('active');
  await call(github, second, 'PUT', own, { enforcement: 'disabled' });
  github.rulesetFaults.oldAnswers = 1;
  expect([await enforcement(), await enforcement()]).toEqual(['active', 'disabled']);
  const put = async (change: object) => (await call(github, second, 'PUT', own, change)).status;
  expect(await put({ conditions: { ref_name: { include: ['main'], exclude: [] } } })).toBe(422);
  const wrong = JSON.parse(
    JSON.stringify(wanted.rules).replace(/"integration_id":\d+/, '"integration_id":-1'),
  );
  expect(await put({ rules: wrong })).toBe(422);
  for (let more = 1; more < 75; more++) github.addRuleset('acme/web', { enforcement: 'disabled' });
  expect((await call(github, second, 'POST', path, wanted)).status).toBe(422);
  github.setPlan('acme', 'free');
  expect(await put({})).toBe(200);
  const ofVault = await call(github, second, 'POST', '/repos/acme/vault/rulesets', wanted);
  expect(ofVault).toMatchObject({
    status: 403,
    body: { message: expect.stringMatching(/^Upgrade to GitHub Pro/) },
  });
  // It shows none either, and what was set applies to nothing.
  github.addRuleset('acme/vault', { checks: ['ci'] });
  const pull = github.openPullRequest('acme/vault', { author: 'ada' });
  const shown = ['rulesets', 'rules/branches/main'].map(
    async (what) => (await call(github, second, 'GET', `/repos/acme/vault/${what}`)).status,
  );
  expect(await Promise.all(shown)).toEqual([403, 403]);
  expect(github.mergeable('acme/vault', pull.number)).toBe('clean');
  github.setPlan('acme', 'team');
  expect(github.mergeable('acme/vault', pull.number)).toBe('blocked');
  await github.close();
});

/** That body with another value at a path; undefined: without it. */
const changed = (body: object, path: string, value?: unknown) => {
  const copy = structuredClone(body);
  const keys = path.split('.');
  const last = keys.pop()!;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a path leads through any shape
  const place = keys.reduce((at: any, key) => at[key], copy);
  // JSON has no `undefined`.
  place[last] = value;
  return copy;
};
const parameters = 'rules.0.parameters';

test.each([
  ['name', undefined, '"name" wasn\'t supplied.'],
  ['enforcement', 'sometimes', 'Invalid property /enforcement: `sometimes` is not a possible value.'],
  ['conditions.ref_name.exclude', undefined, 'Invalid property /conditions: data matches no possible input.'],
  ['conditions.ref_name.include', undefined, 'Invalid property /conditions: data matches no possible input.'],
  ['rules.0.type', 'nonsense', 'Invalid property /rules/0: data matches no possible input.'],
  [`${parameters}.strict_required_status_checks_policy`, undefined, 'Invalid property /rules/0:'],
  [`${parameters}.required_status_checks`, undefined, 'Invalid property /rules/0:'],
  [`${parameters}.required_status_checks.0.integration_id`, null, 'Invalid property /rules/0:'],
  [`${parameters}.required_status_checks.0.context`, undefined, 'Invalid property /rules/0:'],
])('a ruleset with a wrong %s (%s) is refused in the words of GitHub', async (at, value, message) => {
  const { github, second } = await withBoth();
  const { status, body } = await call(github, second, 'POST', path, changed(rulesetOf(7), at, value));
  expect([status, body.message]).toEqual([422, expect.stringContaining(`Invalid request.\n\n${message}`)]);
  await github.close();
});

test('rules of other kinds are kept and shown', async () => {
  const { github, second } = await withBoth();
  const other = { type: 'pull_request', parameters: { required_approving_review_count: 1 } };
  const { rules } = rulesetOf(github.app.id);
  const made = await call(github, second, 'POST', path, {
    ...rulesetOf(github.app.id),
    rules: [other, ...rules],
  });
  expect(made).toMatchObject({ status: 201, body: { rules: [other, ...rules] } });
  const shown = await call(github, second, 'GET', '/repos/acme/web/rules/branches/main');
  expect(shown.body).toMatchObject([other, { type: 'required_status_checks' }]);
  await github.close();
});
