// What GitHub refuses or shows in a way that a kind stand-in would not: each line is one of GitHub's own rules.
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Permissions } from '../../sandbox/state/model.ts';
import { acme, acmeForAll, appJwt, ask, call, installationToken } from './acme.ts';

const world = acmeForAll();
let app: string;
beforeAll(async () => {
  app = await installationToken(world.github, world.installationId);
});

/** The start of "web" and "vault" in paths. */
const [web, vault] = ['/repos/acme/web', '/repos/acme/vault'];

describe('headers of requests', () => {
  test('a client without a User-Agent gets 403', async () => {
    const { github } = world;
    const env = { incoming: new IncomingMessage(new Socket()) };
    const answer = await github.fetch(new Request(`${github.url}${web}`), env);
    expect([answer.status, await answer.text()]).toEqual([403, expect.stringContaining('User-Agent')]);
    const named = new Request(`${github.url}${web}`, { headers: { 'user-agent': 'curl/8' } });
    expect((await github.fetch(named, env)).status).toBe(200);
  });

  test.each([
    ['2022-11-28', 200],
    ['2026-03-10', 200],
    ['2022-11-29', 400],
    ['v3', 400],
  ])('version %s of the REST API is %i', async (version, status) => {
    const headers = { authorization: `Bearer ${app}`, 'x-github-api-version': version };
    const answer = await fetch(`${world.github.url}${web}`, { headers });
    expect(answer.status).toBe(status);
    if (status === 400)
      expect(await answer.json()).toMatchObject({
        message: expect.stringContaining(`"${version}", is not a supported version`),
      });
  });
});

describe('a token', () => {
  const issue = (body: object) =>
    call(
      world.github,
      appJwt(world.github),
      'POST',
      `/app/installations/${world.installationId}/access_tokens`,
      body,
    );

  test.each([
    ['that nobody granted', { administration: 'read' }],
    ['of a level that nobody granted', { contents: 'write' }],
    ['that there is not', { nonsense: 'read' }],
  ])('is not made with a permission %s', async (_, permissions) => {
    expect(await issue({ permissions })).toMatchObject({
      status: 422,
      body: { message: 'The permissions requested are not granted to this installation.' },
    });
  });

  test.each([
    ['name', () => ({ repositories: ['Vault'] })],
    ['id', () => ({ repository_ids: [world.github.repository('acme/vault').id] })],
  ])('for one repository, by its %s, reaches that one', async (_, body) => {
    const { status, body: issued } = await issue(body());
    expect([status, issued.repository_selection]).toEqual([201, 'selected']);
    expect(issued.repositories).toMatchObject([{ full_name: 'acme/vault' }]);
    const reached = await call(world.github, issued.token, 'GET', '/installation/repositories');
    expect(reached.body).toMatchObject({ total_count: 1, repository_selection: 'selected' });
    const path = `${web}/statuses/${'0'.repeat(40)}`;
    expect((await call(world.github, issued.token, 'POST', path, {})).status).toBe(403);
  });

  test('is not made for a repository that the installation does not have', async () => {
    expect(await issue({ repositories: ['vault', 'nowhere'] })).toMatchObject({
      status: 422,
      body: { message: expect.stringMatching(/^There is at least one repository that does not exist/) },
    });
  });
});

describe('a permission that was not granted', () => {
  /** A token that has all permissions of the App but one. */
  const without = (name: string) => {
    const { [name]: _, ...permissions } = world.github.app.permissions as Permissions;
    return installationToken(world.github, world.installationId, { permissions });
  };
  beforeAll(() => {
    world.github.openPullRequest('acme/vault', { author: 'ada' });
    world.github.enableMergeQueue('acme/vault', 'release');
  });

  test.each([
    ['statuses', 'GET', '/commits/main/status', 'statuses=read'],
    ['statuses', 'GET', '/commits/main/statuses', 'statuses=read'],
    ['statuses', 'POST', `/statuses/${'0'.repeat(40)}`, 'statuses=write'],
    ['contents', 'GET', '/branches/main', 'contents=read'],
    ['contents', 'GET', '/activity', 'contents=read'],
    ['pull_requests', 'GET', '/pulls/1/files', 'pull_requests=read'],
    ['pull_requests', 'GET', '/stacks', 'pull_requests=read'],
    ['pull_requests', 'GET', '/issues/1/labels', 'issues=read; pull_requests=read'],
    ['deployments', 'GET', '/deployments', 'deployments=read'],
    ['deployments', 'GET', '/actions/runs', 'actions=read'],
    ['metadata', 'POST', '/rulesets', 'administration=write'],
  ])('%s: %s %s is 403, and the answer names it', async (name, method, path, wanted) => {
    const body = method === 'GET' ? undefined : {};
    const answer = await call(world.github, await without(name), method, vault + path, body);
    expect(answer).toMatchObject({
      status: 403,
      body: { message: 'Resource not accessible by integration' },
    });
    expect(answer.headers.get('x-accepted-github-permissions')).toBe(wanted);
  });

  test.each([
    ['contents', 'object(expression: "HEAD:x") { __typename }'],
    ['contents', 'pullRequest(number: 1) { commits(first: 1) { totalCount } }'],
    ['contents', 'pullRequest(number: 1) { baseRef { name } }'],
    ['statuses', 'pullRequest(number: 1) { commits(first: 1) { nodes { commit { status { state } } } } }'],
    [
      'checks',
      'pullRequest(number: 1) { commits(first: 1) { nodes { commit { statusCheckRollup { id } } } } }',
    ],
    ['pull_requests', 'pullRequests(first: 1) { totalCount }'],
    ['merge_queues', 'mergeQueue(branch: "release") { id }'],
  ])('%s: GraphQL refuses it, of public repositories too', async (name, fields) => {
    const token = await without(name);
    for (const repository of ['vault', 'web']) {
      if (repository === 'web') world.github.openPullRequest('acme/web', { author: 'ada' });
      const query = `{ repository(owner: "acme", name: "${repository}") { ${fields} } }`;
      expect(await ask(world.github, token, query)).toMatchObject({
        errors: [{ type: 'FORBIDDEN', message: 'Resource not accessible by integration' }],
      });
      expect(await ask(world.github, app, query)).not.toHaveProperty('errors');
    }
  });

  test('a pull request by its node id needs it as well', async () => {
    const { nodeId } = world.github.pullRequest('acme/vault', 1);
    const query = `{ node(id: "${nodeId}") { ... on PullRequest { number } } }`;
    const refused = await ask(world.github, await without('pull_requests'), query);
    expect(refused).toMatchObject({ data: { node: null }, errors: [{ type: 'FORBIDDEN' }] });
    expect(await ask(world.github, app, query)).toEqual({ data: { node: { number: 1 } } });
  });

  test('an answer names what would have been enough', async () => {
    const { headers } = await call(world.github, app, 'GET', `${vault}/branches/main`);
    expect(headers.get('x-accepted-github-permissions')).toBe('contents=read');
  });
});

describe('what GitHub shows', () => {
  test('instants in whole seconds, in REST, GraphQL and webhooks', async () => {
    const now = () => new Date('2026-03-01T09:00:00.789Z');
    const { github, ada } = await acme({ now });
    github.openPullRequest('acme/web', { author: 'ada' });
    const shown = (await call(github, ada.token, 'GET', `${web}/pulls/1`)).body.created_at;
    const query = '{ repository(owner: "acme", name: "web") { pullRequest(number: 1) { createdAt } } }';
    const { data } = await ask(github, ada.token, query);
    const told = github.deliveries.find(({ event }) => event === 'pull_request')!.payload.pull_request;
    expect([shown, data.repository.pullRequest.createdAt, told.created_at]).toEqual(
      Array.from({ length: 3 }, () => '2026-03-01T09:00:00Z'),
    );
    await github.close();
  });

  test('every GET has an ETag: who has the answer gets 304 for nothing, with this token', async () => {
    const { github, ada } = world;
    const used = async () => Number((await call(github, app, 'GET', '/rate_limit')).body.resources.core.used);
    for (const path of [web, `${web}/pulls?state=all`, '/users/ada', `${web}/commits/main/status`]) {
      const etag = (await call(github, app, 'GET', path)).headers.get('etag')!;
      const again = (token: string) =>
        fetch(github.url + path, { headers: { authorization: `Bearer ${token}`, 'if-none-match': etag } });
      const before = await used();
      const answer = await again(app);
      expect([path, answer.status, await answer.text()]).toEqual([path, 304, '']);
      expect(await used()).toBe(before);
      expect((await again(ada.token)).status).toBe(200);
    }
    const { headers } = await call(github, app, 'GET', `${web}/pulls/4711`);
    expect(headers.get('etag')).toBeNull();
  });

  test('the place in a stack of those that are in one, and no key of others, in REST and webhooks', async () => {
    const { github } = world;
    const numbers = [
      github.openPullRequest('acme/web', { author: 'bob', head: 'below' }),
      github.openPullRequest('acme/web', { author: 'bob', base: 'below' }),
    ].map(({ number }) => number);
    const shown = async () => (await call(github, app, 'GET', `${web}/pulls/${numbers[0]}`)).body;
    const told = () =>
      github.deliveries.findLast(({ event }) => event === 'pull_request')!.payload.pull_request;
    expect([await shown(), told()].map((each) => 'stack' in each)).toEqual([false, false]);
    github.stack('acme/web', numbers);
    expect((await shown()).stack).toMatchObject({ position: 1, size: 2 });
    expect(told().stack).toMatchObject({ position: 2, size: 2 });
    github.unstack('acme/web', numbers[0]!);
    expect(await shown()).not.toHaveProperty('stack');
  });

  test('a job stays queued until a runner takes it', async () => {
    const { github } = world;
    github.occupyRunners('acme/vault');
    const { id } = github.runWorkflow('acme/vault', { environments: ['production'] });
    expect(github.jobsOf('acme/vault', id)).toEqual(['queued']);
    github.takeJobs('acme/vault', id);
    expect(github.jobsOf('acme/vault', id)).toEqual(['in_progress']);
  });

  test('a secondary limit of GraphQL with status 200 and nothing but an error', async () => {
    const { github } = world;
    const fault = github.faults.add({ kind: 'secondary-limit', status: 200, retryAfter: 60 });
    const answer = await call(github, app, 'POST', '/graphql', { query: '{ viewer { login } }' });
    fault.remove();
    expect([answer.status, answer.headers.get('retry-after'), answer.body]).toEqual([
      200,
      '60',
      { errors: [{ message: expect.stringContaining('secondary rate limit') }] },
    ]);
  });

  test('who a bot is at the page of its App', async () => {
    const { body } = await call(world.github, app, 'GET', '/users/holdfast%5Bbot%5D');
    expect(body.html_url).toBe('https://github.com/apps/holdfast');
  });

  test('the combined status does not say who posted, and the list does', async () => {
    const { github } = world;
    const { number, headSha } = github.openPullRequest('acme/web', { author: 'bob' });
    github.postStatus('acme/web', number, { by: 'bob', state: 'success', context: 'ci' });
    const [combined] = (await call(github, app, 'GET', `${web}/commits/${headSha}/status`)).body.statuses;
    const [listed] = (await call(github, app, 'GET', `${web}/commits/${headSha}/statuses`)).body;
    expect([combined.creator, listed.creator.login]).toEqual([undefined, 'bob']);
  });

  test('who deployed, and when each state began', async () => {
    let now = new Date('2026-03-01T09:00:00Z');
    const { github, ada } = await acme({ now: () => now });
    const { id } = github.runWorkflow('acme/web', { environments: ['production'] });
    now = new Date('2026-03-01T09:05:00Z');
    github.finishRun('acme/web', id);
    const [deployment] = (await call(github, ada.token, 'GET', `${web}/deployments`)).body;
    expect(deployment).toMatchObject({
      creator: { login: 'ada' },
      original_environment: 'production',
      updated_at: '2026-03-01T09:05:00Z',
    });
    const statuses = await call(github, ada.token, 'GET', `${web}/deployments/${deployment.id}/statuses`);
    const one = { creator: { login: 'ada' }, target_url: expect.stringContaining('/actions/runs/') };
    expect(statuses.body).toMatchObject([
      { ...one, state: 'success', updated_at: '2026-03-01T09:05:00Z' },
      { ...one, state: 'in_progress', updated_at: '2026-03-01T09:00:00Z' },
      { ...one, state: 'queued' },
    ]);
    await github.close();
  });

  test.each([
    ['2026-07-14', /^repo:acme\/web:/],
    ['2026-07-15', /^repo:acme@\d+\/web@\d+:/],
  ])('the subject of a job of a repository of %s', async (day, form) => {
    const { github } = await acme({ now: () => new Date(`${day}T09:00:00Z`) });
    const [, claims] = github.jobToken('acme/web').split('.');
    expect(JSON.parse(Buffer.from(claims!, 'base64url').toString()).sub).toMatch(form);
    await github.close();
  });
});

describe('merges', () => {
  test('a ruleset refuses in its own words, all requirements at once; classic protection names one', async () => {
    const { github, ada } = await acme();
    github.openPullRequest('acme/web', { author: 'bob' });
    const merge = (name = 'web') => call(github, ada.token, 'PUT', `/repos/acme/${name}/pulls/1/merge`, {});
    const classic = 'Required status check "holdfast/freeze" is expected.';
    expect(await merge()).toMatchObject({ status: 405, body: { message: classic } });
    github.addRepository('acme/ruled');
    github.addRuleset('acme/ruled', { checks: ['holdfast/freeze', 'ci'] });
    github.openPullRequest('acme/ruled', { author: 'bob' });
    github.postStatus('acme/ruled', 1, { by: 'bob', state: 'pending', context: 'ci' });
    expect(await merge('ruled')).toMatchObject({
      status: 405,
      body: {
        message: `Repository rule violations found\n\n${classic}\n\nRequired status check "ci" is pending.\n\n`,
      },
    });
    await github.close();
  });

  test('whether it is merged, and labels as a plain list', async () => {
    const { github, bob } = world;
    github.addRepository('acme/open', { roles: { bob: 'write' } });
    const { number } = github.openPullRequest('acme/open', { author: 'bob' });
    const merge = async (method: string) =>
      (await call(github, bob.token, method, `/repos/acme/open/pulls/${number}/merge`)).status;
    expect([await merge('GET'), await merge('PUT'), await merge('GET')]).toEqual([404, 200, 204]);
    const path = `/repos/acme/open/issues/${number}/labels`;
    expect((await call(github, bob.token, 'POST', path, ['risky'])).body).toMatchObject([{ name: 'risky' }]);
  });

  test('a branch whose protection has no checks', async () => {
    const { github, ada } = world;
    github.protect('acme/vault', 'main', { checks: [] });
    const path = `${vault}/branches/main/protection`;
    expect((await call(github, ada.token, 'GET', path)).body).not.toHaveProperty('required_status_checks');
    const checks = () => call(github, ada.token, 'GET', `${path}/required_status_checks`);
    expect(await checks()).toMatchObject({
      status: 404,
      body: { message: 'Required status checks not enabled' },
    });
    github.protect('acme/vault', 'main', []);
    expect(await checks()).toMatchObject({ status: 404, body: { message: 'Branch not protected' } });
  });
});

describe('names', () => {
  test.each(['organization', 'user'])('the former name of an %s', async (kind) => {
    const { github, ada } = await acme();
    const login = kind === 'user' ? 'bob' : 'acme';
    const { id } = github.addRepository(`${login}/site`);
    github.renameUser(login, 'newname');
    // That of a repository leads to it, for reading and writing. That of an account leads nowhere.
    const former = `/repos/${login}/site`;
    const read = await call(github, ada.token, 'GET', `${former}/pulls`);
    expect([read.status, read.headers.get('location')]).toEqual([
      301,
      `${github.url}/repositories/${id}/pulls`,
    ]);
    const written = await call(github, ada.token, 'POST', `${former}/statuses/abc`, {});
    expect([written.status, written.body.message]).toEqual([307, 'Moved Permanently']);
    expect((await call(github, ada.token, 'GET', `/users/${login}`)).status).toBe(404);
    const query = (name: string) => `{ repository(owner: "${name}", name: "site") { nameWithOwner } }`;
    expect((await ask(github, ada.token, query(login))).data.repository.nameWithOwner).toBe('newname/site');
    // Whoever takes the name is who answers to it from then on.
    github.addUser(login);
    const { id: taken } = github.addRepository(`${login}/site`);
    expect((await call(github, ada.token, 'GET', former)).body.id).toBe(taken);
    expect((await call(github, ada.token, 'GET', '/repos/newname/site')).body.id).toBe(id);
    await github.close();
  });
});
