import { beforeAll, expect, test } from 'vitest';
import { acmeForAll } from '../api/acme.ts';

// What a refusal says of a credential: whether it is missing, malformed or not accepted, and nothing of whether there
// is such a key.

const acme = acmeForAll();
const given: Record<string, string> = {};
beforeAll(async () => {
  const past = new Date(acme.clock.now() - 1000);
  Object.assign(given, {
    revoked: await acme.key('acme', 'admin', { revokedAt: past }),
    expired: await acme.key('acme', 'admin', { expiresAt: past }),
    unknown: acme.keys.admin.replace(/.{20}$/, 'a'.repeat(20)),
    'cut off': acme.keys.admin.slice(0, -1),
  });
});

async function answerTo(authorization: string | undefined) {
  const { status, body } = await acme.call('GET', '/v1/repos/acme/web/scheduled_freeze', {
    ...(authorization !== undefined && { headers: { Authorization: authorization } }),
  });
  expect(status).toBe(403);
  expect(body.detail).toMatch(/^Not authenticated: /);
  return body.detail as string;
}

test.each([undefined, '', '  '])('missing (%j)', async (authorization) => {
  expect(await answerTo(authorization)).toBe(
    'Not authenticated: the Authorization header is missing. Send `Authorization: Bearer <token>`.',
  );
});

test.each(['Bearer', 'Bearer ', 'Basic YTpi', 'token hf_admin_x', 'hf_admin_x', 'Bearer two words'])(
  'malformed (%j)',
  async (authorization) => {
    expect(await answerTo(authorization)).toBe(
      'Not authenticated: the Authorization header is malformed. Send `Authorization: Bearer <token>`.',
    );
  },
);

test('not accepted: one text for everything that is wrong with the credential', async () => {
  const { revoked, expired, unknown } = given;
  const others = [
    given['cut off'],
    'nonsense',
    'ghp_nobody',
    'github_pat_nobody',
    'ghs_installation',
    'hf_admin_',
  ];
  const texts = await Promise.all(
    [revoked, expired, unknown, ...others].map((credential) => answerTo(`Bearer ${credential}`)),
  );
  expect(new Set(texts)).toEqual(
    new Set([
      'Not authenticated: this credential is not accepted. It may be mistyped, expired or revoked. Send an application key, or a GitHub token of a person.',
    ]),
  );
});
