import { beforeAll, describe, expect, test } from 'vitest';
import { acmeForAll, acme, ask, installationToken } from './acme.ts';

const world = acmeForAll();
let app: string;
beforeAll(async () => {
  app = await installationToken(world.github, world.installationId);
});

const inWeb = (fields: string) => `{ repository(owner: "acme", name: "web") { ${fields} } }`;

describe('what GitHub refuses', () => {
  test('a field that is not in its schema', async () => {
    const { data, errors } = await ask(world.github, app, inWeb('nonsense'));
    expect(data).toBeUndefined();
    expect(errors[0]).toMatchObject({
      message: "Field 'nonsense' doesn't exist on type 'Repository'",
      extensions: { code: 'undefinedField', typeName: 'Repository', fieldName: 'nonsense' },
    });
  });

  test('a query that does not parse, and one with a variable of the wrong type', async () => {
    expect((await ask(world.github, app, '{ repository(')).errors).toHaveLength(1);
    const query =
      'query($n: Int!) { repository(owner: "acme", name: "web") { pullRequest(number: $n) { id } } }';
    expect((await ask(world.github, app, query, { n: 'three' })).errors).toHaveLength(1);
  });

  test.each([
    ['no boundary', 'pullRequests { totalCount }', 'MISSING_PAGINATION_BOUNDARIES'],
    ['over a hundred', 'pullRequests(first: 101) { totalCount }', 'EXCESSIVE_PAGINATION'],
    ['a foreign cursor', 'pullRequests(first: 1, after: "abc") { totalCount }', 'INVALID_CURSOR_ARGUMENTS'],
    ['an unknown number', 'pullRequest(number: 9999) { id }', 'NOT_FOUND'],
  ])('%s', async (_, fields, type) => {
    const { errors } = await ask(world.github, app, inWeb(fields));
    expect(errors).toMatchObject([{ type, path: expect.arrayContaining(['repository']) }]);
  });

  test('more nodes than the limit', async () => {
    const files = 'nodes { files(first: 100) { nodes { path } } labels(first: 100) { nodes { name } } }';
    const deep = inWeb(
      `pullRequests(first: 100) { nodes { repository { pullRequests(first: 100) { ${files} } } } }`,
    );
    expect((await ask(world.github, app, deep)).errors).toMatchObject([{ type: 'MAX_NODE_LIMIT_EXCEEDED' }]);
  });

  test('a repository that the token cannot see: null and NOT_FOUND', async () => {
    const query = '{ repository(owner: "acme", name: "vault") { id } }';
    const { data, errors } = await ask(world.github, world.eve.token, query);
    expect(data).toEqual({ repository: null });
    expect(errors).toMatchObject([{ type: 'NOT_FOUND', path: ['repository'] }]);
    expect((await ask(world.github, app, query)).data.repository.id).toMatch(/^R_/);
  });

  test('a field that only the sandbox lacks is an error and fails the test', async () => {
    const { github } = await acme();
    const { errors } = await ask(github, github.addUser('zoe').token, inWeb('forkCount'));
    expect(errors).toMatchObject([{ type: 'SANDBOX_UNKNOWN_FIELD' }]);
    expect(() => github.assertNoUnknownRoutes()).toThrow('Repository.forkCount');
    await github.close();
  });
});

describe('what it answers', () => {
  test('everything that a verdict needs, in one query', async () => {
    const { github } = world;
    github.addBot('dependabot');
    const { number, headSha, nodeId } = github.openPullRequest('acme/web', {
      author: 'dependabot',
      title: 'Bump',
      labels: ['risky', 'deps'],
      files: ['a.ts', { path: 'b.ts', status: 'added' }],
      milestone: 'v1',
      autoMerge: true,
    });
    github.postStatus('acme/web', number, { by: 'bob', state: 'failure', description: 'no' });
    const { data } = await ask(
      github,
      app,
      `query Facts($n: Int!) { rateLimit { cost remaining limit resetAt } repository(owner: "ACME", name: "Web") {
        id databaseId nameWithOwner pullRequest(number: $n) {
          id databaseId number state title body isDraft merged mergeable mergeStateStatus locked
          author { __typename login } baseRefName headRefName headRefOid headRepository { nameWithOwner }
          isCrossRepository labels(first: 30) { nodes { name } }
          files(first: 100) { totalCount nodes { path changeType additions deletions } }
          commits(last: 1) { nodes { commit { oid status {
            state context(name: "HOLDFAST/freeze") { state description context targetUrl createdAt }
            contexts { context } } } } }
          autoMergeRequest { enabledAt } mergeQueueEntry { position state } milestone { title }
          createdAt updatedAt additions deletions changedFiles assignees(first: 5) { nodes { login } }
          reviewRequests(first: 5) { totalCount } reviews(first: 5, states: [APPROVED]) { totalCount } } } }`,
      { n: number },
    );
    expect(data.repository.pullRequest).toMatchObject({
      id: nodeId,
      number,
      state: 'OPEN',
      mergeStateStatus: 'UNKNOWN',
      author: { __typename: 'Bot', login: 'dependabot' },
      headRefOid: headSha,
      labels: { nodes: [{ name: 'risky' }, { name: 'deps' }] },
      files: { totalCount: 2, nodes: [{ path: 'a.ts' }, { path: 'b.ts', changeType: 'ADDED' }] },
      commits: {
        nodes: [{ commit: { oid: headSha, status: { context: { state: 'FAILURE', description: 'no' } } } }],
      },
      milestone: { title: 'v1' },
      mergeQueueEntry: null,
    });
    expect(data.rateLimit).toMatchObject({ cost: 1, limit: 5_000 });
    expect(github.requests.at(-1)).toMatchObject({ operationName: 'Facts', tokenKind: 'installation' });
  });

  test('the status of a head in a fork, through commits', async () => {
    const { github } = world;
    const { number } = github.openPullRequest('acme/web', { author: 'eve', fork: true });
    const query = inWeb(`pullRequest(number: ${number}) { isCrossRepository headRepository { nameWithOwner }
      commits(last: 1) { nodes { commit { status { state } } } } }`);
    const read = async () => (await ask(github, app, query)).data.repository.pullRequest;
    expect(await read()).toMatchObject({
      isCrossRepository: true,
      headRepository: { nameWithOwner: 'eve/web' },
      commits: { nodes: [{ commit: { status: null } }] },
    });
    github.postStatus('acme/web', number, { by: 'bob', state: 'success' });
    expect((await read()).commits.nodes[0].commit.status.state).toBe('SUCCESS');
  });

  test('pages that neither repeat nor lose, although a pull request closes between them', async () => {
    const { github } = await acme();
    const { token } = github.addUser('zoe');
    for (let count = 0; count < 5; count += 1) github.openPullRequest('acme/web', { author: 'eve' });
    const seen: number[] = [];
    let after: string | null = null;
    do {
      const query: string = inWeb(
        `pullRequests(first: 2, states: [OPEN], after: ${JSON.stringify(after)}) {
          totalCount pageInfo { endCursor hasNextPage } nodes { number } }`,
      );
      const { pullRequests } = (await ask(github, token, query)).data.repository;
      seen.push(...pullRequests.nodes.map((node: { number: number }) => node.number));
      after = pullRequests.pageInfo.hasNextPage ? pullRequests.pageInfo.endCursor : null;
      github.closePullRequest('acme/web', 1);
    } while (after);
    expect(seen).toEqual([1, 2, 3, 4, 5]);
    await github.close();
  });

  test('nodes by id, with null for missing ones', async () => {
    const { nodeId } = world.github.openPullRequest('acme/web', { author: 'eve' });
    const query = 'query($ids: [ID!]!) { nodes(ids: $ids) { __typename id ... on PullRequest { title } } }';
    const { data, errors } = await ask(world.github, app, query, { ids: [nodeId, 'PR_nonsense'] });
    expect(data.nodes).toMatchObject([{ __typename: 'PullRequest', id: nodeId }, null]);
    expect(errors).toMatchObject([{ type: 'NOT_FOUND', path: ['nodes', 1] }]);
  });

  test('part of the data with errors, when told to', async () => {
    const { github } = world;
    const { number } = github.openPullRequest('acme/web', { author: 'eve' });
    const fault = github.faults.add({ kind: 'partial', pullRequests: [`acme/web#${number}`] });
    const query = inWeb(`pullRequest(number: ${number}) { number files(first: 1) { nodes { path } } }`);
    const { data, errors } = await ask(github, app, query);
    expect(data.repository.pullRequest).toEqual({ number, files: null });
    expect(errors).toMatchObject([{ path: ['repository', 'pullRequest', 'files'] }]);
    fault.remove();
    expect((await ask(github, app, query)).errors).toBeUndefined();
  });
});
