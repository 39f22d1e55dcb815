import { createPublicKey, type JsonWebKey, verify } from 'node:crypto';
import { expect, test } from 'vitest';
import { acme, call } from './acme.ts';

/** The claims of a token that the keys shown say GitHub signed; null for any other. */
function verified(token: string, keys: (JsonWebKey & { kid: string })[]): Record<string, unknown> | null {
  const [header = '', claims = '', signature = ''] = token.split('.');
  const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString());
  const jwk = keys.find((key) => key.kid === kid);
  if (!jwk) return null;
  const key = createPublicKey({ key: jwk, format: 'jwk' });
  const isGood = verify(
    'RSA-SHA256',
    Buffer.from(`${header}.${claims}`),
    key,
    Buffer.from(signature, 'base64url'),
  );
  return isGood ? JSON.parse(Buffer.from(claims, 'base64url').toString()) : null;
}

test('a job has a token whose key everybody can read, and whose claims are those of its run', async () => {
  const { github } = await acme();
  const discovery = await call(github, null, 'GET', '/_services/token/.well-known/openid-configuration');
  expect(discovery.body.jwks_uri).toBe(`${github.url}/_services/token/.well-known/jwks`);
  const shown = async () => (await call(github, null, 'GET', '/_services/token/.well-known/jwks')).body.keys;
  const { number } = github.openPullRequest('acme/web', { author: 'bob' });
  const { id, ownerId } = github.repository('acme/web');
  const pull = github.jobToken('acme/web', { pullRequest: number, audience: 'https://x.example' });
  expect(verified(pull, await shown())).toMatchObject({
    iss: discovery.body.issuer,
    aud: 'https://x.example',
    sub: `repo:acme@${ownerId}/web@${id}:pull_request`,
    repository: 'acme/web',
    repository_id: String(id),
    repository_owner_id: String(ownerId),
    ref: `refs/pull/${number}/merge`,
    event_name: 'pull_request',
    base_ref: 'main',
  });
  const deploy = github.jobToken('acme/web', { environment: 'prod:eu', workflow: 'deploy.yml' });
  expect(verified(deploy, await shown())).toMatchObject({
    aud: `${github.url}/acme`,
    sub: `repo:acme@${ownerId}/web@${id}:environment:prod%3Aeu`,
    environment: 'prod:eu',
    workflow_ref: 'acme/web/.github/workflows/deploy.yml@refs/heads/main',
  });
  github.rotateOidcKeys();
  expect(verified(deploy, await shown())).not.toBeNull();
  expect(verified(github.jobToken('acme/web'), await shown())).not.toBeNull();
  github.retireOidcKeys();
  expect(verified(deploy, await shown())).toBeNull();
  await github.close();
  github.assertNoUnknownRoutes();
});

test('a pull_request job of a fork has none, and its pull_request_target runs as the default branch', async () => {
  const { github } = await acme();
  const { number } = github.openPullRequest('acme/web', { author: 'eve', fork: true });
  expect(() => github.jobToken('acme/web', { pullRequest: number })).toThrow('no OIDC token');
  const target = github.jobToken('acme/web', { pullRequest: number, event: 'pull_request_target' });
  expect(verified(target, github.oidcKeySet().keys)).toMatchObject({
    event_name: 'pull_request_target',
    ref: 'refs/heads/main',
    sub: expect.stringMatching(/^repo:acme@\d+\/web@\d+:ref:refs\/heads\/main$/),
  });
  await github.close();
});
