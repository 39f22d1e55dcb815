import { createServer } from 'node:http';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { bundleAction } from '../../actions/bundle.ts';
import { type Acme, startAcme } from '../support/acme.ts';
import { commandsIn, type CompositeAction, readAction, runAction } from '../support/composite-action.ts';
import { freePort } from '../support/free-port.ts';
import { type Checkout, newCheckout } from '../support/git-checkout.ts';

// The action as a runner would run it, in a checkout, against the real service. Not on GitHub itself.

const source = fileURLToPath(new URL('../../actions/push-scopes/', import.meta.url));

let acme: Acme;
let key: string;
let folder: string;
let action: CompositeAction;
beforeAll(async () => {
  const port = await freePort();
  // The audience of a token is the address that the service says of itself.
  acme = await startAcme({ port, publicUrl: `http://127.0.0.1:${port}` });
  key = await acme.key('acme', 'ci');
  await acme.repository('web', [{}]);
  // Where people may copy it to: it needs nothing but its folder.
  folder = mkdtempSync(join(tmpdir(), 'holdfast-action-'));
  cpSync(source, folder, { recursive: true });
  action = readAction(join(folder, 'action.yml'));
});
afterAll(() => rmSync(folder, { recursive: true }));
afterAll(() => acme.close());

let checkout: Checkout;
let base: string;
beforeEach(() => {
  checkout = newCheckout();
  base = checkout.commit({ 'scopes.yml': "scopes: {payments: 'pay/**', docs: '**/*.md'}\n" });
});
afterEach(async () => {
  checkout.remove();
  await acme.quiet();
});

type More = { event?: object; env?: Record<string, string> };
const pullRequest = (head: string, branch = 'main') => ({
  repository: { full_name: 'acme/web' },
  pull_request: { number: 1, base: { sha: base, ref: branch }, head: { sha: head } },
});
function run(given: Record<string, string>, { event, env = {} }: More = {}) {
  const path = join(checkout.folder, '.git', 'event.json');
  writeFileSync(path, JSON.stringify(event ?? pullRequest(checkout.git('rev-parse', 'HEAD'))));
  // Its Node is the one of the tests, as setup-node would have it.
  const PATH = `${dirname(process.execPath)}:${process.env['PATH']}`;
  return runAction(
    action,
    { url: acme.app.url, ...given },
    { cwd: checkout.folder, env: { PATH, GITHUB_EVENT_PATH: path, ...env } },
  );
}
const stored = async () =>
  (await acme.app.deps.db.pullRequestScopes.findFirst({ where: { number: 1 } }))?.scopes;

test('the folder holds what the source builds (`npm run build:action`)', async () => {
  for (const [name, text] of Object.entries(await bundleAction('push-scopes')))
    expect(readFileSync(join(source, name), 'utf8') === text, `${name} is out of date`).toBe(true);
});

test('pushes what the pull request touches, says so on the run, and leaves outputs', async () => {
  await acme.freeze('acme/web', { matching_conditions: ['scope=payments'] });
  checkout.commit({ 'pay/a.ts': 'a', 'x.md': 'x' });
  const ran = await run({ key });
  expect([ran.code, ran.log]).toEqual([0, expect.not.stringContaining('::error')]);
  expect(await stored()).toEqual(['payments', 'docs']);
  await acme.quiet();
  expect(acme.frozen('acme/web')).toEqual([1]);
  expect(ran.outputs).toEqual({ scopes: '["payments","docs"]', 'all-scopes': 'false', pushed: 'true' });
  expect(ran.summary).toContain('<td><code>payments</code></td><td><code>pay/a.ts</code></td>');
  expect(ran.summary).toContain('**A freeze is on for its base branch.**');
  expect(ran.summary).toContain(
    `[See what blocks this pull request](${acme.app.url}/repos/acme/web/pulls/1)`,
  );
  const { commands, printed } = commandsIn(ran.log);
  expect(commands[0]).toBe(`::add-mask::${key}`);
  expect(printed.join('\n')).toContain('acme/web#1 touches payments, docs (2 changed paths).');
  expect(printed.join('\n') + ran.summary).not.toContain(key);
  // Whether a freeze is on is asked for the branch.
  const other = await run({ key }, { event: pullRequest(checkout.git('rev-parse', 'HEAD'), 'release') });
  expect(other.summary).toContain('base branch');
});

test('without a key, it asks GitHub for a token of the job, with the service as its audience', async () => {
  const rule = { name: 'scopes', may: ['push_scopes'] };
  expect((await acme.call('POST', '/v1/oidc_rules/acme', { as: acme.admin, body: rule })).status).toBe(201);
  const asked: { url: string; authorization: string }[] = [];
  let token = '';
  // Busy at first.
  const github = createServer((request, response) => {
    asked.push({ url: request.url!, authorization: request.headers.authorization! });
    if (asked.length === 1) return void response.writeHead(503).end();
    const audience = new URL(request.url!, 'http://here').searchParams.get('audience')!;
    token = acme.github.jobToken('acme/web', { audience, pullRequest: 1 });
    response.writeHead(200).end(JSON.stringify({ count: 1, value: token }));
  }).listen(0, '127.0.0.1');
  await once(github, 'listening');
  const url = `http://127.0.0.1:${(github.address() as AddressInfo).port}/token?api-version=2.0`;
  const env = { ACTIONS_ID_TOKEN_REQUEST_URL: url, ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'of-the-runner' };
  checkout.commit({ 'x.md': 'x' });
  const ran = await run({ url: `${acme.app.url}/` }, { env });
  github.closeAllConnections();
  github.close();
  expect([ran.code, await stored()], ran.log).toEqual([0, ['docs']]);
  expect(ran.summary).toContain('A freeze is on for its base branch');
  expect(asked[1]).toEqual({
    url: `/token?api-version=2.0&audience=${encodeURIComponent(acme.app.url)}`,
    authorization: 'Bearer of-the-runner',
  });
  expect(commandsIn(ran.log).commands[0]).toBe(`::add-mask::${token}`);
});

describe('a failure is an error on the run, and fails it', () => {
  const refusing = async (status: number, given: Record<string, string> = {}) => {
    const github = createServer((_, response) => void response.writeHead(status).end('{}'));
    await once(github.listen(0, '127.0.0.1'), 'listening');
    const ACTIONS_ID_TOKEN_REQUEST_URL = `http://127.0.0.1:${(github.address() as AddressInfo).port}/`;
    const env = { ACTIONS_ID_TOKEN_REQUEST_URL, ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'x' };
    const ran = await run(given, { env });
    github.closeAllConnections();
    github.close();
    return ran;
  };

  test('no credential; it does not use that of `gh`', async () => {
    checkout.commit({ 'x.md': 'x' });
    const ran = await run({}, { env: { GH_TOKEN: key, GITHUB_TOKEN: key } });
    expect([ran.code, commandsIn(ran.log).commands]).toEqual([
      2,
      [
        expect.stringMatching(
          /^::error title=Holdfast::There is no credential\. Give the input key a CI key/,
        ),
      ],
    ]);
    expect(ran.outputs['pushed']).toBe('');
  });

  test('GitHub gives the job no token', async () => {
    const ran = await refusing(403);
    expect([ran.code, ran.log]).toEqual([2, expect.stringContaining('permissions: id-token: write')]);
  });

  test('a key that is not accepted', async () => {
    const ran = await run({ key: 'hf_ci_wrong' });
    expect([ran.code, ran.log]).toEqual([1, expect.stringContaining('::error title=Holdfast::Not authenti')]);
  });

  test('a missing file, and a run that is not about a pull request', async () => {
    const file = await run({ key, file: 'none.yml' });
    expect([file.code, file.log]).toEqual([2, expect.stringContaining('::There is no none.yml.')]);
    const event = { repository: { full_name: 'acme/web' }, ref: 'refs/heads/main' };
    const about = await run({ key, base: 'HEAD' }, { event });
    expect([about.code, about.log]).toEqual([
      2,
      expect.stringContaining('This run is not about a pull request.'),
    ]);
    const named = await run({ key, base: 'HEAD', 'pull-request': 'acme/web#1' }, { event });
    expect([named.code, await stored()], named.log).toEqual([0, []]);
  });

  test('no Node', async () => {
    const ran = await run({ key }, { env: { PATH: '/nowhere' } });
    expect([ran.code, commandsIn(ran.log).commands]).toEqual([
      2,
      [
        '::error title=Holdfast::This runner has no Node. Run actions/setup-node before, with Node 20 or later.',
      ],
    ]);
  });
});

test('a dry run and a merge group push nothing, and need no credential', async () => {
  const before = await stored();
  const head = checkout.commit({ 'pay/a.ts': 'a' });
  const dry = await run({ 'dry-run': 'true' });
  expect([dry.code, dry.outputs]).toEqual([
    0,
    { scopes: '["payments"]', 'all-scopes': 'false', pushed: 'false' },
  ]);
  const event = { repository: { full_name: 'acme/web' }, merge_group: { base_sha: base, head_sha: head } };
  const group = await run({}, { event });
  expect([group.code, group.outputs]).toEqual([0, dry.outputs]);
  expect(group.summary).toContain('its pull requests have their own scopes');
  expect(await stored()).toEqual(before);
});

describe('names that people choose are never commands', () => {
  const names = [
    '::add-mask::x.md',
    '::error::x.md',
    '$(touch pwned).md',
    '`touch pwned`.md',
    '"; touch pwned; ".md',
    'two\n::error::lines.md',
    '<img src=x>|[a](b).md',
    '${{ github.token }}.md',
  ];

  test('of files and scopes', async () => {
    checkout.commit({
      'scopes.yml': JSON.stringify({ scopes: { '::warning::y': '**/*.md', '%0A::error::z': '**' } }),
    });
    base = checkout.git('rev-parse', 'HEAD');
    checkout.commit(Object.fromEntries(names.map((name) => [name, 'x'])));
    const ran = await run({ key });
    expect([ran.code, checkout.git('status', '--porcelain')], ran.log).toEqual([0, '']);
    expect(commandsIn(ran.log).commands).toEqual([`::add-mask::${key}`]);
    expect(ran.outputs['scopes']).toBe('["::warning::y","%0A::error::z"]');
    expect(ran.summary).not.toMatch(/<img|\[a\]|\]\(b\)/);
    expect(ran.summary.split('\n').some((text) => text.startsWith('::'))).toBe(false);
  });

  test.each([
    ['$(touch pwned)'],
    ['"; touch pwned; "'],
    ['--output=pwned'],
    ["'; touch pwned; '"],
    ['x\n::warning::pwned'],
  ])('of inputs: %j', async (name) => {
    const ran = await run({ key, base: name, file: 'scopes.yml' });
    expect([ran.code, checkout.git('status', '--porcelain')]).toEqual([2, '']);
    const { commands } = commandsIn(ran.log);
    expect(commands).toEqual([
      expect.stringMatching(/^::error title=Holdfast::git does not have the commit/),
    ]);
    const file = await run({ key, file: name });
    expect([file.code, checkout.git('status', '--porcelain')]).toEqual([2, '']);
    expect(commandsIn(file.log).commands).toEqual([
      expect.stringMatching(/^::error title=Holdfast::There is/),
    ]);
  });
});
