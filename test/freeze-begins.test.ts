import { expect, test } from 'vitest';
import { free, acmeForAll } from './support/acme.ts';

const acme = acmeForAll();

test('a freeze begins and ends by the clock, on exactly the matching pull requests', async () => {
  const { github, advanceTo, posts, shown } = acme;
  const web = await acme.repository('web', [{ labels: ['risky'] }, {}, { labels: ['risky', 'docs'] }]);
  expect(acme.frozen(web)).toEqual([]);
  expect(posts(web)).toEqual({ 1: 1, 2: 1, 3: 1 });

  await acme.freeze(web, {
    reason: 'Release 4.2',
    start: '2026-03-01T11:00:00',
    end: '2026-03-01T12:30:15',
    timezone: 'Europe/Paris',
    matching_conditions: ['label=risky'],
  });
  await advanceTo('2026-03-01T09:59:59.999Z');
  expect(acme.frozen(web)).toEqual([]);
  expect(github.mergeable(web, 1)).toBe('clean');

  await advanceTo('2026-03-01T10:00:00Z');
  expect(acme.frozen(web)).toEqual([1, 3]);
  const held = {
    state: 'pending',
    description: 'Frozen until 2026-03-01 12:30:15 Europe/Paris: Release 4.2',
  };
  expect([shown(web, 1), shown(web, 2), shown(web, 3)]).toEqual([held, free, held]);
  expect([1, 2, 3].map((number) => github.mergeable(web, number))).toEqual(['blocked', 'clean', 'blocked']);
  expect(github.merge(web, 1)).toMatchObject({ merged: false });

  await advanceTo('2026-03-01T11:30:14.999Z');
  expect(acme.frozen(web)).toEqual([1, 3]);
  await advanceTo('2026-03-01T11:30:15Z');
  expect(acme.frozen(web)).toEqual([]);
  expect([1, 2, 3].map((number) => github.mergeable(web, number))).toEqual(['clean', 'clean', 'clean']);
  expect(posts(web)).toEqual({ 1: 3, 2: 1, 3: 3 });

  await advanceTo('2026-03-01T12:30:00Z');
  expect(posts(web)).toEqual({ 1: 3, 2: 1, 3: 3 });
});

test('auto-merge waits through the freeze and goes on by itself', async () => {
  const site = await acme.repository('site', [{ labels: ['risky'] }]);
  const { id } = await acme.freeze(site);
  acme.github.enableAutoMerge(site, 1);
  await acme.quiet();
  expect(acme.frozen(site)).toEqual([1]);
  await acme.remove(site, id);
  expect(acme.github.pullRequest(site, 1).state).toBe('merged');
});

test('GitHub accepts the text for every reason', async () => {
  const docs = await acme.repository('docs', [{}]);
  const reason = `🚀 Release\r\n\tof 4.2 ${'and a long story '.repeat(20)}😀`;
  const { id } = await acme.freeze(docs, { reason });
  const { state, description } = acme.shown(docs, 1)!;
  expect(state).toBe('pending');
  expect(description).toMatch(/^Frozen until removed: Release of 4\.2 and a long story .+…$/);
  expect(description.length).toBeLessThanOrEqual(140);
  await acme.remove(docs, id);
  expect(acme.shown(docs, 1)).toEqual(free);
});

test('a freeze that begins at once, and one that began in the past, hold at once', async () => {
  const app = await acme.repository('app', [{}, { base: 'release' }]);
  const now = await acme.freeze(app, { matching_conditions: ['base=main'] });
  expect(acme.frozen(app)).toEqual([1]);
  await acme.freeze(app, { start: '2026-02-01T00:00:00', matching_conditions: ['base=release'] });
  expect(acme.frozen(app)).toEqual([1, 2]);
  await acme.remove(app, now.id);
  expect(acme.frozen(app)).toEqual([2]);
});

test('boundaries years apart all count', async () => {
  const old = await acme.repository('old', [{}]);
  await acme.freeze(old, { start: '2026-03-02T00:00:00', end: '2029-01-01T00:00:00' });
  await acme.advanceTo('2026-03-02T00:00:00Z');
  expect(acme.frozen(old)).toEqual([1]);
  await acme.advanceTo('2028-12-31T23:59:59Z');
  expect(acme.frozen(old)).toEqual([1]);
  await acme.advanceTo('2029-01-01T00:00:00Z');
  expect(acme.frozen(old)).toEqual([]);
});
