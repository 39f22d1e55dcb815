import { expect, test } from 'vitest';
import { acmeForAll } from './acme.ts';

const acme = acmeForAll();

const as = () => ({ as: acme.keys.admin });
const set = (repository: string, products: string[]) =>
  acme.call('PUT', `/v1/products/${repository}`, { ...as(), body: { products } });
const setDefaults = (products: string[]) =>
  acme.call('PUT', '/v1/default_products/acme', { ...as(), body: { products } });
const defaults = async () => (await acme.call('GET', '/v1/default_products/acme', as())).body;
const repositories = async () => (await acme.call('GET', '/v1/repos/acme', as())).body.repositories;
const enabled = async (name: string) =>
  (await repositories()).find((each: { name: string }) => each.name === name)?.enabled_products;

test('a new owner and its repositories start with the two that enforce freezes', async () => {
  expect(await defaults()).toEqual({ products: ['merge_protections', 'merge_queue'] });
  expect(await repositories()).toEqual(
    ['attic', 'vault', 'web'].map((name) => ({
      name,
      enabled_products: ['merge_protections', 'merge_queue'],
    })),
  );
});

test.each([
  [[], []],
  [['merge_queue'], ['merge_queue']],
  [
    ['merge_queue', 'merge_queue', 'ci_insights', 'merge_queue'],
    ['ci_insights', 'merge_queue'],
  ],
  [
    ['merge_queue', 'workflow_automation', 'merge_protections', 'ci_insights'],
    ['ci_insights', 'merge_protections', 'workflow_automation', 'merge_queue'],
  ],
])('setting %j enables %j', async (sent, stored) => {
  const answer = await set('acme/web', sent);
  expect([answer.status, answer.text]).toEqual([204, '']);
  expect(await enabled('web')).toEqual(stored);
  expect((await setDefaults(sent)).status).toBe(204);
  expect(await defaults()).toEqual({ products: stored });
});

test('setting the same value again is not an event', async () => {
  await set('acme/web', ['merge_queue']);
  const count = () => acme.app.deps.db.auditEvent.count();
  const before = await count();
  expect((await set('acme/web', ['merge_queue', 'merge_queue'])).status).toBe(204);
  expect(await count()).toBe(before);
});

test('many changes at once leave one of them, and a consistent log', async () => {
  await set('acme/web', []);
  const { db } = acme.app.deps;
  const { _max } = await db.auditEvent.aggregate({ _max: { id: true } });
  const choices = [['merge_queue'], ['ci_insights'], [], ['merge_queue', 'ci_insights']];
  const answers = await Promise.all([...choices, ...choices].map((products) => set('acme/web', products)));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 204));
  const events = await db.auditEvent.findMany({ where: { id: { gt: _max.id! } }, orderBy: { id: 'asc' } });
  const replayed = new Set<unknown>();
  for (const { type, metadata } of events) {
    const { product } = metadata as { product: string };
    expect(replayed.has(product)).toBe(type === 'product.disabled');
    if (type === 'product.enabled') replayed.add(product);
    else replayed.delete(product);
  }
  expect(new Set(await enabled('web'))).toEqual(replayed);
});

test('new repositories get the current defaults; others keep theirs', async () => {
  await set('acme/web', ['merge_queue']);
  await setDefaults(['ci_insights']);
  acme.github.addRepository('acme/fresh');
  await acme.quiet();
  await setDefaults(['workflow_automation']);
  await acme.quiet();
  expect(await enabled('fresh')).toEqual(['ci_insights']);
  expect(await enabled('web')).toEqual(['merge_queue']);
  expect(await enabled('vault')).toEqual(['merge_protections', 'merge_queue']);
});

test('repositories that the App lost are not listed, and keep their products for its return', async () => {
  await set('acme/fresh', ['merge_queue']);
  acme.github.removeFromInstallation('acme', ['fresh']);
  await acme.quiet();
  expect(await enabled('fresh')).toBeUndefined();
  expect((await set('acme/fresh', [])).status).toBe(404);
  acme.github.addToInstallation('acme', ['fresh']);
  await acme.quiet();
  expect(await enabled('fresh')).toEqual(['merge_queue']);
});

test('another owner has its own', async () => {
  const { body } = await acme.call('GET', '/v1/repos/globex', { as: acme.keys.foreignAdmin });
  expect(body.repositories.map(({ name }: { name: string }) => name)).toEqual(['site']);
});
