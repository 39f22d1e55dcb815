import { beforeAll, expect, test } from 'vitest';
import { acmeForAll } from '../support/acme.ts';

// Whether a repository is frozen, for pipelines.

const acme = acmeForAll();
let ci: string;
beforeAll(async () => {
  ci = await acme.key('acme', 'ci');
});

const ask = (repository: string, query: Record<string, string> = {}, headers: Record<string, string> = {}) =>
  acme.call('GET', `/v1/repos/${repository}/freeze_state?${new URLSearchParams(query)}`, { as: ci, headers });
const state = async (repository: string, query?: Record<string, string>) =>
  (await ask(repository, query)).body;
const open = { frozen: false, freezes: [], next_transition_at: null };

test('it is frozen while a freeze is on, at any instant that is asked about', async () => {
  const web = await acme.repository('web', [{}]);
  const now = '2026-03-01T09:00:00.000Z';
  expect(await state(web)).toEqual({ ...open, at: now, enforced: 'yes' });
  const window = { start: '2026-03-01T11:00:00', end: '2026-03-01T13:00:00', timezone: 'Europe/Paris' };
  const { id } = await acme.freeze(web, window);
  expect(await state(web)).toEqual({
    frozen: false,
    at: now,
    freezes: [],
    next_transition_at: '2026-03-01T10:00:00.000Z',
    enforced: 'yes',
  });
  const at = '2026-03-01T12:30:00+02:00';
  const during = await state(web, { at });
  expect(during).toEqual({
    frozen: true,
    at: '2026-03-01T10:30:00.000Z',
    freezes: [id],
    next_transition_at: '2026-03-01T12:00:00.000Z',
    enforced: 'yes',
  });

  // The past is answered from what was kept.
  await acme.advanceTo('2026-03-01T11:00:00Z');
  expect(await state(web)).toMatchObject({ frozen: true });
  await acme.remove(web, id);
  expect(await state(web)).toMatchObject(open);
  expect(await state(web, { at })).toMatchObject({
    frozen: true,
    freezes: [id],
    next_transition_at: '2026-03-01T11:00:00.000Z',
  });
  expect(await state(web, { at: '2026-03-01T11:30:00Z' })).toMatchObject(open);
});

test('a branch is asked about by itself', async () => {
  const lib = await acme.repository('lib', [{}], { protect: { main: ['holdfast/freeze'] } });
  acme.github.pushToBranch(lib, 'next');
  const { id } = await acme.freeze(lib, { matching_conditions: ['base=main', 'label=risky'] });
  await acme.freeze(lib, { holds: ['deployments'] });
  expect(await state(lib)).toMatchObject({ frozen: true, freezes: [id], enforced: 'yes' });
  expect(await state(lib, { base: 'main' })).toMatchObject({ frozen: true, freezes: [id], enforced: 'yes' });
  expect(await state(lib, { base: 'next' })).toMatchObject({ ...open, enforced: 'no' });
  expect(await state(lib, { base: 'gone' })).toMatchObject({ ...open, enforced: 'unknown' });
});

test('an environment is asked about by itself, and GitHub says whether it would wait', async () => {
  const shop = await acme.repository('shop', [{}]);
  const before = acme.github.app.permissions;
  acme.github.acceptPermissions('acme', { ...before, actions: 'read' });
  acme.github.addEnvironment(shop, 'production');
  acme.github.addEnvironment(shop, 'preview', { ours: false, others: ['sentry'] });
  const merges = await acme.freeze(shop, { holds: ['merges'] });
  const ofProduction = (query = {}) => state(shop, { environment: 'Production', ...query });
  expect(await ofProduction()).toMatchObject({ ...open, enforced: 'yes' });

  const end = '2026-03-01T18:00:00';
  const given = { holds: ['deployments'], environments: ['prod*'], end, matching_conditions: ['base=next'] };
  const { id } = await acme.freeze(shop, given);
  const first = await ask(shop, { environment: 'production' });
  expect(first.body).toMatchObject({
    frozen: true,
    freezes: [id],
    next_transition_at: '2026-03-01T18:00:00.000Z',
    enforced: 'yes',
  });
  const known = { 'If-None-Match': first.headers.get('etag')! };
  expect((await ask(shop, { environment: 'production' }, known)).status).toBe(304);
  expect(await state(shop, { environment: 'preview' })).toMatchObject({ ...open, enforced: 'no' });
  expect(await state(shop, { environment: 'prod-2' })).toMatchObject({ frozen: true, enforced: 'no' });
  expect(await state(shop)).toMatchObject({ freezes: [merges.id] });

  acme.github.goDown();
  expect(await state(shop, { environment: 'prod-3' })).toMatchObject({ frozen: true, enforced: 'unknown' });
  // What was asked a moment ago is not asked again.
  expect(await ofProduction()).toMatchObject({ enforced: 'yes' });
  acme.github.comeBack();
  await acme.setProducts(shop, []);
  expect(await ofProduction()).toMatchObject({ frozen: true, enforced: 'no' });
  acme.github.acceptPermissions('acme', before);
});

test('without permission to read environments, it is unknown', async () => {
  const vault = await acme.repository('vault', [{}]);
  acme.github.addEnvironment(vault, 'production');
  expect(await state(vault, { environment: 'production' })).toMatchObject({ ...open, enforced: 'unknown' });
});

test('what GitHub does not say is not known; without a product nothing is enforced', async () => {
  const api = await acme.repository('api', [{}]);
  acme.github.goDown();
  try {
    expect(await state(api)).toMatchObject({ frozen: false, enforced: 'unknown' });
  } finally {
    acme.github.comeBack();
  }
  await acme.advanceTo(new Date(acme.clock.now() + 61_000));
  expect(await state(api)).toMatchObject({ enforced: 'yes' });
  await acme.setProducts(api, []);
  expect(await state(api)).toMatchObject({ enforced: 'no' });
});

test('GitHub is asked about few branches in a minute, for any number of callers and branches', async () => {
  const many = await acme.repository('many', [{}]);
  const words = new Set<string>();
  for (let index = 0; index < 12; index++)
    words.add((await state(many, { base: 'main', at: at(index) })).enforced);
  expect([...words]).toEqual(['yes']);
  for (let index = 0; index < 9; index++) acme.github.pushToBranch(many, `b${index}`);
  for (let index = 0; index < 9; index++)
    expect(await state(many, { base: `b${index}` })).toMatchObject({ enforced: 'no' });
  expect(await state(many, { base: 'release' })).toMatchObject({ enforced: 'unknown' });
});

const at = (seconds: number) => new Date(acme.clock.now() + seconds * 1000).toISOString();

test('an answer that the caller has is 304, until it changes; `at` is not part of it', async () => {
  const docs = await acme.repository('docs', [{}]);
  const first = await ask(docs);
  const tag = first.headers.get('etag')!;
  expect(tag).toMatch(/^"[\w-]{20,}"$/);
  expect(first.headers.get('cache-control')).toBe('private, max-age=30');
  await acme.advanceTo(at(5));
  for (const known of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
    const again = await ask(docs, {}, { 'If-None-Match': known });
    expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', tag]);
    expect(again.headers.get('cache-control')).toBe('private, max-age=30');
  }
  expect((await ask(docs, {}, { 'If-None-Match': '"other"' })).status).toBe(200);

  await acme.freeze(docs, { start: at(12).slice(0, 19) });
  const coming = await ask(docs, {}, { 'If-None-Match': tag });
  expect([coming.status, coming.headers.get('cache-control')]).toEqual([200, 'private, max-age=12']);
  await acme.advanceTo(at(12));
  const begun = await ask(docs, {}, { 'If-None-Match': coming.headers.get('etag')! });
  expect([begun.status, begun.body.frozen]).toEqual([200, true]);
  expect(begun.headers.get('etag')).not.toBe(coming.headers.get('etag'));
});

test.each([
  { at: 'tomorrow' },
  { at: '2026-03-01T10:00:00' },
  { at: '2031-03-02T09:00:00Z' },
  { at: '2021-02-28T08:00:00Z' },
  { base: '' },
  { base: 'x'.repeat(256) },
  { environment: '' },
  { environment: 'x'.repeat(256) },
  { environment: 'production', base: 'main' },
])('%j is refused, and the answer names the place', async (query) => {
  const { status, body } = await ask('acme/web', query as unknown as Record<string, string>);
  expect([status, body.detail[0].loc]).toEqual([422, ['query', Object.keys(query)[0]]]);
});
