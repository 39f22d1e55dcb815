// `holdfast prove` as a process, with the clicks of its owner; interrupted and killed.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/github.ts';
import { Visitor } from '../support/first-run.ts';
import type { Proof } from '../prove/proof.ts';
import { wrongGitHubs } from '../prove/wrong-githubs.ts';
import { type ServiceProcess, watchProcess } from '../support/process.ts';

const holdfast = fileURLToPath(new URL('../../bin/holdfast.mjs', import.meta.url));
const organization = 'proving-ground';

let github: Sandbox;
let folder: string;
let token: string;
const started: ServiceProcess[] = [];
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-prove-process-'));
  // Nobody can receive its webhooks.
  github = await startSandbox({ app: null, send: () => Promise.reject(new Error('nobody')) });
  github.addUser('olga');
  github.addOrganization(organization, { admins: ['olga'] });
  const scopes = ['repo', 'workflow', 'delete_repo', 'read:org'];
  token = github.addToken('olga', { kind: 'classic', scopes });
});
afterAll(async () => {
  for (const { child } of started) child.kill('SIGKILL');
  await Promise.all(started.map(({ ended }) => ended));
  await github.close();
  rmSync(folder, { recursive: true, force: true });
});

function prove(words: string[], apiUrl = github.url): ServiceProcess {
  const env = { PATH: process.env['PATH'], HOME: folder, HOLDFAST_TOKEN: token, GITHUB_API_URL: apiUrl };
  const run = watchProcess(process.execPath, [holdfast, 'prove', organization, ...words], {
    cwd: folder,
    env,
  });
  started.push(run);
  return run;
}

/** Asks GitHub as the owner. */
async function ask<Answer>(path: string): Promise<Answer> {
  const headers = { authorization: `Bearer ${token}`, 'user-agent': 'test' };
  return (await (await fetch(github.url + path, { headers })).json()) as Answer;
}
const repositories = async () =>
  (await ask<{ name: string }[]>(`/orgs/${organization}/repos?per_page=100`)).map(({ name }) => name);
const installed = async () =>
  (await ask<{ total_count: number }>(`/orgs/${organization}/installations`)).total_count;

/** Creates and installs Apps, as the pages of a run lead to it. @returns the last page. */
async function click(run: ServiceProcess, ...titles: string[]) {
  await said(run, /Open (http:\S+)/);
  const visitor = new Visitor();
  let page = await visitor.get(/Open (http:\S+)/.exec(run.output())![1]!);
  for (const title of titles) {
    expect(page.text).toContain(title);
    const install = await visitor.submit(await visitor.submit(page), { as: 'olga' });
    page = await visitor.submit(install, { account: organization });
  }
  return page;
}

const said = (run: ServiceProcess, pattern: RegExp) =>
  expect.poll(() => pattern.exec(run.output())?.[1], { interval: 50 }).toBeDefined();

test('without --app, what is not held is explained, and the App is uninstalled', async () => {
  wrongGitHubs['hint']!.install(github);
  mkdirSync(join(folder, 'proofs'));
  const run = prove(['--only', 'hint,seconds', '--out', 'proofs']);
  await click(run, 'App 1 of 1');
  expect(await run.ended).toBe(3);
  github.faults.clear();
  expect(run.output()).toMatch(
    /not held {2}hint: The header names “”.*\n +What it means: Holdfast cannot say/,
  );
  const proof = JSON.parse(readFileSync(join(folder, 'proofs', 'prove.json'), 'utf8')) as Proof;
  const [hint, seconds] = proof.steps;
  expect([hint?.verdict, seconds?.verdict]).toEqual(['not held', 'held']);
  const text = readFileSync(join(folder, 'proofs', 'prove.md'), 'utf8');
  for (const step of [hint, seconds]) {
    expect(step?.request_id).toMatch(/^[0-9A-Z]{16}$/);
    expect(text).toContain(`| ${step?.request_id} |`);
  }
  expect(text).toContain('`hint`: **not held**. The header names “”, not statuses=write. What it means: ');
  const settings = `${github.url}/organizations/${organization}/settings/apps/`;
  expect(run.output()).toContain(`is uninstalled. GitHub deletes an App only at ${settings}holdfast-prove-`);
  expect(await installed()).toBe(0);
  expect(await repositories()).toEqual([]);
});

test('interrupted between creating Apps: none stays installed', async () => {
  const run = prove(['--lock']);
  await click(run, 'App 1 of 2');
  expect(await installed()).toBe(1);
  run.child.kill('SIGINT');
  expect(await run.ended).toBe(2);
  expect(run.output()).toMatch(/is uninstalled\. GitHub deletes an App only at \S+\/advanced\n/);
  expect(run.output()).toContain('The run was interrupted. Nothing was proved.');
  expect(await installed()).toBe(0);
});

test('interrupted while GitHub does not answer: it ends', async () => {
  github.faults.add({ kind: 'delay', match: { path: /^\/user$/ }, ms: 600_000 });
  const run = prove([]);
  const asked = github.requests.length;
  await expect.poll(() => github.requests.length, { interval: 50 }).toBeGreaterThan(asked);
  run.child.kill('SIGINT');
  expect(await run.ended).toBe(2);
  github.faults.clear();
});

test('GitHub does not uninstall the App: the proof is written, and --clean says what is left', async () => {
  const run = prove(['--only', 'seconds', '--out', 'proofs']);
  rmSync(join(folder, 'proofs', 'prove.json'));
  github.faults.add({ kind: 'reset', match: { method: 'DELETE', path: /^\/app\/installations\// } });
  await click(run, 'App 1 of 1');
  expect(await run.ended).toBe(0);
  github.faults.clear();
  expect(existsSync(join(folder, 'proofs', 'prove.json'))).toBe(true);
  expect(run.output()).toMatch(/is still installed\. GitHub deletes an App only at/);
  const clean = prove(['--clean']);
  expect(await clean.ended).toBe(0);
  expect(clean.output()).toMatch(/holdfast-prove-[0-9a-f]{8} is still installed: http/);
  github.uninstall(organization);
});

test('the owner clicks, everything holds, and nothing is left but the Apps in the file', async () => {
  const run = prove(['--lock', '--app', 'apps.json']);
  const page = await click(run, 'App 1 of 2', 'App 2 of 2');
  expect(page.text).toContain('Return to the terminal');
  expect(await run.ended).toBe(0);
  expect(run.output()).toContain('0 not held, 0 unknown');
  expect(await repositories()).toEqual([]);
  expect(statSync(join(folder, 'apps.json')).mode & 0o777).toBe(0o600);
  expect(readFileSync(join(folder, 'prove.md'), 'utf8')).toContain('| `queue-failed` |');
  github.assertNoUnknownRoutes();
});

test('killed in the middle: --clean deletes what it left, and nothing that it did not make', async () => {
  const run = prove(['--app', 'apps.json']);
  await said(run, /(pending): /);
  run.child.kill('SIGKILL');
  await run.ended;
  expect(await repositories()).toHaveLength(1);
  github.addRepository(`${organization}/holdfast-prove-01234567`);
  const clean = prove(['--clean']);
  expect(await clean.ended).toBe(0);
  expect(await repositories()).toEqual(['holdfast-prove-01234567']);
  const other = prove(['--app', 'apps.json']);
  expect(await other.ended).toBe(2);
  expect(other.output()).toContain('has no repositories');
  github.deleteRepository(`${organization}/holdfast-prove-01234567`);
});

test('interrupted by Ctrl-C: it deletes what it made, and the rest is unknown', async () => {
  const run = prove(['--app', 'apps.json']);
  await said(run, /(pending): /);
  run.child.kill('SIGINT');
  expect(await run.ended).toBe(2);
  expect(run.output()).toContain('The run was interrupted.');
  expect(await repositories()).toEqual([]);
});

test('a server that answers 404 to everything: all is unknown, and nothing was made', async () => {
  const methods = new Set<string | undefined>();
  const server = createServer(({ method }, response) => {
    methods.add(method);
    response.writeHead(404, { 'Content-Type': 'application/json' }).end('{"message":"Not Found"}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const run = prove(['--app', 'apps.json'], `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  expect(await run.ended).toBe(2);
  server.close();
  expect(run.output()).toContain('0 held, 0 not held');
  expect([...methods]).toEqual(['GET']);
  expect(existsSync(join(folder, 'prove.json'))).toBe(true);
});
