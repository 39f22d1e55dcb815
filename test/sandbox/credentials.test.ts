import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { acmeForAll, acme, appJwt, call, installationToken } from './acme.ts';

const world = acmeForAll();

const seconds = () => Math.floor(Date.now() / 1000);

describe("the App's JWT", () => {
  test('a good one is accepted', async () => {
    const { status, body } = await call(world.github, appJwt(world.github), 'GET', '/app');
    expect(status).toBe(200);
    expect(body).toMatchObject({ id: world.github.app.id, slug: 'holdfast' });
  });

  test.each([
    ['expired', () => ({ exp: seconds() - 5 }), 401, /Expiration time/],
    ['living longer than ten minutes', () => ({ exp: seconds() + 900 }), 401, /too far in the future/],
    ['issued in the future', () => ({ iat: seconds() + 300 }), 401, /Issued at/],
    ['of another App', () => ({ iss: 7 }), 404, /Integration not found/],
  ])('one %s is refused', async (_, claims, status, message) => {
    const answer = await call(world.github, appJwt(world.github, claims()), 'GET', '/app');
    expect(answer.status).toBe(status);
    expect(answer.body.message).toMatch(message);
  });

  test('one signed by another key is refused', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const answer = await call(world.github, appJwt(world.github, {}, pem), 'GET', '/app');
    expect(answer.status).toBe(401);
  });

  test('it does not count as a person, and a person does not count as the App', async () => {
    expect((await call(world.github, appJwt(world.github), 'GET', '/user')).status).toBe(401);
    expect((await call(world.github, world.ada.token, 'GET', '/app')).status).toBe(401);
  });
});

describe('installation tokens', () => {
  test('work, are long, and stop when they expire', async () => {
    const token = await installationToken(world.github, world.installationId);
    expect(token).toMatch(/^ghs_/);
    expect(token.length).toBeGreaterThan(500);
    expect((await call(world.github, token, 'GET', '/installation/repositories')).body.total_count).toBe(2);
    world.github.expireInstallationTokens();
    const answer = await call(world.github, token, 'GET', '/installation/repositories');
    expect(answer).toMatchObject({ status: 401, body: { message: 'Bad credentials' } });
  });

  test('belong to nobody', async () => {
    const token = await installationToken(world.github, world.installationId);
    const answer = await call(world.github, token, 'GET', '/user');
    expect(answer).toMatchObject({
      status: 403,
      body: { message: 'Resource not accessible by integration' },
    });
  });

  test('are not made during a suspension, and existing ones do not work', async () => {
    const token = await installationToken(world.github, world.installationId);
    world.github.suspend('acme');
    const path = `/app/installations/${world.installationId}/access_tokens`;
    const refused = await call(world.github, appJwt(world.github), 'POST', path);
    expect(refused).toMatchObject({
      status: 403,
      body: { message: 'This installation has been suspended' },
    });
    expect((await call(world.github, token, 'GET', '/repos/acme/web')).status).toBe(403);
    world.github.unsuspend('acme');
    expect((await call(world.github, token, 'GET', '/repos/acme/web')).status).toBe(200);
  });

  test('end with the installation', async () => {
    const { github, installationId } = await acme();
    const token = await installationToken(github, installationId);
    github.uninstall('acme');
    expect((await call(github, token, 'GET', '/repos/acme/web')).status).toBe(401);
    const path = `/app/installations/${installationId}/access_tokens`;
    expect((await call(github, appJwt(github), 'POST', path)).status).toBe(404);
    expect((await call(github, appJwt(github), 'GET', '/repos/acme/web/installation')).status).toBe(404);
    await github.close();
  });
});

describe("people's tokens", () => {
  test('every kind says who it is', async () => {
    const { token, fineGrainedToken, oauthToken, userToServerToken, id } = world.ada;
    for (const each of [token, fineGrainedToken, oauthToken, userToServerToken]) {
      expect((await call(world.github, each, 'GET', '/user')).body).toMatchObject({ id, login: 'ada' });
    }
    expect((await call(world.github, token, 'GET', '/user')).headers.get('x-oauth-scopes')).toBe(
      'repo, admin:org',
    );
  });

  test('an unknown or revoked one is refused everywhere', async () => {
    const token = world.github.addToken('ada', { scopes: [] });
    world.github.revokeToken(token);
    for (const each of [token, 'ghp_nonsense', 'ghs_nonsense', 'nonsense']) {
      const answer = await call(world.github, each, 'GET', '/repos/acme/web');
      expect(answer).toMatchObject({ status: 401, body: { message: 'Bad credentials' } });
    }
  });

  test('deploy keys show which tokens can administer', async () => {
    const readOnly = world.github.addToken('ada', { kind: 'fine-grained', administration: false });
    const unscoped = world.github.addToken('ada', { scopes: ['read:user'] });
    const status = async (token: string) =>
      (await call(world.github, token, 'GET', '/repos/acme/web/keys')).status;
    expect(await status(world.ada.fineGrainedToken)).toBe(200);
    expect(await status(readOnly)).toBe(403);
    expect(await status(unscoped)).toBe(404);
    expect(await status(world.bob.token)).toBe(404);
  });
});
