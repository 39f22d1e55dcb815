import { beforeAll, expect, test } from 'vitest';
import { acmeForAll, acme, appJwt, call, installationToken } from './acme.ts';

const world = acmeForAll();
let app: string;
beforeAll(async () => {
  app = await installationToken(world.github, world.installationId);
});

test('what a token cannot see is not found', async () => {
  const { github, ada, bob, eve } = world;
  const status = async (token: string | null) =>
    (await call(github, token, 'GET', '/repos/acme/vault')).status;
  expect(await status(ada.token)).toBe(200);
  expect(await status(bob.token)).toBe(404);
  expect(await status(eve.token)).toBe(404);
  expect(await status(null)).toBe(404);
  expect(await status(app)).toBe(200);
  github.setRole('acme/vault', 'eve', 'read');
  expect(await status(eve.token)).toBe(200);
  expect(await status(github.addToken('eve', { scopes: ['read:user'] }))).toBe(404);
  github.setRole('acme/vault', 'eve', null);
  expect(await status(eve.token)).toBe(404);
  expect(await status(appJwt(github))).toBe(401);
});

test('an installation sees only the private repositories that it was given', async () => {
  const { github } = world;
  github.removeFromInstallation('acme', ['vault']);
  expect((await call(github, app, 'GET', '/repos/acme/vault')).status).toBe(404);
  expect((await call(github, app, 'GET', '/installation/repositories')).body.total_count).toBe(1);
  github.addToInstallation('acme', ['vault']);
  expect((await call(github, app, 'GET', '/repos/ACME/Vault')).status).toBe(200);
});

test.each([
  ['web', 'ada', 'admin', 'admin'],
  ['web', 'bob', 'write', 'write'],
  ['web', 'eve', 'read', 'read'],
  ['vault', 'eve', 'none', 'none'],
  ['vault', 'mia', 'write', 'maintain'],
  ['vault', 'tom', 'read', 'triage'],
])('in %s %s has permission %s, by role %s', async (name, login, permission, role) => {
  const { github } = world;
  for (const [person, given] of [['mia', 'maintain'] as const, ['tom', 'triage'] as const]) {
    if (!(await call(github, app, 'GET', `/users/${person}`)).body.id) github.addUser(person);
    github.setRole('acme/vault', person, given);
  }
  const { body } = await call(github, app, 'GET', `/repos/acme/${name}/collaborators/${login}/permission`);
  expect(body).toMatchObject({ permission, role_name: role, user: { login } });
});

test('a refusal names the permission that would be enough', async () => {
  const { github } = world;
  github.acceptPermissions('acme', { metadata: 'read' });
  const weak = await installationToken(github, world.installationId);
  const { status, headers } = await call(github, weak, 'GET', '/repos/acme/vault/branches/main');
  expect([status, headers.get('x-accepted-github-permissions')]).toEqual([403, 'contents=read']);
  github.acceptPermissions('acme', github.app.permissions);
});

test('the former name of a branch leads to the present one', async () => {
  const { github } = world;
  github.renameBranch('acme/vault', 'main', 'trunk');
  const headers = { authorization: `Bearer ${app}` };
  const former = `${github.url}/repos/acme/vault/branches/main`;
  expect((await fetch(former, { headers, redirect: 'manual' })).status).toBe(301);
  expect(await (await fetch(former, { headers })).json()).toMatchObject({ name: 'trunk' });
  github.renameBranch('acme/vault', 'trunk', 'main');
});

test('the owner of a repository is its admin; an unknown person is not found', async () => {
  const { github, bob } = world;
  github.addRepository('bob/site');
  github.install('bob');
  const path = '/repos/bob/site/collaborators';
  expect((await call(github, bob.token, 'GET', `${path}/bob/permission`)).body.permission).toBe('admin');
  expect((await call(github, bob.token, 'GET', `${path}/nobody/permission`)).status).toBe(404);
  expect((await call(github, app, 'GET', `${path}/bob/permission`)).status).toBe(403);
});

test('membership of an organization, and members without a base permission', async () => {
  const { github } = world;
  const membership = async (login: string) => call(github, app, 'GET', `/orgs/acme/memberships/${login}`);
  expect((await membership('ada')).body).toMatchObject({ role: 'admin', state: 'active' });
  expect((await membership('bob')).body).toMatchObject({ role: 'member', state: 'active' });
  expect((await membership('eve')).status).toBe(404);
  github.setMembership('acme', 'bob', 'admin');
  expect((await membership('bob')).body.role).toBe('admin');
  github.setMembership('acme', 'bob', 'member');
});

test('installations are listed in pages', async () => {
  const { github } = world;
  const first = await call(github, appJwt(github), 'GET', '/app/installations?per_page=1');
  expect(first.body).toHaveLength(1);
  expect(first.headers.get('link')).toMatch(/<[^>]+page=2[^>]*>; rel="next"/);
  const second = await call(github, appJwt(github), 'GET', '/app/installations?per_page=1&page=2');
  expect(second.body[0].id).not.toBe(first.body[0].id);
  expect(second.headers.get('link')).not.toMatch(/rel="next"/);
});

test('every answer carries the rate limit, and an exhausted one refuses', async () => {
  const { github } = await acme();
  const { token } = github.addUser('zoe');
  const { headers } = await call(github, token, 'GET', '/user');
  expect(Number(headers.get('x-ratelimit-remaining'))).toBe(4_999);
  expect(headers.get('x-ratelimit-resource')).toBe('core');
  github.rateLimits.core = 1;
  const refused = await call(github, token, 'GET', '/user');
  expect(refused.status).toBe(403);
  expect(refused.headers.get('x-ratelimit-remaining')).toBe('0');
  expect(refused.body.message).toMatch(/rate limit exceeded/);
  await github.close();
});
