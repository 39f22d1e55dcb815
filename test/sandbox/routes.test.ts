import { beforeAll, describe, expect, test } from 'vitest';
import { acmeForAll, acme, call, installationToken } from './acme.ts';

const world = acmeForAll();
let app: string;
beforeAll(async () => {
  app = await installationToken(world.github, world.installationId);
});

test('an unknown route is 501, kept, and fails the test', async () => {
  const { github } = await acme();
  expect(() => github.assertNoUnknownRoutes()).not.toThrow();
  const answer = await call(github, null, 'GET', '/repos/acme/web/nonsense?x=1');
  expect(answer).toMatchObject({ status: 501, body: { message: /does not know GET/ } });
  expect(github.unknownRoutes).toEqual(['GET /repos/acme/web/nonsense']);
  expect(() => github.assertNoUnknownRoutes()).toThrow('GET /repos/acme/web/nonsense');
  await github.close();
});

test('a former name redirects: 301 for reading, 307 for writing, and not for people who cannot see it', async () => {
  const { github } = await acme();
  const { token } = github.addUser('zoe');
  const { id } = github.repository('acme/web');
  github.renameRepository('acme/web', 'site');
  const read = await call(github, token, 'GET', '/repos/acme/web/pulls?state=all');
  expect(read.status).toBe(301);
  expect(read.headers.get('location')).toBe(`${github.url}/repositories/${id}/pulls?state=all`);
  const written = await call(github, token, 'POST', '/repos/acme/web/statuses/abc', { state: 'success' });
  expect(written.status).toBe(307);
  expect(written.headers.get('location')).toBe(`${github.url}/repositories/${id}/statuses/abc`);
  expect((await call(github, token, 'GET', `/repositories/${id}`)).body.full_name).toBe('acme/site');
  github.privatize('acme/site');
  expect((await call(github, token, 'GET', '/repos/acme/web')).status).toBe(404);
  github.addRepository('acme/web');
  expect((await call(github, token, 'GET', '/repos/acme/web')).body.id).not.toBe(id);
  await github.close();
});

test('paths of GitHub Enterprise are served too', async () => {
  expect((await call(world.github, app, 'GET', '/api/v3/repos/acme/web')).body.full_name).toBe('acme/web');
  const query = '{ repository(owner: "acme", name: "web") { name } }';
  const answer = await call(world.github, app, 'POST', '/api/graphql', { query });
  expect(answer.body.data.repository.name).toBe('web');
});

test('who moved a branch is in its activities, newest first', async () => {
  const { github, bob, eve } = world;
  const { number, headSha } = github.openPullRequest('acme/web', { author: 'bob', head: 'seen/by' });
  const after = github.push('acme/web', number, { by: 'eve' });
  const { body } = await call(github, app, 'GET', '/repos/acme/web/activity?ref=refs/heads/seen/by');
  expect(body).toMatchObject([
    { activity_type: 'push', before: headSha, after, ref: 'refs/heads/seen/by', actor: { login: eve.login } },
    { activity_type: 'branch_creation', before: '0'.repeat(40), after: headSha, actor: { login: bob.login } },
  ]);
  const last = await call(github, app, 'GET', '/repos/acme/web/activity?ref=seen/by&per_page=1');
  expect(last.body).toEqual([body[0]]);
});

describe('a pull request driven with curl', () => {
  test('is opened, edited, labeled and merged', async () => {
    const { github, bob } = world;
    const pulls = '/repos/acme/web/pulls';
    const opened = await call(github, bob.token, 'POST', pulls, {
      title: 'New',
      head: 'topic',
      base: 'main',
    });
    expect(opened).toMatchObject({ status: 201, body: { title: 'New', head: { ref: 'topic' } } });
    const { number } = opened.body;
    await call(github, bob.token, 'PATCH', `${pulls}/${number}`, { title: 'Newer', base: 'release' });
    expect(github.pullRequest('acme/web', number)).toMatchObject({ title: 'Newer', base: 'release' });
    const labels = `/repos/acme/web/issues/${number}/labels`;
    await call(github, bob.token, 'POST', labels, { labels: ['risky', 'a b'] });
    expect((await call(github, bob.token, 'DELETE', `${labels}/a%20b`)).body).toMatchObject([
      { name: 'risky' },
    ]);
    expect((await call(github, bob.token, 'DELETE', `${labels}/a%20b`)).status).toBe(404);
    expect((await call(github, bob.token, 'PUT', `${pulls}/${number}/merge`)).body.merged).toBe(true);
  });

  test('is not, by somebody who can only read', async () => {
    const { github, eve } = world;
    const { number } = github.openPullRequest('acme/web', { author: 'bob' });
    const path = `/repos/acme/web/issues/${number}/labels`;
    expect((await call(github, eve.token, 'POST', path, { labels: ['x'] })).status).toBe(403);
    expect((await call(github, eve.token, 'PUT', `/repos/acme/web/pulls/${number}/merge`)).status).toBe(403);
  });

  test('is not found by a number that GitHub could not hold', async () => {
    for (const number of ['0', '99999', '9223372036854775808', '1e3', '-1']) {
      expect((await call(world.github, app, 'GET', `/repos/acme/web/pulls/${number}`)).status).toBe(404);
    }
  });
});

describe('faults', () => {
  test('one answers as the test says, for as long as the test says', async () => {
    const { github } = world;
    github.requests.clear();
    github.faults.add({ kind: 'status', status: 503, times: 2, match: { method: 'get', path: /^\/repos/ } });
    const statuses = [];
    for (let count = 0; count < 3; count += 1) {
      statuses.push((await call(github, app, 'GET', '/repos/acme/web')).status);
    }
    expect(statuses).toEqual([503, 503, 200]);
    expect(github.requests.map(({ status }) => status)).toEqual([503, 503, 200]);
  });

  test('limits, delays and resets', async () => {
    const { github } = world;
    const secondary = github.faults.add({ kind: 'secondary-limit', retryAfter: 7 });
    const limited = await call(github, app, 'GET', '/repos/acme/web');
    expect(limited.status).toBe(403);
    expect(limited.headers.get('retry-after')).toBe('7');
    expect(limited.body.message).toMatch(/secondary rate limit/);
    secondary.remove();

    const primary = github.faults.add({ kind: 'primary-limit', status: 429 });
    const exhausted = await call(github, app, 'GET', '/repos/acme/web');
    expect([exhausted.status, exhausted.headers.get('x-ratelimit-remaining')]).toEqual([429, '0']);
    primary.remove();

    const slow = github.faults.add({ kind: 'delay', ms: 60 });
    const began = performance.now();
    expect((await call(github, app, 'GET', '/repos/acme/web')).status).toBe(200);
    expect(performance.now() - began).toBeGreaterThan(55);
    slow.remove();

    const reset = github.faults.add({
      kind: 'reset',
      match: ({ tokenKind }) => tokenKind === 'installation',
    });
    await expect(call(github, app, 'GET', '/repos/acme/web')).rejects.toThrow();
    reset.remove();
    expect((await call(github, app, 'GET', '/repos/acme/web')).status).toBe(200);
  });

  test('all of GitHub goes down and comes back', async () => {
    const { github } = world;
    github.goDown();
    expect((await call(github, app, 'GET', '/repos/acme/web')).status).toBe(502);
    github.goDown('reset');
    await expect(call(github, app, 'GET', '/repos/acme/web')).rejects.toThrow();
    github.comeBack();
    expect((await call(github, app, 'GET', '/repos/acme/web')).status).toBe(200);
  });
});
