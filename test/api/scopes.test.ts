import { describe, expect, test } from 'vitest';
import { acmeForAll } from './acme.ts';

const acme = acmeForAll();

const path = (number: number | string = 1) => `/v1/repos/acme/web/pulls/${number}/scopes`;
const stored = (number = 1) => acme.app.deps.db.pullRequestScopes.findFirst({ where: { number } });

describe.each(['PUT', 'POST'])('%s', (method) => {
  const push = (body: unknown, number: number | string = 1) =>
    acme.call(method, path(number), { as: acme.keys.ci, body });

  test('replaces the set, and answers without a body', async () => {
    expect((await push({ scopes: ['old', 'older'], all_scopes: true })).status).toBe(204);
    expect(await stored()).toMatchObject({ scopes: ['old', 'older'], allScopes: true });
    const answer = await push({ scopes: ['new'] });
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect(await stored()).toMatchObject({
      scopes: ['new'],
      allScopes: false,
      pushedBy: { type: 'application', name: 'ci key' },
    });
  });

  test('duplicates collapse, and order and case are kept', async () => {
    await push({ scopes: ['b', 'a', 'b', 'A', 'a', ' a'] });
    expect((await stored())!.scopes).toEqual(['b', 'a', 'A', ' a']);
  });

  test('a job that sends the same set again writes nothing', async () => {
    await push({ scopes: ['again'] });
    const written = await acme.watchWrites();
    await push({ scopes: ['again'] });
    expect(await written()).toEqual([]);
  });

  test('an empty set is a set', async () => {
    await push({ scopes: [] });
    expect((await stored())!.scopes).toEqual([]);
  });

  test('500 different ones are accepted, each any number of times', async () => {
    const scopes = Array.from({ length: 500 }, (_, index) => `scope-${index}`);
    expect((await push({ scopes: [...scopes, ...scopes] })).status).toBe(204);
    expect((await stored())!.scopes).toEqual(scopes);
    expect((await push({ scopes: [...scopes, 'one more'] })).status).toBe(422);
    expect((await stored())!.scopes).toEqual(scopes);
  });

  test.each(['x'.repeat(255), '🧊'.repeat(255), 'ü', '\n', '"', '{a,b}', 'NULL', '\\'])(
    'a scope can be %j',
    async (scope) => {
      expect((await push({ scopes: [scope] })).status).toBe(204);
      expect((await stored())!.scopes).toEqual([scope]);
    },
  );

  test('a pull request that does not exist at GitHub is 404, and nothing is stored', async () => {
    const written = await acme.watchWrites();
    const answer = await push({ scopes: ['a'] }, 404);
    expect(answer.status).toBe(404);
    expect(answer.body.detail).toBe('acme/web has no pull request 404.');
    expect(await written()).toEqual([]);
  });

  test.each(['502', 'reset'] as const)(
    'while GitHub is not reachable (%s), they are still stored',
    async (how) => {
      const number = method === 'PUT' ? 77 : 78;
      acme.github.goDown(how);
      const { status } = await push({ scopes: [how] }, number);
      acme.github.comeBack();
      expect(status).toBe(204);
      expect((await stored(number))!.scopes).toEqual([how]);
      await acme.quiet();
    },
  );

  test('a rate limit of GitHub does not lose them either', async () => {
    const fault = acme.github.faults.add({ match: { path: /pulls/ }, kind: 'secondary-limit' });
    expect((await push({ scopes: ['limited'] }, 79)).status).toBe(204);
    fault.remove();
    expect((await stored(79))!.scopes).toEqual(['limited']);
    await acme.quiet();
  });

  test('a closed pull request still counts', async () => {
    const { number } = acme.github.openPullRequest('acme/web', { author: 'ada' });
    acme.github.closePullRequest('acme/web', number);
    await acme.quiet();
    expect((await push({ scopes: ['late'] }, number)).status).toBe(204);
  });
});

test('only POST is deprecated, and names PUT', async () => {
  const call = (method: string) => acme.call(method, path(), { as: acme.keys.ci, body: { scopes: ['a'] } });
  const post = await call('POST');
  expect(post.headers.get('deprecation')).toMatch(/^@\d{10}$/);
  expect(post.headers.get('link')).toBe(`<${path()}>; rel="successor-version"`);
  const put = await call('PUT');
  expect([put.headers.get('deprecation'), put.headers.get('link')]).toEqual([null, null]);
});

test('pushes at once leave one of the sets whole', async () => {
  const sets = Array.from({ length: 8 }, (_, index) => [`${index}a`, `${index}b`]);
  const answers = await Promise.all(
    sets.map((scopes) => acme.call('PUT', path(), { as: acme.keys.ci, body: { scopes } })),
  );
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 204));
  expect(sets).toContainEqual((await stored())!.scopes);
});
