// The tasks of people on the command line, from the first command to the last: how many commands, and how long.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { acmeForAll } from '../support/acme.ts';

const bin = fileURLToPath(new URL('../../bin/holdfast.mjs', import.meta.url));
const six = ['web', 'api', 'app', 'site', 'docs', 'jobs'];

const acme = acmeForAll();
/** Homes of people, with their credentials: each command is one of somebody's. */
let ada: string;
let wes: string;
/** The service lives in the time of the processes, until this is aborted. */
const over = new AbortController();
let living: Promise<void>;
const homes = mkdtempSync(join(tmpdir(), 'holdfast-stories-'));
beforeAll(async () => {
  await acme.advanceTo(new Date());
  acme.github.addUser('wes');
  ada = acme.github.addToken('ada');
  wes = acme.github.addToken('wes');
  for (const name of six) await acme.repository(name, [{}, {}], { roles: { wes: 'write' } });
  living = live();
});
afterAll(async () => {
  over.abort();
  await living;
  rmSync(homes, { recursive: true });
});

async function live(): Promise<void> {
  while (!over.signal.aborted) {
    await acme.clock.tick(Math.max(0, Date.now() - acme.clock.now()));
    await delay(100);
  }
}

let commands = 0;
let begun = 0;
beforeEach(() => {
  commands = 0;
  begun = performance.now();
});

/** Runs a command as a process. @returns its output; it ends with 0, or this fails. */
async function holdfast(token: string, ...words: string[]): Promise<string> {
  commands++;
  const env = {
    PATH: process.env['PATH'],
    HOME: join(homes, token),
    TZ: 'Europe/Paris',
    HOLDFAST_URL: acme.app.url,
    HOLDFAST_TOKEN: token,
  };
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [bin, ...words], { env }, (error, out, err) =>
      error ? reject(new Error(`${words.join(' ')} ended with ${error.code}:\n${out}${err}`)) : resolve(out),
    );
  });
}

/** Asks GitHub to merge, as its button does. @returns what it answers. */
async function merge(repository: string, number: number): Promise<number> {
  const { status } = await fetch(`${acme.github.url}/repos/${repository}/pulls/${number}/merge`, {
    method: 'PUT',
    headers: { Authorization: `Bearer ${ada}` },
    body: '{}',
  });
  return status;
}

/** Statuses arrive beside the commands, which do not wait for them. */
const becomes = (state: 'blocked' | 'clean', repository: string, number: number) =>
  vi.waitFor(() => expect(acme.github.mergeable(repository, number)).toBe(state));

/** What it took goes into the report of the test. */
const took = (story: string, most: number) => {
  const seconds = (performance.now() - begun) / 1000;
  console.info(`${story}: ${commands} commands, ${seconds.toFixed(1)} s`);
  expect(commands).toBeLessThanOrEqual(most);
};

test('incident: six repositories are frozen and seen held, one fix is exempt, all are unfrozen', async () => {
  const places = six.map((name) => `acme/${name}`);
  const frozen = await holdfast(ada, 'freeze', ...places, '--for', '2h', '-m', 'INC-4711', '--wait');
  for (const place of places) expect(frozen).toContain(`${place}\theld\t2 of 2`);
  for (const place of places) expect(acme.github.mergeable(place, 1)).toBe('blocked');
  expect(await holdfast(ada, 'list', 'acme')).toContain('on\tacme (6)\t');
  await holdfast(ada, 'allow', 'acme/web#1', '-m', 'Fixes INC-4711');
  await becomes('clean', 'acme/web', 1);
  expect(await holdfast(ada, 'status', 'acme/web#1')).toContain('Free  acme/web#1');
  expect(acme.github.mergeable('acme/web', 2)).toBe('blocked');
  expect(await holdfast(ada, 'unfreeze', 'acme', '-m', 'Over')).toContain('Ended plan');
  for (const place of places) await becomes('clean', place, 2);
  took('incident', 5);
});

test('year end: planned after a preview, extended, and one pull request is exempt by two people', async () => {
  const plan = ['plans', 'create', 'acme', '--name', 'Year end', '-m', 'Books are closed', '--for', '9d'];
  expect(await holdfast(ada, ...plan, '--dry-run')).toContain('acme/web\t2\t0\tyes');
  expect(await holdfast(ada, 'list', 'acme')).toContain('No freeze is active or scheduled');
  const [, id = ''] = /^Plan (\S+): Year end/.exec(await holdfast(ada, ...plan)) ?? [];
  const before = await holdfast(ada, 'list', 'acme', '--json');
  await holdfast(ada, 'extend', id, '--for', '1d');
  const ends = (text: string) => Date.parse(JSON.parse(text).freezes[0].ends_at);
  const after = await holdfast(ada, 'list', 'acme', '--json');
  // A day by the wall clock.
  expect(Math.abs(ends(after) - ends(before) - 86_400_000)).toBeLessThanOrEqual(3_600_000);
  const asked = await holdfast(wes, 'allow', 'acme/web#2', '-m', 'The auditors wait');
  expect(asked).toContain('An admin or approver can approve it');
  await expect(holdfast(wes, 'requests', 'acme/web').then((text) => text.split('\t')[1])).resolves.toBe(
    'requested',
  );
  const request = (await holdfast(ada, 'requests', 'acme')).trimEnd().split('\t').at(-1)!;
  await expect(holdfast(wes, 'approve', request)).rejects.toThrow('ended with 1');
  for (const repository of ['acme/api', 'acme/web']) await becomes('blocked', repository, 2);
  await holdfast(ada, 'approve', request);
  await becomes('clean', 'acme/web', 2);
  expect(acme.github.mergeable('acme/api', 2)).toBe('blocked');
  await holdfast(ada, 'plans', 'delete', id, '-m', 'Books are open');
  await becomes('clean', 'acme/api', 2);
  took('year end', 12);
});

test('newcomer: GitHub refuses the merge while it is frozen, and accepts it after that', async () => {
  await holdfast(ada, 'login', acme.app.url);
  await holdfast(ada, 'freeze', 'acme/docs', '-m', 'Try it', '--wait');
  expect(await merge('acme/docs', 1)).toBe(405);
  await holdfast(ada, 'unfreeze', 'acme/docs', '-m', 'Tried');
  await becomes('clean', 'acme/docs', 1);
  expect(await merge('acme/docs', 1)).toBe(200);
  took('newcomer', 3);
});
