import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/github.ts';
import { freePort } from '../support/free-port.ts';
import { Visitor } from '../support/first-run.ts';
import { type ServiceProcess, startProcess } from '../support/process.ts';

// `npm start` in an empty folder, the setup page, kill -9, and `npm start` again.

let github: Sandbox;
let folder: string;
let port: number;
const started: ServiceProcess[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-first-run-'));
  github = await startSandbox({ app: null });
  github.addUser('ada');
  port = await freePort();
});
afterAll(async () => {
  for (const { child } of started) child.kill('SIGKILL');
  await Promise.all(started.map(({ ended }) => ended));
  await github.close();
  await rm(folder, { recursive: true, force: true });
  github.assertNoUnknownRoutes();
});

function start(dataDir: string, more: Record<string, string> = {}): ServiceProcess {
  const environment = { PORT: String(port), HOST: '127.0.0.1', GITHUB_API_URL: github.url, ...more };
  const service = startProcess({ ...environment, DATA_DIR: join(folder, dataDir) }, folder);
  started.push(service);
  return service;
}
async function kill({ child, ended }: ServiceProcess): Promise<void> {
  child.kill('SIGKILL');
  await ended;
}
const ready = async (url: string) => (await fetch(`${url}/readyz`)).status;

/** The setup page, after the code of the log. */
async function open(visitor: Visitor, url: string, service: ServiceProcess) {
  const code = [...service.output().matchAll(/"code":"([^"]+)"/g)].at(-1)![1]!;
  return visitor.submit(await visitor.get(`${url}/setup`), { code });
}

async function setUp(url: string, service: ServiceProcess, wishes: Record<string, string>): Promise<void> {
  const visitor = new Visitor();
  const review = await visitor.submit(await open(visitor, url, service), { owner: 'person', ...wishes });
  const done = await visitor.submit(await visitor.submit(review), { as: 'ada' });
  expect(done.text).toContain('is connected');
}

test('saved in the database: after a kill and a restart it is configured, and a wrong SECRET_KEY is named', async () => {
  const first = start('data');
  const url = await first.listening;
  const code = /"code":"([^"]+)"/.exec(first.output())?.[1];
  expect(code).toMatch(/^[A-Z2-9-]{19}$/);
  expect(await ready(url)).toBe(503);
  await setUp(url, first, { name: 'In the database' });
  expect(await ready(url)).toBe(200);
  expect((await stat(join(folder, 'data', 'secret-key'))).mode & 0o777).toBe(0o600);
  for (const secret of [github.app.webhookSecret, github.app.clientSecret!, 'PRIVATE KEY'])
    expect(first.output()).not.toContain(secret);
  await kill(first);

  const wrong = start('data', { SECRET_KEY: 'another key of at least 32 characters' });
  expect(await wrong.ended).toBe(1);
  expect(wrong.output()).toContain('SECRET_KEY is not the one');
  expect(wrong.output()).not.toContain('    at ');

  const second = start('data');
  expect(await ready(await second.listening)).toBe(200);
  expect((await fetch(`${url}/setup`)).status).toBe(404);
  expect(second.output()).not.toContain('"code"');
  await kill(second);
});

test('of two that save to .env at once, one wins, and the other does not report success', async () => {
  const service = start('contested-data', { PORT: String(await freePort()) });
  const url = await service.listening;
  const ready: { visitor: Visitor; create: Awaited<ReturnType<Visitor['get']>> }[] = [];
  for (const name of ['One', 'Two']) {
    const visitor = new Visitor();
    const wishes = { owner: 'person', name, place: 'env' };
    const review = await visitor.submit(await open(visitor, url, service), wishes);
    ready.push({ visitor, create: await visitor.submit(review) });
  }
  const ends = ready.map(({ visitor, create }) => visitor.submit(create, { as: 'ada' }));
  const pages = (await Promise.all(ends)).map(({ text }) => text);
  expect(pages.filter((text) => text.includes('is connected'))).toHaveLength(1);
  const file = await readFile(join(folder, '.env'), 'utf8');
  expect(file.match(/^APP_ID=/gm)).toHaveLength(1);
  await kill(service);
  await rm(join(folder, '.env'));
});

test('saved in .env: after a kill and a restart it is configured', async () => {
  const first = start('other-data');
  const url = await first.listening;
  await setUp(url, first, { name: 'In a file', place: 'env' });
  expect(await ready(url)).toBe(200);
  const path = join(folder, '.env');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readFile(path, 'utf8')).toContain(`APP_ID="${github.app.id}"`);
  await kill(first);

  const second = start('other-data');
  expect(await ready(await second.listening)).toBe(200);
  await kill(second);
});
