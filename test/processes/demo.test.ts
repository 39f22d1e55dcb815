import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Visitor } from '../support/first-run.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';

// The demo as its users meet it: a process of its own, whose printed lines are run by bash as they stand.

let temporary: string;
let demo: ChildProcess | null = null;
let output = '';

beforeEach(async () => {
  temporary = await mkdtemp(join(tmpdir(), 'holdfast-demo-test-'));
  output = '';
});
afterEach(async () => {
  if (demo?.exitCode === null) demo.kill('SIGKILL');
  await rm(temporary, { recursive: true, force: true });
});

/** Starts the demo with a temporary folder of the test's own, so that whatever it leaves behind is seen. */
function startDemo(...options: string[]): ChildProcess {
  demo = spawn(process.execPath, ['demo/demo.ts', ...options], {
    env: { ...process.env, TMPDIR: temporary },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [demo.stdout!, demo.stderr!]) stream.on('data', (chunk) => (output += String(chunk)));
  return demo;
}

async function until(what: string, isSo: () => boolean | Promise<boolean>, seconds = 180): Promise<void> {
  const deadline = Date.now() + seconds * 1000;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`Not within ${seconds} s: ${what}\n${output}`);
    await delay(50);
  }
}

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
  const process = startDemo('--port', '0', '--github-port', '0');
  await until('the tour is printed', () => output.includes('Ctrl-C ends it'));
  const commands = [...output.matchAll(/^# \d+\. .+\n(.+)$/gm)].map((match) => match[1]!);
  const [list, create, look, push, update, remove, lookAgain, logs] = commands;
  expect(commands).toHaveLength(8);
  const blocked = async (line: string) =>
    (await bash(line)).match(/^blocked .+$/gm)?.map((row) => row.match(/#\d+/)![0]) ?? [];
  const blockedBecome = async (line: string, numbers: string[]) =>
    until(
      `exactly ${numbers.join(', ') || 'none'} blocked`,
      async () => (await blocked(line)).join() === numbers.join(),
    );

  expect(await bash(list!)).toBe('{"scheduled_freezes":[]}');
  expect((await bash(look!)).split('\n')).toHaveLength(8);
  expect(await blocked(look!)).toEqual([]);

  const freeze = await bash(create!);
  expect(freeze).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/);
  const { scheduled_freezes } = JSON.parse(await bash(list!));
  expect(scheduled_freezes).toMatchObject([{ id: freeze, reason: 'Release 4.2', timezone: 'Europe/Paris' }]);
  await blockedBecome(look!, ['#2', '#3', '#6']);
  expect(output).toMatch(/ acme\/web #2 +pending +Frozen until .+ Europe\/Paris: Release 4\.2/);

  expect(await bash(push!)).toBe('204');
  const updated = JSON.parse(await bash(update!, freeze));
  expect(updated.end > scheduled_freezes[0].end).toBe(true);
  await blockedBecome(look!, ['#2', '#3', '#4', '#6']);

  expect(await bash(remove!, freeze)).toBe('204');
  await blockedBecome(lookAgain!, []);
  const types = JSON.parse(await bash(logs!)).events.map((event: { type: string }) => event.type);
  expect(types).toEqual(['scheduled_freeze.delete', 'scheduled_freeze.update', 'scheduled_freeze.create']);

  const urls = [...output.matchAll(/^(?:Holdfast|GitHub) +(http:\S+)/gm)].map((match) => match[1]!);
  expect(urls).toHaveLength(2);
  const { servers } = JSON.parse(await bash(`curl -s '${urls[0]}/v1/openapi.json'`));
  expect(servers).toEqual([{ url: `${urls[0]}/v1` }]);
  const [, ...pages] = /^Its pages +(\S+) and (\S+)$/m.exec(output)!;
  for (const page of pages) expect((await fetch(page)).status, page).toBe(200);
  const [, doctor] = /^Enforced\? +(.+)$/m.exec(output)!;
  expect(await bash(doctor!)).toContain('acme/web: Freezes are enforced.');
  expect(await readdir(temporary)).not.toEqual([]);
  process.kill('SIGINT');
  // npm passes on the Ctrl-C that the terminal has sent already.
  process.kill('SIGINT');
  expect(await once(process, 'exit')).toEqual([0, null]);
  expect(await readdir(temporary)).toEqual([]);
  for (const url of urls) await expect(fetch(url)).rejects.toThrow();
  expect(output).not.toContain('    at ');
});

test('--setup begins with the setup page, and goes on with the tour', async () => {
  const process = startDemo('--setup', '--port', '0', '--github-port', '0');
  await until('the setup page is named', () => /\/setup\n[^]*The code/.test(output));
  const [url] = /http:\S+\/setup/.exec(output)!;
  const [, code] = /The code that it asks for: +(\S+)/.exec(output)!;
  const visitor = new Visitor();
  const form = await visitor.submit(await visitor.get(url!), { code: code! });
  const review = await visitor.submit(form, { organization: 'acme' });
  const done = await visitor.submit(await visitor.submit(review), { as: 'ada' });
  const install = /href="([^"]+\/installations\/new)"/.exec(done.text)![1]!;
  expect(output).not.toContain('The tour:');
  await visitor.post(install, { account: 'acme' });
  await until('the tour is printed', () => output.includes('The tour:'));
  const [, key] = /^admin key +(\S+)/m.exec(output)!;
  const enforcement = await fetch(new URL('/v1/repos/acme/web/enforcement', url), {
    headers: { Authorization: `Bearer ${key}` },
  });
  const { findings } = (await enforcement.json()) as { findings: { message: string }[] };
  expect(findings.map(({ message }) => message)).toContain(
    'main requires holdfast/freeze from this App, by branch protection.',
  );
  process.kill('SIGINT');
  expect(await once(process, 'exit')).toEqual([0, null]);
  expect(await readdir(temporary)).toEqual([]);
});

test('a taken port is named, without a stack', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as { port: number };
  const [code] = await once(startDemo('--port', String(port)), 'exit');
  other.close();
  expect(code).toBe(1);
  expect(output).toContain(`The demo could not start: port ${port} is taken.`);
  expect(output).not.toContain('    at ');
  expect(await readdir(temporary)).toEqual([]);
});

test('SIGTERM while it starts ends it as well', async () => {
  const process = startDemo('--port', '0', '--github-port', '0');
  await until('the database is being made', async () => (await readdir(temporary)).length > 0);
  process.kill('SIGTERM');
  expect(await once(process, 'exit')).toEqual([0, null]);
  expect(await readdir(temporary)).toEqual([]);
});
