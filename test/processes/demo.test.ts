import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type DemoProcess, startDemo } from '../support/demo.ts';
import { Visitor } from '../support/first-run.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';

// The demo as users see it: a separate process. bash runs the printed lines unchanged.

let temporary: string;
let demo: DemoProcess | null = null;

beforeEach(async () => {
  temporary = await mkdtemp(join(tmpdir(), 'holdfast-demo-test-'));
});
afterEach(async () => {
  demo?.child.kill('SIGKILL');
  await demo?.ended;
  await rm(temporary, { recursive: true, force: true });
});

const start = (...options: string[]): DemoProcess => (demo = startDemo(temporary, ...options));

const bash = async (line: string, freeze = ''): Promise<string> => {
  const { stdout } = await promisify(execFile)('bash', ['-c', line], {
    env: { ...process.env, FREEZE: freeze },
  });
  return stdout.trimEnd();
};

const hasCurl = (() => {
  try {
    execFileSync('curl', ['--version']);
    return true;
  } catch {
    return false;
  }
})();

test.skipIf(!hasCurl)('every line of the tour works, and Ctrl-C leaves nothing behind', async () => {
  const { child, output, ended, until, printed } = start('--port', '0', '--github-port', '0');
  const text = await printed();
  const commands = [...text.matchAll(/^# \d+\. .+\n(.+)$/gm)].map((match) => match[1]!);
  const [list, create, look, push, update, remove, lookAgain, logs] = commands;
  expect(commands).toHaveLength(8);
  const blocked = async (line: string) =>
    (await bash(line)).match(/^blocked .+$/gm)?.map((row) => row.match(/#\d+/)![0]) ?? [];
  const blockedBecome = async (line: string, numbers: string[]) =>
    until(
      `exactly ${numbers.join(', ') || 'none'} blocked`,
      async () => (await blocked(line)).join() === numbers.join(),
    );

  const reasons = async () =>
    JSON.parse(await bash(list!)).scheduled_freezes.map(({ reason }: { reason: string }) => reason);
  expect(await reasons()).toEqual(['Books are closed']);
  expect((await bash(look!)).split('\n')).toHaveLength(8);
  expect(await blocked(look!)).toEqual([]);

  const freeze = await bash(create!);
  expect(freeze).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/);
  const { scheduled_freezes } = JSON.parse(await bash(list!));
  expect(scheduled_freezes).toHaveLength(2);
  const made = scheduled_freezes.find(({ id }: { id: string }) => id === freeze);
  expect(made).toMatchObject({ reason: 'Release 4.2', timezone: 'Europe/Paris' });
  await blockedBecome(look!, ['#2', '#3', '#6']);
  expect(output()).toMatch(/ acme\/web #2 +pending +Frozen until .+ Europe\/Paris: Release 4\.2/);

  expect(await bash(push!)).toBe('204');
  const updated = JSON.parse(await bash(update!, freeze));
  expect(updated.end > made.end).toBe(true);
  await blockedBecome(look!, ['#2', '#3', '#4', '#6']);

  expect(await bash(remove!, freeze)).toBe('204');
  await blockedBecome(lookAgain!, []);
  const types = JSON.parse(await bash(logs!)).events.map((event: { type: string }) => event.type);
  expect(types.slice(0, 3)).toEqual([
    'scheduled_freeze.delete',
    'scheduled_freeze.update',
    'scheduled_freeze.create',
  ]);

  const urls = [...text.matchAll(/^(?:Holdfast|GitHub) +(http:\S+)/gm)].map((match) => match[1]!);
  expect(urls).toHaveLength(2);

  // Commands in comments are on: the box on GitHub's page takes them.
  const conversation = `${urls[1]}/acme/web/pull/2`;
  const headers = { Cookie: 'sandbox_login=ada' };
  const body = new URLSearchParams({ body: '/holdfast freeze 1h INC-4711' });
  await fetch(`${conversation}/comment`, { method: 'POST', headers, body });
  await until('the command is answered', async () =>
    /holdfast\[bot\][^]*Frozen until/.test(await (await fetch(conversation)).text()),
  );
  await blockedBecome(look!, ['#1', '#2', '#3', '#4', '#5', '#6', '#7', '#8']);
  await bash(
    `curl -s -X POST '${conversation}/comment' -b sandbox_login=ada -d 'body=/holdfast unfreeze Over'`,
  );
  await blockedBecome(lookAgain!, []);
  const { servers } = JSON.parse(await bash(`curl -s '${urls[0]}/v1/openapi.json'`));
  expect(servers).toEqual([{ url: `${urls[0]}/v1` }]);
  const pages = [...text.matchAll(/^ {2}\S.* {2}(http:\S+)$/gm)].map((match) => match[1]!);
  expect(pages).toHaveLength(3);
  // What to open stands last, so that it does not scroll away.
  expect(text.trimEnd().split('\n').slice(-3)).toEqual(pages.map((page) => expect.stringContaining(page)));
  for (const page of pages) expect((await fetch(page)).status, page).toBe(200);
  expect(text).toMatch(/already require the check holdfast\/freeze[^]* branch protection/);
  const [, doctor] = /^Enforced\? +(.+)$/m.exec(text)!;
  expect(await bash(doctor!)).toContain('acme/web: Freezes are enforced.');
  expect(await readdir(temporary)).not.toEqual([]);
  child.kill('SIGINT');
  // npm passes on the Ctrl-C that the terminal has sent already.
  child.kill('SIGINT');
  expect(await ended).toBe(0);
  expect(await readdir(temporary)).toEqual([]);
  for (const url of urls) await expect(fetch(url)).rejects.toThrow();
  expect(output()).not.toContain('    at ');

  // It can be started again, at the same addresses.
  const [port, githubPort] = urls.map((url) => new URL(url).port) as [string, string];
  const again = start('--port', port, '--github-port', githubPort);
  expect(await again.printed()).toContain(urls[0]!);
  for (const page of pages) expect((await fetch(page)).status, page).toBe(200);
  again.child.kill('SIGINT');
  expect(await again.ended).toBe(0);
});

test('--setup begins with the setup page, and goes on with the tour', async () => {
  const { child, output, ended, until, printed } = start('--setup', '--port', '0', '--github-port', '0');
  await until('the setup page is named', () => /\/setup\n[^]*Enter this code/.test(output()));
  const [url] = /http:\S+\/setup/.exec(output())!;
  const [, code] = /Enter this code: +(\S+)/.exec(output())!;
  const visitor = new Visitor();
  const form = await visitor.submit(await visitor.get(url!), { code: code! });
  const review = await visitor.submit(form, { organization: 'acme' });
  const done = await visitor.submit(await visitor.submit(review), { as: 'ada' });
  const install = /href="([^"]+\/installations\/new)"/.exec(done.text)![1]!;
  expect(output()).not.toContain('To take the tour');
  await visitor.post(install, { account: 'acme' });
  const [, key] = /^admin key +(\S+)/m.exec(await printed())!;
  const enforcement = await fetch(new URL('/v1/repos/acme/web/enforcement', url), {
    headers: { Authorization: `Bearer ${key}` },
  });
  const { findings } = (await enforcement.json()) as { findings: { message: string }[] };
  expect(findings.map(({ message }) => message)).toContain(
    'main requires holdfast/freeze from this App, by branch protection.',
  );
  child.kill('SIGINT');
  expect(await ended).toBe(0);
  expect(await readdir(temporary)).toEqual([]);
});

test('a taken port is named, without a stack', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as { port: number };
  const { output, ended } = start('--port', String(port));
  const code = await ended;
  other.close();
  expect(code).toBe(1);
  expect(output()).toContain(`The demo could not start: port ${port} is taken.`);
  expect(output()).not.toContain('    at ');
  expect(await readdir(temporary)).toEqual([]);
});

test.each([
  ['makes the database', async () => (await readdir(temporary)).length > 0],
  ['lives through the past', async () => demo!.output().includes('Living through')],
])('SIGTERM while it %s ends it as well', async (what, isSo) => {
  const { child, output, ended, until } = start('--port', '0', '--github-port', '0');
  await until(what, isSo);
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
  expect(await readdir(temporary)).toEqual([]);
  expect(output()).not.toContain('Open in a browser');
  expect(output()).not.toContain('    at ');
});

test('its past really happened: on GitHub, in the log, and by its dates', async () => {
  const { printed } = start('--port', '0', '--github-port', '0');
  const text = await printed();
  const valueOf = (name: string) => new RegExp(`^${name} +(\\S+)`, 'm').exec(text)![1]!;
  const [url, github, key, token] = ['Holdfast', 'GitHub', 'admin key', "ada's token"].map(valueOf);
  const get = async (path: string, from = url, as = key) => {
    const response = await fetch(from + path, { headers: { Authorization: `Bearer ${as}` } });
    // eslint-disable-next-line @typescript-eslint/no-explicit-any -- bodies of every shape
    return (await response.json()) as any;
  };
  const events = async (repository: string): Promise<{ type: string; received_at: string }[]> =>
    (await get(`/v1/repos/acme/${repository}/logs?per_page=100&received_from=${begin}`)).events;
  const begin = new Date(Date.now() - 15 * 86_400_000).toISOString();
  const daysAgo = ({ received_at }: { received_at: string }) =>
    (Date.now() - Date.parse(received_at)) / 86_400_000;

  const api = await events('api');
  expect(Math.max(...api.map(daysAgo))).toBeGreaterThan(12);
  const used = api.find(({ type }) => type === 'exemption.used')!;
  const { merged_at, merged } = await get('/repos/acme/api/pulls/3', github, token);
  expect(merged).toBe(true);
  // The job that saw the merge ran at the instant of the merge.
  expect(Math.abs(Date.parse(merged_at) - Date.parse(used.received_at))).toBeLessThan(60_000);
  const types = async (repository: string) => (await events(repository)).map(({ type }) => type);
  expect(await types('infra')).toContain('freeze.bypassed');
  expect(await types('billing')).toEqual(
    expect.arrayContaining(['exemption.requested', 'repository_settings.update']),
  );

  const { freeze_plans } = await get('/v1/freeze_plans/acme');
  const names = freeze_plans.map(({ name }: { name: string }) => name).toSorted();
  expect(names).toEqual(['Checkout moves to another region', 'Release train', 'Year end']);
  const { exemptions } = await get('/v1/repos/acme/api/exemptions?state=requested');
  expect(exemptions).toMatchObject([{ pull_request: 4, requested_by: { name: 'bob' } }]);
  expect((await get('/repos/acme/api/pulls/4', github, token)).mergeable_state).toBe('blocked');
  expect((await get('/repos/acme/infra/pulls/2', github, token)).mergeable_state).not.toBe('blocked');
  expect((await get('/v1/repos/acme/infra/freeze_state')).enforced).toBe('no');
  const { enforced, frozen } = await get('/v1/repos/acme/api/freeze_state');
  expect([enforced, frozen]).toEqual(['yes', true]);
});
