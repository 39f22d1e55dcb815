// The roads in docs/how-it-works.md, followed through the code: the lists stay true, or this fails.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Tx } from '../../src/database/database.ts';
import type { Deps } from '../../src/deps.ts';
import type { Freeze } from '../../src/freezes/freeze.ts';
import { requestReconcile } from '../../src/freezes/request-reconcile.ts';
import type { Job } from '../../src/database/queue/jobs.ts';
import { between, documentAt } from './documents.ts';

const page = documentAt('docs/how-it-works.md');
/** The files that a section lists. */
const filesOf = (heading: string): string[] =>
  [...between(page, heading, '\n## ').matchAll(/^\d+\. \[`(src\/[^`]+)`\]/gm)].map(([, file]) => file!);
const walk = filesOf('## A freeze begins and ends');
const all = globSync('src/**/*.ts', { exclude: ['src/generated/**'] });

const textOf = (file: string): string => (existsSync(file) ? readFileSync(file, 'utf8') : '');

/** What a file imports from others, by their paths, without mere types if only `values` count. */
function importsOf(file: string, values: boolean): Map<string, string> {
  const found = textOf(file).matchAll(/^import (type )?(\{[^}]*\}|[^'{]*) ?from '(\.[^']+)';/gm);
  const counted = [...found].filter(([, isType]) => !values || !isType);
  return new Map(counted.map(([, , names, path]) => [join(file, '..', path!), names!]));
}

const jobsIn = (file: string): string[] =>
  [...textOf(file).matchAll(/\bjobs\.(\w+)\(/g)].map(([, name]) => name!);

/** The files that carry jobs from who sends them to who handles them. */
const isCarrier = (file: string): boolean =>
  /^src\/(database\/queue\/|server\/(worker|tasks)\.ts$)/.test(file);

/** Whether a file defines the task of a job, and a carrier knows it. */
function isHandledIn(file: string, job: string, carrier: string): boolean {
  const tables = [carrier, ...importsOf(carrier, true).keys()].filter(isCarrier);
  const isKnown = tables.some((table) => importsOf(table, true).has(file));
  return isKnown && new RegExp(`defineTask\\(\\s*jobs\\.${job}\\b`).test(textOf(file));
}

/** How one gets to a file from those before it; null if nobody does. */
function hopTo(file: string, before: string[]): string | null {
  if (isCarrier(file)) {
    const carriers = before.filter(isCarrier);
    if (carriers.length === 0) return /^ {4}send: \(jobs/m.test(textOf(file)) ? 'is sent jobs' : null;
    const isTied = (other: string) => importsOf(file, false).has(other) || importsOf(other, false).has(file);
    return isTied(carriers.at(-1)!) ? 'passes jobs on' : null;
  }
  const callers = before.filter((each) => !isCarrier(each));
  if (callers.some((caller) => importsOf(caller, true).has(file))) return 'is called';
  const carrier = before.findLast(isCarrier);
  const job = callers.flatMap(jobsIn).find((name) => carrier && isHandledIn(file, name, carrier));
  return job ? `handles ${job}` : null;
}

test('at most twelve files begin and end a freeze, and each leads to the next', () => {
  expect(walk.length).toBeGreaterThan(6);
  expect(walk.length).toBeLessThanOrEqual(12);
  expect(walk.filter((file) => !existsSync(file))).toEqual([]);
  const lost = walk.filter((file, index) => index > 0 && hopTo(file, walk.slice(0, index)) === null);
  expect(lost).toEqual([]);
});

test('it begins at the route, and ends where the one call is that posts a status', () => {
  expect(textOf(walk[0]!)).toMatch(
    /method: 'post',\s+path: '\/repos\/\{owner\}\/\{repository\}\/scheduled_freeze'/,
  );
  expect(all.filter((file) => textOf(file).includes('.createCommitStatus('))).toEqual([walk.at(-1)]);
});

test('no file can be left out, but those that are called and lead no further', () => {
  const isWhole = (files: string[]) =>
    files.every((file, index) => index === 0 || hopTo(file, files.slice(0, index)) !== null);
  const steps = walk.slice(1, -1).filter((file) => !isCarrier(file));
  const ends = steps.filter((file) => isWhole(walk.filter((other) => other !== file)));
  expect(ends).toEqual(['src/statuses/observe.ts', 'src/statuses/judge.ts']);
});

test('the end of a freeze, and its deletion, go through the same files', async () => {
  const at = (hour: number) => new Date(Date.UTC(2026, 0, 1, hour));
  const sent: Job[] = [];
  const queue = { send: async (jobs: Job[]) => void sent.push(...jobs) } as Deps['queue'];
  const tx = { $executeRaw: async () => 1 } as unknown as Tx;
  const freeze = { repositoryId: 1n, startsAt: at(1), endsAt: at(2) } as Freeze;
  await requestReconcile({ queue }, tx, freeze, at(0));
  const reconciling = sent.filter(({ task }) => task === 'reconcile-repository');
  expect(reconciling.map(({ at }) => at)).toEqual([undefined, at(1), at(2)]);
  const requesting = all.filter((file) => importsOf(file, true).has('src/freezes/request-reconcile.ts'));
  expect(requesting).toContain('src/freezes/save-freeze.ts');
});

/** The other roads: how many files each may have, what its first one serves, and what its last one does. */
const roads = [
  {
    heading: '## A webhook becomes a status',
    most: 30,
    begins: /export async function receiveWebhook\(/,
    ends: /\.createCommitStatus\(/,
  },
  {
    heading: '## A command in Slack becomes a freeze',
    most: 24,
    begins: /`POST \/slack\/commands`/,
    ends: /export async function requestReconcile\(/,
  },
];

test.each(roads)('$heading in at most $most files, and each leads to the next', (road) => {
  const files = filesOf(road.heading);
  expect(new Set(files).size).toBe(files.length);
  expect(files.length).toBeGreaterThan(6);
  expect(files.length).toBeLessThanOrEqual(road.most);
  expect(files.filter((file) => !existsSync(file))).toEqual([]);
  expect(files.filter((file, index) => index > 0 && hopTo(file, files.slice(0, index)) === null)).toEqual([]);
  expect(textOf(files[0]!)).toMatch(road.begins);
  expect(textOf(files.at(-1)!)).toMatch(road.ends);
});

test('every file that the page names is there', () => {
  const named = [...page.matchAll(/`([\w/-]+\.ts)`/g)].map(([, name]) => name!);
  expect(named.length).toBeGreaterThan(40);
  expect(named.filter((name) => !all.some((file) => `/${file}`.endsWith(`/${name}`)))).toEqual([]);
});
