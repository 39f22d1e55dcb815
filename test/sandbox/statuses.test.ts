import { beforeAll, describe, expect, test } from 'vitest';
import { acmeForAll, call, installationToken } from './acme.ts';

const context = 'holdfast/freeze';
const world = acmeForAll();
let app: string;
beforeAll(async () => {
  app = await installationToken(world.github, world.installationId);
});

const post = (sha: string, body: object, token = app, name = 'acme/web') =>
  call(world.github, token, 'POST', `/repos/${name}/statuses/${sha}`, { context, ...body });

describe('what GitHub refuses', () => {
  test.each([
    ['an unknown state', { state: 'frozen' }],
    ['no state', {}],
    ['a description over 140 characters', { state: 'pending', description: 'x'.repeat(141) }],
    ['4-byte Unicode in the description', { state: 'pending', description: 'frozen ❄ 🧊' }],
    ['a context over 255 characters', { state: 'pending', context: 'x'.repeat(256) }],
    ['a target that is not a web page', { state: 'pending', target_url: 'ftp://example.com' }],
  ])('%s: 422', async (_, body) => {
    const { headSha } = world.github.openPullRequest('acme/web', { author: 'eve' });
    expect(await post(headSha, body)).toMatchObject({
      status: 422,
      body: { message: 'Validation Failed', documentation_url: expect.any(String) },
    });
    expect(world.github.statusHistory('acme/web', headSha)).toEqual([]);
  });

  test('exactly 140 characters and 3-byte Unicode are accepted', async () => {
    const { headSha } = world.github.openPullRequest('acme/web', { author: 'eve' });
    expect((await post(headSha, { state: 'pending', description: '❄'.repeat(140) })).status).toBe(201);
  });

  test('an unknown SHA: 422', async () => {
    const sha = 'f'.repeat(40);
    const answer = await post(sha, { state: 'success' });
    expect(answer).toMatchObject({ status: 422, body: { message: `No commit found for SHA: ${sha}` } });
  });

  test('an archived repository: 403', async () => {
    const { github } = world;
    github.addRepository('acme/old');
    const { headSha } = github.openPullRequest('acme/old', { author: 'eve' });
    github.archive('acme/old');
    const answer = await post(headSha, { state: 'success' }, app, 'acme/old');
    expect(answer).toMatchObject({
      status: 403,
      body: { message: 'Repository was archived so is read-only.' },
    });
    github.unarchive('acme/old');
    expect((await post(headSha, { state: 'success' }, app, 'acme/old')).status).toBe(201);
  });

  test('an installation without statuses:write: 403', async () => {
    const { github, installationId } = world;
    const { headSha } = github.openPullRequest('acme/web', { author: 'eve' });
    const reader = await installationToken(github, installationId, { permissions: { statuses: 'read' } });
    const answer = await post(headSha, { state: 'success' }, reader);
    expect(answer).toMatchObject({
      status: 403,
      body: { message: 'Resource not accessible by integration' },
    });
  });

  test('a public repository outside the installation: 403; a person who only reads: 403', async () => {
    const { github, eve } = world;
    github.addRepository('eve/blog');
    const { headSha } = github.openPullRequest('eve/blog', { author: 'eve' });
    expect((await post(headSha, { state: 'success' }, app, 'eve/blog')).status).toBe(403);
    const web = github.openPullRequest('acme/web', { author: 'eve' });
    expect((await post(web.headSha, { state: 'success' }, eve.token)).status).toBe(403);
  });

  test('the 1001st of a SHA and context: 422, whatever the case of the context', async () => {
    const { github } = world;
    const { number, headSha } = github.openPullRequest('acme/web', { author: 'eve' });
    for (let count = 0; count < 1_000; count += 1) {
      github.postStatus('acme/web', number, { by: 'bob', state: 'pending' });
    }
    expect((await post(headSha, { state: 'success', context: 'Holdfast/FREEZE' })).status).toBe(422);
    expect((await post(headSha, { state: 'success', context: 'other' })).status).toBe(201);
  });
});

describe('what statuses do', () => {
  test('required ones block, release and are remembered', async () => {
    const { github, ada } = world;
    const { number, headSha } = github.openPullRequest('acme/web', { author: 'eve', fork: true });
    const blocked = await call(github, ada.token, 'GET', `/repos/acme/web/pulls/${number}`);
    expect(blocked.body).toMatchObject({ mergeable: true, mergeable_state: 'blocked' });
    expect(github.merge('acme/web', number)).toMatchObject({ merged: false, message: /is expected/ });

    await post(headSha, { state: 'pending', description: 'frozen' });
    const refused = await call(github, ada.token, 'PUT', `/repos/acme/web/pulls/${number}/merge`);
    expect(refused).toMatchObject({ status: 405, body: { message: /is pending/ } });

    await post(headSha, { state: 'success', context: 'HOLDFAST/freeze' });
    expect(github.mergeable('acme/web', number)).toBe('clean');
    expect(github.statusHistory('acme/web', headSha)).toMatchObject([
      { state: 'pending', description: 'frozen', creator: 'holdfast[bot]' },
      { state: 'success', description: null },
    ]);
    const combined = await call(github, app, 'GET', `/repos/acme/web/commits/${headSha}/status`);
    expect(combined.body).toMatchObject({ state: 'success', total_count: 1, sha: headSha });
    expect(github.merge('acme/web', number).merged).toBe(true);
    expect(github.pullRequest('acme/web', number).state).toBe('merged');
  });

  test('a push loses them, drafts are drafts, a shared head shares them', async () => {
    const { github } = world;
    const one = github.openPullRequest('acme/web', { author: 'eve' });
    const two = github.openPullRequest('acme/web', { author: 'eve', headSha: one.headSha, draft: true });
    const seen: number[][] = [];
    const unsubscribe = github.onStatus((status) => seen.push(status.pullRequests));
    await post(one.headSha, { state: 'success' });
    unsubscribe();
    expect(seen).toEqual([[one.number, two.number]]);
    expect(github.mergeable('acme/web', one.number)).toBe('clean');
    expect(github.mergeable('acme/web', two.number)).toBe('draft');
    github.markReady('acme/web', two.number);
    expect(github.mergeable('acme/web', two.number)).toBe('clean');
    github.push('acme/web', one.number);
    expect(github.mergeable('acme/web', one.number)).toBe('blocked');
    expect(github.currentStatus('acme/web', one.number)).toBeNull();
  });

  test('auto-merge waits for them and then merges', async () => {
    const { github } = world;
    const { number, headSha } = github.openPullRequest('acme/web', { author: 'bob', autoMerge: true });
    await post(headSha, { state: 'pending' });
    expect(github.pullRequest('acme/web', number).state).toBe('open');
    await post(headSha, { state: 'success' });
    expect(github.pullRequest('acme/web', number).state).toBe('merged');
  });

  test('a test can wait for one; a failed wait says what it saw', async () => {
    const { github } = world;
    const { number, headSha } = github.openPullRequest('acme/web', { author: 'eve' });
    const waiting = github.waitForStatus('acme/web', number, 'success');
    await post(headSha, { state: 'pending', description: 'Frozen' });
    await post(headSha, { state: 'success' });
    await expect(waiting).resolves.toMatchObject({ state: 'success' });
    await expect(github.waitForStatus('acme/web', number, 'failure', { timeoutMs: 20 })).rejects.toThrow(
      /waited 20 ms for holdfast\/freeze to be failure .* saw pending "Frozen", then success ""/,
    );
  });
});
