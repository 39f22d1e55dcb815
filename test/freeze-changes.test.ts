import { describe, expect, test } from 'vitest';
import { free, heldUntilRemoved, acmeForAll } from './support/acme.ts';

const acme = acmeForAll();

describe('an update', () => {
  test('that widens or narrows the conditions moves exactly the difference', async () => {
    const web = await acme.repository('web', [{ labels: ['a'] }, { labels: ['b'] }, {}]);
    const { id } = await acme.freeze(web, { matching_conditions: ['label=a'] });
    expect(acme.frozen(web)).toEqual([1]);
    await acme.update(web, id, { matching_conditions: [{ or: ['label=a', 'label=b'] }] });
    expect(acme.frozen(web)).toEqual([1, 2]);
    await acme.update(web, id, { matching_conditions: ['label=b'] });
    expect(acme.frozen(web)).toEqual([2]);
    await acme.update(web, id, { matching_conditions: [] });
    expect(acme.frozen(web)).toEqual([1, 2, 3]);
    await acme.update(web, id, { exclude_conditions: ['label=a'] });
    expect(acme.frozen(web)).toEqual([2, 3]);
    await acme.update(web, id, { exclude_conditions: [] });
    expect(acme.frozen(web)).toEqual([1, 2, 3]);
    expect(acme.posts(web)).toEqual({ 1: 6, 2: 2, 3: 2 });
  });

  test('of the reason or the end changes the text, and nothing else', async () => {
    const api = await acme.repository('api', [{}]);
    const { id } = await acme.freeze(api, { end: '2026-03-01T20:00:00' });
    expect(acme.shown(api, 1)?.description).toBe('Frozen until 2026-03-01 20:00 UTC: Release');
    await acme.update(api, id, { reason: 'Audit' });
    expect(acme.shown(api, 1)?.description).toBe('Frozen until 2026-03-01 20:00 UTC: Audit');
    await acme.update(api, id, { end: null });
    expect(acme.shown(api, 1)?.description).toBe('Frozen until removed: Audit');
    await acme.update(api, id, { reason: 'Audit' });
    expect(acme.posts(api)).toEqual({ 1: 4 });
    await acme.remove(api, id);
  });

  test('that moves the end is what the clock then follows, not the old end', async () => {
    const site = await acme.repository('site', [{}]);
    const { id } = await acme.freeze(site, { end: '2026-03-01T12:00:00' });
    await acme.update(site, id, { end: '2026-03-01T14:00:00' });
    await acme.advanceTo('2026-03-01T12:00:00Z');
    expect(acme.frozen(site)).toEqual([1]);
    await acme.update(site, id, { end: '2026-03-01T13:00:00' });
    await acme.advanceTo('2026-03-01T13:00:00Z');
    expect(acme.shown(site, 1)).toEqual(free);
  });

  test('that moves a start away ignores the old start; one to now begins at once', async () => {
    const app = await acme.repository('app', [{}]);
    const { id } = await acme.freeze(app, { start: '2026-03-01T15:00:00' });
    await acme.update(app, id, { start: '2026-03-01T16:00:00' });
    await acme.advanceTo('2026-03-01T15:00:00Z');
    expect(acme.frozen(app)).toEqual([]);
    await acme.update(app, id, { start: null });
    expect(acme.shown(app, 1)).toEqual(heldUntilRemoved);
    expect(acme.posts(app)).toEqual({ 1: 2 });
  });

  test('that sets the end to the past frees the pull requests', async () => {
    const lib = await acme.repository('lib', [{}]);
    const { id } = await acme.freeze(lib, { start: '2026-02-01T00:00:00' });
    expect(acme.frozen(lib)).toEqual([1]);
    await acme.update(lib, id, { end: '2026-02-02T00:00:00' });
    expect(acme.frozen(lib)).toEqual([]);
  });
});

describe('a deletion', () => {
  test('of an ongoing freeze ends it, of a scheduled one prevents it', async () => {
    const ops = await acme.repository('ops', [{}]);
    const ongoing = await acme.freeze(ops);
    const scheduled = await acme.freeze(ops, { start: '2026-03-01T18:00:00' });
    await acme.remove(ops, ongoing.id);
    expect(acme.frozen(ops)).toEqual([]);
    await acme.remove(ops, scheduled.id);
    await acme.advanceTo('2026-03-01T18:00:00Z');
    expect(acme.posts(ops)).toEqual({ 1: 3 });
  });

  test('of one repository’s freeze leaves the others alone', async () => {
    const one = await acme.repository('one', [{}]);
    const two = await acme.repository('two', [{}]);
    const { id } = await acme.freeze(one);
    await acme.freeze(two);
    await acme.remove(one, id);
    expect([acme.frozen(one), acme.frozen(two)]).toEqual([[], [1]]);
  });
});

describe('several freezes', () => {
  test('hold the union; an exclude acts only in its own freeze', async () => {
    const core = await acme.repository('core', [
      { labels: ['risky'] },
      { labels: ['risky', 'hotfix'] },
      { base: 'release', labels: ['hotfix'] },
      {},
    ]);
    const risky = { matching_conditions: ['label=risky'], exclude_conditions: ['label=hotfix'] };
    const first = await acme.freeze(core, risky);
    expect(acme.frozen(core)).toEqual([1]);
    const release = { reason: 'Branch', matching_conditions: [{ or: ['base=release', 'label=hotfix'] }] };
    const second = await acme.freeze(core, release);
    expect(acme.frozen(core)).toEqual([1, 2, 3]);
    await acme.remove(core, first.id);
    expect(acme.frozen(core)).toEqual([2, 3]);
    await acme.remove(core, second.id);
    expect(acme.frozen(core)).toEqual([]);
    expect(acme.posts(core)).toEqual({ 1: 3, 2: 3, 3: 3, 4: 1 });
  });

  test('name the one that ends last, and how many more there are', async () => {
    const docs = await acme.repository('docs', [{}]);
    await acme.freeze(docs, { reason: 'Short', end: '2026-03-02T01:00:00' });
    const long = await acme.freeze(docs, { reason: 'Long', end: '2026-03-02T02:00:00' });
    expect(acme.shown(docs, 1)?.description).toBe('Frozen until 2026-03-02 02:00 UTC (+1 more): Long');
    await acme.remove(docs, long.id);
    expect(acme.shown(docs, 1)?.description).toBe('Frozen until 2026-03-02 01:00 UTC: Short');
    await acme.advanceTo('2026-03-02T01:00:00Z');
    expect(acme.frozen(docs)).toEqual([]);
  });

  test('that touch at one instant never free in between', async () => {
    const edge = await acme.repository('edge', [{}]);
    await acme.freeze(edge, { end: '2026-03-02T05:00:00' });
    await acme.freeze(edge, { reason: 'Next', start: '2026-03-02T05:00:00', end: '2026-03-02T06:00:00' });
    await acme.advanceTo('2026-03-02T05:00:00Z');
    await acme.advanceTo('2026-03-02T06:00:00Z');
    const { headSha } = acme.github.pullRequest(edge, 1);
    const states = acme.github.statusHistory(edge, headSha).map(({ state }) => state);
    expect(states).toEqual(['success', 'pending', 'pending', 'success']);
  });
});
