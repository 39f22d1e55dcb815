// The checks of an OIDC token, and their cost for GitHub. Each test begins a minute after the one before.
import { createHmac, createPublicKey, generateKeyPairSync, type JsonWebKey, sign } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Acme, acmeForAll } from '../../api/acme.ts';
import { useUpIdentities } from '../../support/used-up.ts';

const acme = acmeForAll();
const audience = 'https://holdfast.example';
const path = '/v1/repos/acme/web/freeze_state';
const jwks = '/_services/token/.well-known/jwks';

beforeAll(async () => {
  await makeRule('acme', acme.keys.admin);
});
beforeEach(() => advance(60));

const advance = (seconds: number) => acme.clock.setTime(new Date(acme.clock.now() + seconds * 1000));
const seconds = () => Math.floor(acme.clock.now() / 1000);

async function makeRule(owner: string, as: string, more: object = {}) {
  const body = { name: 'all', may: ['push_scopes'], ...more };
  const answer = await acme.call('POST', `/v1/oidc_rules/${owner}`, { as, body });
  expect(answer.status, answer.text).toBe(201);
  return answer.body.id as string;
}

type Options = NonNullable<Parameters<Acme['github']['jobToken']>[1]>;
const token = (options: Options = {}, repository = 'acme/web') =>
  acme.github.jobToken(repository, { audience, ...options });
const call = (as: string, at = path) => acme.call('GET', at, { as });
const readings = () => acme.github.requests.filter((each) => each.path === jwks).length;

async function expectRefused(as: string, detail: RegExp, at = path) {
  const answer = await call(as, at);
  expect([answer.status, answer.body.detail]).toEqual([403, expect.stringMatching(detail)]);
}

const notAccepted = /^Not authenticated: this credential is not accepted/;

describe('the keys', () => {
  test('without keys and with GitHub down, no token is good or bad', async () => {
    acme.github.goDown();
    try {
      const { status, body, headers } = await call(token());
      expect([status, headers.get('retry-after')]).toEqual([503, '30']);
      expect(body.detail).toMatch(/^GitHub could not say with which key this OIDC token is signed/);
    } finally {
      acme.github.comeBack();
    }
    await advance(30);
    expect((await call(token())).status).toBe(200);
  });

  test('are read once for many tokens', async () => {
    await advance(600);
    const before = readings();
    const answers = await Promise.all(Array.from({ length: 20 }, () => call(token())));
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(readings() - before).toBe(1);
    await advance(500);
    expect((await call(token())).status).toBe(200);
    expect(readings() - before).toBe(1);
  });

  test('are read again for a new key, and the old one counts while GitHub shows it', async () => {
    await call(token());
    const old = token();
    acme.github.rotateOidcKeys();
    await advance(31);
    const before = readings();
    expect((await call(token())).status).toBe(200);
    expect((await call(old)).status).toBe(200);
    expect(readings() - before).toBe(1);
  });

  test('a key that GitHub revokes counts for at most ten more minutes', async () => {
    acme.github.rotateOidcKeys();
    const far = { claims: { exp: seconds() + 3000 } };
    const stays = token(far);
    expect((await call(stays)).status).toBe(200);
    acme.github.rotateOidcKeys();
    acme.github.retireOidcKeys();
    await advance(599);
    expect((await call(stays)).status).toBe(200);
    await advance(1);
    await expectRefused(stays, notAccepted);
  });

  test('a flood of invented key ids causes one reading in 30 seconds, and stops nobody', async () => {
    expect((await call(token())).status).toBe(200);
    await advance(31);
    const before = readings();
    const forged = () => forge({ kid: crypto.randomUUID() });
    const first = await call(forged());
    expect(first.status).toBe(403);
    const flood = await Promise.all(Array.from({ length: 50 }, () => call(forged())));
    for (const { status, headers, body } of flood) {
      expect([status, body.detail]).toEqual([
        503,
        'GitHub could not say with which key this OIDC token is signed. Nothing was changed; try again in 30 s.',
      ]);
      expect(headers.get('retry-after')).toBe('30');
    }
    expect((await call(token())).status).toBe(200);
    expect(readings() - before).toBe(1);
    await advance(30);
    expect((await call(forged())).status).toBe(403);
    expect(readings() - before).toBe(2);
  });

  test.each(['502', 'reset'] as const)(
    'while GitHub is down (%s), the known keys still count',
    async (how) => {
      expect((await call(token())).status).toBe(200);
      await advance(3600);
      const good = token();
      acme.github.rotateOidcKeys();
      const unknown = token();
      acme.github.goDown(how);
      try {
        expect((await call(good)).status).toBe(200);
        const refused = await call(unknown);
        expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '30']);
      } finally {
        acme.github.comeBack();
      }
      await advance(30);
      expect((await call(unknown)).status).toBe(200);
    },
  );

  test('strangers who used up the questions about tokens keep no job out', async () => {
    await useUpIdentities(acme);
    const ask = (as: string) => fetch(acme.app.url + path, { headers: { Authorization: `Bearer ${as}` } });
    expect((await ask('ghp_2')).status).toBe(429);
    acme.github.rotateOidcKeys();
    await advance(31);
    expect((await call(token())).status).toBe(200);
  });
});

/** A token that GitHub did not sign. */
function forge(
  header: { alg?: string; kid?: string },
  signer: (signed: string) => string = (signed) =>
    sign('RSA-SHA256', Buffer.from(signed), strangers.privateKey).toString('base64url'),
): string {
  const [good = '', claims] = token().split('.');
  const given = JSON.parse(Buffer.from(good, 'base64url').toString());
  const signed = `${Buffer.from(JSON.stringify({ ...given, ...header })).toString('base64url')}.${claims}`;
  return `${signed}.${signer(signed)}`;
}
const strangers = generateKeyPairSync('rsa', { modulusLength: 2048 });

describe('the signature', () => {
  test("of another key under GitHub's key id", () => expectRefused(forge({}), notAccepted));

  test.each(['none', 'None', 'HS256', 'PS256', 'RS512', 'ES256'])('algorithm %s', async (alg) => {
    const [jwk] = acme.github.oidcKeySet().keys.slice(-1);
    const publicKey = createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' });
    const secrets = [
      publicKey.export({ type: 'spki', format: 'pem' }),
      publicKey.export({ type: 'spki', format: 'der' }),
      JSON.stringify(jwk),
    ];
    await expectRefused(forge({ alg }), notAccepted);
    await expectRefused(
      forge({ alg }, () => ''),
      notAccepted,
    );
    for (const secret of secrets) {
      const withSecret = (text: string) => createHmac('sha256', secret).update(text).digest('base64url');
      await expectRefused(forge({ alg }, withSecret), notAccepted);
    }
  });

  test('claims that were changed behind it', async () => {
    const [header, claims = '', signature] = token({}, 'globex/site').split('.');
    const changed = { ...JSON.parse(Buffer.from(claims, 'base64url').toString()), repository: 'acme/web' };
    const text = Buffer.from(JSON.stringify(changed)).toString('base64url');
    await expectRefused(`${header}.${text}.${signature}`, notAccepted);
  });

  test('no key id', () => expectRefused(forge({ kid: undefined }), notAccepted));
});

describe('the issuer and the audience', () => {
  test.each(['https://token.actions.githubusercontent.com', 'https://accounts.example'])(
    'another issuer: %s',
    (iss) => expectRefused(token({ claims: { iss } }), notAccepted),
  );

  test.each([
    'https://holdfast.example/',
    'https://HOLDFAST.example',
    'https://other.example',
    'https://github.com/acme',
  ])('another audience: %s', (other) =>
    expectRefused(
      token({ audience: other }),
      /^Not authenticated: this OIDC token is for the audience "\S+"\. Ask GitHub for one with the audience https:\/\/holdfast\.example, without/,
    ),
  );

  test('ours among others', () => expectRefused(token({ claims: { aud: [audience, 'x'] } }), notAccepted));
  test("GitHub's own default, if the job names none", () =>
    expectRefused(acme.github.jobToken('acme/web'), /for the audience "http:\/\/127/));
  test('none at all', () =>
    expectRefused(token({ claims: { aud: undefined } }), /for the audience undefined/));
});

describe('the clock may differ by 60 seconds', () => {
  const expired = /^Not authenticated: this OIDC token has expired/;
  const early = /^Not authenticated: the claim (nbf|iat) of this OIDC token does not hold/;
  test.each([
    ['exp', -59, 200],
    ['exp', -61, expired],
    ['nbf', 59, 200],
    ['nbf', 61, early],
    ['iat', 59, 200],
    ['iat', 61, early],
    ['iat', -3659, 200],
    ['iat', -3661, expired],
  ] as const)('%s %i s from now', async (claim, offset, wanted) => {
    const claims = { [claim]: seconds() + offset };
    if (wanted === 200) expect((await call(token({ claims }))).status).toBe(200);
    else await expectRefused(token({ claims }), wanted);
  });

  test.each(['exp', 'nbf', 'iat'])('a token without %s', (claim) =>
    expectRefused(token({ claims: { [claim]: undefined } }), /^Not authenticated: the claim \w+ of this/),
  );

  test('it runs on the clock of the service', async () => {
    const held = token();
    await advance(359);
    expect((await call(held)).status).toBe(200);
    await advance(1);
    await expectRefused(held, expired);
  });
});

describe('a token that is sent again', () => {
  test('counts for the requests of its job until it expires', async () => {
    const once = token();
    for (let count = 0; count < 3; count++) expect((await call(once)).status).toBe(200);
  });

  test('not for another repository, of the same owner or of another one', async () => {
    await makeRule('globex', acme.keys.foreignAdmin);
    const others = ['acme/vault', 'acme/nowhere', 'globex/site', 'nobody/nothing'];
    for (const other of others)
      await expectRefused(
        token(),
        /^An OIDC token is valid only for the repository of its job: acme\/web,/,
        `/v1/repos/${other}/freeze_state`,
      );
  });

  test('does not count after its rule is gone', async () => {
    const id = await makeRule('globex', acme.keys.foreignAdmin, { repositories: ['late'] });
    acme.github.addRepository('globex/late');
    await acme.quiet();
    const held = token({}, 'globex/late');
    const late = '/v1/repos/globex/late/freeze_state';
    expect((await call(held, late)).status).toBe(200);
    const all = (await acme.call('GET', '/v1/oidc_rules/globex', { as: acme.keys.foreignAdmin })).body
      .oidc_rules;
    for (const rule of all)
      await acme.call('DELETE', `/v1/oidc_rules/globex/${rule.id}`, { as: acme.keys.foreignAdmin });
    expect(all.map((rule: { id: string }) => rule.id)).toContain(id);
    await expectRefused(
      held,
      /^Not authenticated: no OIDC rule lets in this job of globex\/late \(ref refs/,
      late,
    );
  });
});

describe('ids count, not names', () => {
  test('claims of another owner under the name of this one', () =>
    expectRefused(
      token({ claims: { repository_owner_id: String(acme.github.repository('globex/site').ownerId) } }),
      /^Not authenticated: no OIDC rule lets in/,
    ));

  test('a repository that was made again under the same name', async () => {
    acme.github.addRepository('acme/reborn');
    await acme.quiet();
    const before = token({}, 'acme/reborn');
    const at = '/v1/repos/acme/reborn/freeze_state';
    expect((await call(before, at)).status).toBe(200);
    acme.github.deleteRepository('acme/reborn', { notify: true });
    acme.github.addRepository('acme/reborn');
    await acme.quiet();
    await expectRefused(before, /^An OIDC token is valid only for the repository of its job/, at);
    expect((await call(token({}, 'acme/reborn'), at)).status).toBe(200);
  });

  test('a repository that was renamed goes by its new name', async () => {
    acme.github.addRepository('acme/former');
    await acme.quiet();
    const before = token({}, 'acme/former');
    acme.github.renameRepository('acme/former', 'latter');
    await acme.quiet();
    expect((await call(token({}, 'acme/latter'), '/v1/repos/acme/latter/freeze_state')).status).toBe(200);
    // GitHub still answers for the former name, and the id is the same.
    expect((await call(before, '/v1/repos/acme/former/freeze_state')).status).toBe(200);
    acme.github.addRepository('acme/former');
    await acme.quiet();
    await expectRefused(before, /repository of its job: acme\/former/, '/v1/repos/acme/former/freeze_state');
  });

  test('a repository that moved to another owner', async () => {
    acme.github.addRepository('acme/moving');
    await acme.quiet();
    const before = token({}, 'acme/moving');
    acme.github.transferRepository('acme/moving', 'globex');
    await acme.quiet();
    expect([403, 404]).toContain((await call(before, '/v1/repos/acme/moving/freeze_state')).status);
    await expectRefused(
      before,
      /repository of its job: acme\/moving/,
      '/v1/repos/globex/moving/freeze_state',
    );
  });
});

test('an owner without a rule lets in nobody, and an unknown owner gets the same answer', async () => {
  acme.github.addUser('stranger');
  acme.github.addRepository('stranger/tool');
  await expectRefused(
    token({}, 'stranger/tool'),
    /^Not authenticated: no OIDC rule lets in this job of stranger\/tool \(ref refs\/heads\/main, environment none, event push\)\. Ask an admin of the owner for one: POST \/v1\/oidc_rules\/stranger\.$/,
    '/v1/repos/stranger/tool/freeze_state',
  );
});

test('a token with many claims of the owner is accepted', async () => {
  const long = token({ claims: { repo_property_team: 'x'.repeat(4000) } });
  expect(long.length).toBeGreaterThan(6000);
  expect((await call(long)).status).toBe(200);
});

test('no log line has a token', async () => {
  const sent = token();
  await call(sent);
  await call(forge({}));
  expect(acme.logs.join('')).not.toContain(sent.split('.')[2]);
});
