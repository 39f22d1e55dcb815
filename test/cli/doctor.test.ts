import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { diagnose } from '../../src/cli/commands/doctor.ts';
import { acmeForAll } from '../support/acme.ts';

const acme = acmeForAll();
afterEach(() => acme.github.comeBack());

type Asked = { url?: string; token?: string; isJson?: boolean };

/** Asks in this process, the story's service as its admin unless said otherwise. */
async function ask(repository?: string, { url = acme.app.url, isJson = false, ...more }: Asked = {}) {
  const token = 'token' in more ? more.token : acme.admin;
  let out = '';
  const output = new Writable({
    write(chunk, _encoding, done) {
      out += String(chunk);
      done();
    },
  });
  const code = await diagnose({ repository, url, token, isJson }, output);
  return { code, out };
}

const bin = fileURLToPath(new URL('../../bin/holdfast.mjs', import.meta.url));

/** The command in a separate process, with only this environment. */
async function run(args: string[], env: Record<string, string>) {
  const child = spawn(process.execPath, [bin, 'doctor', ...args], {
    env,
    cwd: '/',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const chunks: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  const [code] = (await once(child, 'close')) as [number];
  return { code, out: Buffer.concat(chunks).toString() };
}

describe('the command', () => {
  test('reads the service and the token from the environment, and exits with its result', async () => {
    const asked = await acme.repository('asked', [], { protect: {} });
    const env = { HOLDFAST_URL: acme.app.url, HOLDFAST_TOKEN: acme.admin };
    const [failed, unknown] = await Promise.all([run([asked, '--json'], env), run(['--jsno'], env)]);
    expect(failed.code, failed.out).toBe(1);
    expect(JSON.parse(failed.out)).toMatchObject({ url: acme.app.url, repository: asked, enforced: false });
    expect(unknown.code).toBe(2);
    expect(unknown.out).toContain("unknown option '--jsno'");
  });

  test('takes another URL by option, and needs no token for it', async () => {
    const { code, out } = await run(['--url', acme.app.url], {});
    expect([code, out]).toEqual([0, expect.stringContaining(`Holdfast answers at ${acme.app.url}`)]);
  });
});

test('before and after the check is required', async () => {
  const web = await acme.repository('web', [{}], { protect: {} });
  const before = await ask(web);
  expect(before.code).toBe(1);
  expect(before.out).toMatch(/^FAILED {3}main does not require holdfast\/freeze/m);
  expect(before.out).toMatch(/^ {9}→ Require holdfast\/freeze at http/m);
  expect(before.out).toContain('acme/web: Freezes are NOT enforced.');
  acme.github.addRuleset(web, { checks: [{ context: 'holdfast/freeze', app: acme.github.app.id }] });
  const after = await ask(web);
  expect(after.code).toBe(0);
  expect(after.out).toMatch(/^ok {7}main requires holdfast\/freeze from this App/m);
  expect(after.out).toContain('acme/web: Freezes are enforced.');
});

test('for programs, the findings as the route answers them', async () => {
  const api = await acme.repository('api', [], { protect: {} });
  const { code, out } = await ask(api, { isJson: true });
  const report = JSON.parse(out);
  expect(code).toBe(1);
  expect(report).toMatchObject({ url: acme.app.url, repository: api, enforced: false });
  expect(report.findings[0]).toMatchObject({ check: 'service', state: 'ok' });
  expect(report.findings).toContainEqual(
    expect.objectContaining({ check: 'required_check', state: 'failed', branch: 'main' }),
  );
});

test('without a repository: whether the service is well, for which no credential is needed', async () => {
  const { code, out } = await ask(undefined, { token: undefined });
  expect(out).toBe(`ok       Holdfast answers at ${acme.app.url}, with API version 1.\n`);
  expect(code).toBe(0);
});

test('it answers with an App without permissions, and while GitHub is down', async () => {
  const { github } = acme;
  const vault = await acme.repository('vault', [{}], { private: true });
  github.acceptPermissions('acme', {});
  await acme.quiet();
  const nothing = await ask(vault);
  github.acceptPermissions('acme', github.app.permissions);
  await acme.quiet();
  expect(nothing.code).toBe(1);
  expect(nothing.out).toMatch(
    /^unknown {2}Holdfast cannot tell whether the default branch|^unknown {2}Holdfast cannot tell whether main/m,
  );
  github.goDown();
  const down = await ask(vault);
  expect(down.code).toBe(2);
  expect(down.out).toContain('acme/vault: Holdfast cannot tell whether freezes are enforced.');
});

describe('it could not ask', () => {
  const said = async (repository: string | undefined, asked?: Asked) => {
    const { code, out } = await ask(repository, asked);
    expect(code, out).toBe(2);
    return out;
  };

  test.each<[string, string | undefined, Asked, string]>([
    ['without a token', 'acme/web', { token: undefined }, 'Set HOLDFAST_TOKEN'],
    [
      'a wrong token',
      'acme/web',
      { token: 'hf_admin_nope' },
      'Holdfast answers 403 about acme/web: Not authenticated',
    ],
    ['nobody listens', undefined, { url: 'http://127.0.0.1:9' }, 'does not answer at http://127.0.0.1:9'],
    [
      'a token with a line break',
      'acme/web',
      { token: 'hf_admin_s3cret\nhf_admin_s3cret' },
      'HOLDFAST_TOKEN contains characters that no credential has',
    ],
    ['a token in quotes of a word processor', 'acme/web', { token: '“hf_admin_s3cret”' }, 'HOLDFAST_TOKEN'],
    ['no URL', undefined, { url: 'holdfast' }, 'does not answer at holdfast (Invalid URL)'],
  ])('%s', async (_name, repository, asked, message) => {
    const out = await said(repository, asked);
    expect(out).toContain(message);
    expect(out).not.toContain('s3cret');
  });

  test.each(['acme', 'acme/', '/web', 'acme/web/x', 'acme/no such', 'acme/..', 'acme/nowhere', 'eve/web'])(
    'about %j',
    async (name) =>
      expect(await said(name)).toMatch(/is not a repository|Holdfast answers (404|422|403) about/),
  );

  test('of a person without the right', async () => {
    const { github } = acme;
    await acme.repository('hidden', [], { private: true });
    const token = github.addToken('bob');
    expect(await said('acme/hidden', { token })).toContain('Holdfast answers 404 about acme/hidden');
  });
});

/** Something that is not Holdfast, or not well. */
async function other(listener: RequestListener, meet: (url: string) => Promise<void>): Promise<void> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  await meet(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  server.closeAllConnections();
  server.close();
}

/** A self-signed certificate with its key, in one PEM. */
const selfSigned = () =>
  execFileSync(
    'openssl',
    'req -x509 -newkey rsa:2048 -nodes -subj /CN=127.0.0.1 -days 1 -keyout - -out -'.split(' '),
    { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
  );

const openapi = { info: { title: 'Holdfast', version: '1' } };

test('a service that is not Holdfast gets no credential', async () => {
  const seen: (string | undefined)[] = [];
  await other(
    ({ headers }, response) => {
      seen.push(headers.authorization);
      response.end('<html>');
    },
    async (url) => expect((await ask('acme/web', { url })).code).toBe(2),
  );
  expect(new Set(seen)).toEqual(new Set([undefined]));
});

test('a service without a GitHub App says where to set it up, and gets no credential', async () => {
  const seen: (string | undefined)[] = [];
  const detail = 'No GitHub App is configured yet. Open https://holdfast.example/setup.';
  await other(
    ({ url, headers }, response) => {
      seen.push(headers.authorization);
      response
        .writeHead(503)
        .end(JSON.stringify(url === '/readyz' ? { status: 'setup', detail } : { detail }));
    },
    async (url) => {
      const { code, out } = await ask('acme/web', { url });
      expect([code, out]).toEqual([2, `Holdfast answers at ${url}. ${detail}\n`]);
    },
  );
  expect(new Set(seen)).toEqual(new Set([undefined]));
});

test('an untrusted certificate is named', async () => {
  const pem = selfSigned();
  const server = createTlsServer({ key: pem, cert: pem }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { code, out } = await ask(undefined, { url: `https://127.0.0.1:${port}` });
  server.close();
  expect([code, out]).toEqual([2, expect.stringContaining('Set NODE_EXTRA_CA_CERTS')]);
});

test('it follows no redirect, which would send the credential elsewhere', async () => {
  await other(
    (_, response) => response.writeHead(302, { location: acme.app.url }).end(),
    async (url) => expect((await ask('acme/web', { url })).code).toBe(2),
  );
});

test('a service that is not ready has failed; its texts cannot control the terminal', async () => {
  await other(
    ({ url }, response) => {
      const findings = [
        { check: 'clock', state: 'ok', message: 'red \u001b[31m\nFAILED  forged', remedy: null },
      ];
      const isReady = url === '/readyz';
      const body = isReady
        ? { status: 'not ready' }
        : url!.includes('openapi')
          ? openapi
          : {
              enforced: true,
              checked_at: '2026-03-01T09:00:00.000Z',
              pull_requests: { to_hold: 0, to_refuse: 0, held: 0 },
              leaking: [],
              not_held: [],
              instant: { mode: 'off', state: 'off', since: null, error: null },
              findings,
            };
      response.writeHead(isReady ? 503 : 200).end(JSON.stringify(body));
    },
    async (url) => {
      const { code, out } = await ask('acme/web', { url });
      expect(code).toBe(1);
      expect(out).toMatch(/^FAILED {3}Holdfast is not ready: GET \/readyz answers 503/m);
      expect(out).not.toContain('\u001b');
      expect(out).not.toMatch(/^FAILED {2}forged/m);
    },
  );
});
