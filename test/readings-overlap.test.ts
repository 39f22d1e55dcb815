// Cases with several things at once, or with partial answers of GitHub.
import { afterEach, expect, test } from 'vitest';
import { heldUntilRemoved, acmeForAll } from './support/acme.ts';

const acme = acmeForAll();
afterEach(() => acme.github.faults.clear());

const pass = (seconds: number) => acme.advanceTo(new Date(acme.clock.now() + seconds * 1000));
const isReading = ({ path, operationName }: { path: string; operationName?: string }) =>
  path === '/graphql' && operationName === 'PullRequest';

test('two pull requests come to one head at the same moment: the strictest still wins', async () => {
  const { github } = acme;
  const web = await acme.repository('web');
  await acme.freeze(web, { matching_conditions: ['base=release'] });
  // Both observations are under way before either saves.
  github.faults.add({ kind: 'delay', ms: 150, match: isReading });
  const first = github.openPullRequest(web, { author: 'ada', base: 'release', head: 'fix' });
  github.openPullRequest(web, { author: 'ada', base: 'main', head: 'fix', headSha: first.headSha });
  await acme.quiet();
  expect(acme.frozen(web)).toEqual([1, 2]);
});

test('an author that GitHub did not give is not a deleted account', async () => {
  const { github } = acme;
  const api = await acme.repository('api', [{ author: 'ada' }]);
  const freeze = await acme.freeze(api, { matching_conditions: ['author=ada'] });
  expect(acme.frozen(api)).toEqual([1]);
  github.faults.add({ kind: 'partial', field: 'author', pullRequests: ['acme/api#1'] });
  await acme.update(api, freeze.id, { reason: 'Another' });
  github.label(api, 1, 'wakes');
  await acme.quiet();
  expect(acme.frozen(api)).toEqual([1]);
  github.faults.clear();
  await pass(120);
  expect(acme.shown(api, 1)?.description).toBe('Frozen until removed: Another');
});

test('products switched off while the first statuses wait leave nothing pending', async () => {
  const { github } = acme;
  const posting = { method: 'POST', path: /\/statuses\// };
  github.faults.add({ kind: 'status', status: 502, match: posting });
  const app = await acme.repository('app', [{}]);
  await acme.freeze(app);
  await acme.setProducts(app, []);
  github.faults.clear();
  await pass(120);
  await pass(120);
  expect(acme.frozen(app)).toEqual([]);
});

test('a refusal for a while does not lose the repository', async () => {
  const { github, app } = acme;
  const lib = await acme.repository('lib', [{}]);
  github.faults.add({ kind: 'status', status: 403, match: { method: 'GET', path: /^\/repositories\// } });
  github.archive(lib);
  github.unarchive(lib);
  await acme.quiet();
  const stored = await app.deps.db.repository.findFirstOrThrow({ where: { nameKey: 'lib' } });
  expect(stored.installationId).not.toBeNull();
  github.faults.clear();
  await pass(120);
  await acme.freeze(lib);
  expect(acme.shown(lib, 1)).toEqual(heldUntilRemoved);
});

test('an outage does not pile up jobs: one waits for each thing', async () => {
  const { github, app } = acme;
  const site = await acme.repository('site', [{}, {}]);
  github.goDown();
  for (let round = 0; round < 5; round++) {
    for (const number of [1, 2]) github.label(site, number, `round-${round}`);
    await pass(90);
  }
  const waiting = await app.deps.db.$queryRaw<{ count: bigint }[]>`
    SELECT count(*) FROM jobs WHERE task = 'reconcile-pull-request' AND NOT is_taken`;
  expect(Number(waiting[0]!.count)).toBe(2);
  github.comeBack();
  await pass(120);
});

test('the keys of a former owner do not work after somebody else takes the login', async () => {
  const { app, github, call, admin } = acme;
  const { db } = app.deps;
  const seenAt = new Date(acme.clock.now() + 1);
  await db.account.create({
    data: { id: 77n, login: 'ACME', loginKey: 'acme', type: 'Organization', seenAt },
  });
  await db.installation.create({ data: { id: 77n, accountId: 77n, permissions: {} } });
  for (const path of ['/v1/applications/acme', '/v1/default_products/acme', '/v1/repos/acme']) {
    expect((await call('GET', path, { as: admin })).status, path).toBe(403);
  }
  await db.installation.delete({ where: { id: 77n } });
  await db.account.delete({ where: { id: 77n } });
  expect((await call('GET', '/v1/repos/acme', { as: admin })).status).toBe(200);
  github.assertNoUnknownRoutes();
});

test('a freeze that is not there is 404 before its body is looked at', async () => {
  const path = '/v1/repos/acme/web/scheduled_freeze/6f1c2f0a-5c1b-4a52-9d0e-0c8a1c1d2e3f';
  for (const [method, at] of [
    ['PATCH', path],
    ['DELETE', path],
    ['POST', `${path}/delete`],
  ] as const) {
    expect((await acme.call(method, at, { as: acme.admin, body: 'not JSON' })).status, method).toBe(404);
  }
});
