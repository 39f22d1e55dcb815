import { expect, test } from 'vitest';
import { free, heldUntilRemoved, acmeForAll } from './support/acme.ts';

const acme = acmeForAll();

test('disabling both products frees; pushes then get success; enabling one holds again', async () => {
  const { github, quiet, setProducts } = acme;
  const web = await acme.repository('web', [{}, {}]);
  await acme.freeze(web);
  expect((await setProducts(web, ['merge_queue'])).status).toBe(204);
  expect(acme.frozen(web)).toEqual([1, 2]);
  await setProducts(web, ['ci_insights']);
  expect([acme.shown(web, 1), acme.shown(web, 2)]).toEqual([free, free]);

  github.push(web, 1);
  github.openPullRequest(web, { author: 'bob' });
  await quiet();
  expect(acme.frozen(web)).toEqual([]);
  expect(github.mergeable(web, 1)).toBe('clean');

  const refused = await acme.call('POST', `/v1/repos/${web}/scheduled_freeze`, {
    as: acme.admin,
    body: { reason: 'No', start: null, timezone: 'UTC' },
  });
  expect([refused.status, refused.body.detail]).toEqual([
    409,
    expect.stringContaining('/v1/products/acme/web'),
  ]);

  await setProducts(web, ['merge_protections']);
  expect(acme.frozen(web)).toEqual([1, 2, 3]);
  expect(acme.shown(web, 3)).toEqual(heldUntilRemoved);
});

test('a freeze that ends while products are off leaves nothing pending when they come back', async () => {
  const api = await acme.repository('api', [{}]);
  await acme.freeze(api, { end: '2026-03-01T10:00:00' });
  await acme.setProducts(api, []);
  await acme.advanceTo('2026-03-01T10:00:00Z');
  await acme.setProducts(api, ['merge_queue']);
  expect(acme.frozen(api)).toEqual([]);
  expect(acme.posts(api)).toEqual({ 1: 3 });
});

test('a repository that starts with products off gets no status; new ones get the owner’s defaults', async () => {
  const setDefaults = (products: string[]) =>
    acme.call('PUT', '/v1/default_products/acme', { as: acme.admin, body: { products } });
  const answer = await setDefaults(['ci_insights']);
  expect(answer.status, answer.text).toBe(204);
  const quietOne = await acme.repository('quiet', [{}]);
  acme.github.push(quietOne, 1);
  acme.github.openPullRequest(quietOne, { author: 'bob' });
  await acme.quiet();
  expect(acme.posts(quietOne)).toEqual({ 1: 0, 2: 0 });

  await acme.setProducts(quietOne, ['merge_queue', 'ci_insights']);
  expect(acme.frozen(quietOne)).toEqual([]);
  expect(acme.posts(quietOne)).toEqual({ 1: 1, 2: 1 });
  expect((await setDefaults(['merge_protections', 'merge_queue'])).status).toBe(204);
  const loud = await acme.repository('loud', [{}]);
  expect(acme.posts(loud)).toEqual({ 1: 1 });
});
