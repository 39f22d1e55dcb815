import { expect, test } from 'vitest';
import { acmeForAll } from './support/acme.ts';
import { queuedIn } from './support/queued.ts';
import { Visitor } from './support/visitor.ts';

// The "Details" link of each status.

const acme = acmeForAll();

const target = (repository: string, numberOrSha: number | string) =>
  acme.github.currentStatus(repository, numberOrSha)?.targetUrl;
const pageOf = (repository: string, number: number) =>
  `https://holdfast.example/repos/${repository}/pulls/${number}`;

test('a free and a held pull request each to its own page', async () => {
  const repository = await acme.repository('web', [{}, {}]);
  expect([target(repository, 1), target(repository, 2)]).toEqual([
    pageOf(repository, 1),
    pageOf(repository, 2),
  ]);
  await acme.freeze(repository);
  expect([target(repository, 1), target(repository, 2)]).toEqual([
    pageOf(repository, 1),
    pageOf(repository, 2),
  ]);
  const seen = await new Visitor(acme).open(target(repository, 2)!);
  expect([seen.status, seen.text]).toEqual([200, expect.stringContaining('Blocked')]);
});

test('of several with one head to the lowest that is held, and to the lowest when none is', async () => {
  const repository = await acme.repository('shared', [{ head: 'fix' }]);
  const { headSha } = acme.github.pullRequests(repository)[0]!;
  for (const base of ['release', 'release-2'])
    acme.github.openPullRequest(repository, { author: 'ada', head: 'fix', headSha, base });
  await acme.quiet();
  expect(target(repository, headSha)).toBe(pageOf(repository, 1));
  const { id } = await acme.freeze(repository, { matching_conditions: ['base~=^release'] });
  expect(target(repository, headSha)).toBe(pageOf(repository, 2));
  await acme.remove(repository, id);
  expect(target(repository, headSha)).toBe(pageOf(repository, 1));
});

test('a page that changes alone writes nothing', async () => {
  const repository = await acme.repository('renamed', [{}]);
  await acme.freeze(repository);
  const before = acme.posts(repository)[1];
  acme.github.renameRepository(repository, 'new-name');
  await acme.quiet();
  await acme.advanceTo(new Date(acme.clock.now() + 2 * 3_600_000));
  expect(acme.posts('acme/new-name')[1]).toBe(before);
  expect(target('acme/new-name', 1)).toBe(pageOf(repository, 1));
  await acme.freeze('acme/new-name', { reason: 'Another', end: '2030-01-01T00:00:00' });
  expect(target('acme/new-name', 1)).toBe(pageOf('acme/new-name', 1));
});

test('a merge group to the page of what it merges', async () => {
  const repository = await queuedIn(acme, 'queued', [{}, { labels: ['risky'] }]);
  const visitor = new Visitor(acme);
  const words = async (url: string) =>
    (await visitor.open(url)).text.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ');
  const group = acme.github.mergeGroups(repository).find(({ pullRequests }) => pullRequests.at(-1) === 2)!;
  // A group that may merge is gone the next moment, and its head is the branch's: the pull request's page stays.
  expect(target(repository, group.headSha)).toBe(pageOf(repository, 2));
  const url = `https://holdfast.example/repos/${repository}/merge-groups/${group.headSha}`;
  expect(await words(url)).toContain('Free No freeze holds this merge group.');
  expect(await words(url)).toContain('#1 is free #2 is free');
  const end = new Date(acme.clock.now() + 10 * 60_000).toISOString().slice(0, 19);
  await acme.freeze(repository, { reason: 'Short <b>', end, matching_conditions: ['label=risky'] });
  expect(target(repository, group.headSha)).toBe(url);
  const held = await words(url);
  expect(held).toContain('#2 is frozen until');
  expect(held).toContain('The group keeps its place');
  expect(held).toContain('#1 is free #2 is frozen by Short &lt;b&gt;');
  expect(held).toMatch(/UTC (\([^)]*\) )?pending #2 is frozen/);
  acme.github.dequeue(repository, 2);
  await acme.quiet();
  expect((await visitor.open(url)).status).toBe(404);
});

test('a merge group that fails to the page of its pull request, which says why', async () => {
  const repository = await queuedIn(acme, 'put-out', [{}, { labels: ['risky'] }, {}]);
  const group = acme.github.mergeGroups(repository).find(({ pullRequests }) => pullRequests.at(-1) === 2)!;
  await acme.freeze(repository, { matching_conditions: ['label=risky'] });
  expect(target(repository, group.headSha)).toBe(pageOf(repository, 2));
  const { status, text } = await new Visitor(acme).open(pageOf(repository, 2));
  expect(status).toBe(200);
  expect(text).toContain('>Blocked<');
});
