import nock from 'nock';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { pino } from 'pino';
import { generateKeyPairSync } from 'node:crypto';
import type { Config } from '../../src/config.ts';
import { findStanding, lookAtStatuses, postStatus } from '../../src/statuses/write-status.ts';
import type { HeadStatus } from '../../src/generated/prisma/client.ts';
import { systemClock } from '../../src/time/clock.ts';
import { createGitHubApp, type GitHubApp } from '../../src/github/github-app.ts';
import { Metrics } from '../../src/metrics.ts';
import { OwnWrites } from '../../src/statuses/own-writes.ts';

// The requests to the letter, and what becomes of answers that GitHub's sandbox cannot be told to give.

const sha = 'c'.repeat(40);
const commit = { owner: 'acme', repo: 'web', sha };
const config = {
  app: {
    id: 1,
    webhookSecret: 'secret',
    oauth: null,
    privateKey: generateKeyPairSync('rsa', {
      modulusLength: 2048,
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    }).privateKey,
  },
  githubApiUrl: 'https://github.example/api/v3',
  statusContext: 'holdfast/freeze',
  publicUrl: 'https://holdfast.example',
} as Config;
const wanted = {
  state: 'pending',
  description: 'Frozen until removed: Release',
  context: 'holdfast/freeze',
} as const;
const creator = { login: 'holdfast[bot]' };
const posted = { id: 31_000_001, created_at: '2026-03-01T09:00:00Z', creator };
const ledBy = { isMergeGroup: false, groupNumber: null, closedNumber: null };
/** One attempt as `drain.ts` makes it. Null if the right to write was lost. */
async function write(
  attempts: number,
  known: Partial<HeadStatus> = {},
  mayWrite = async () => true,
  openNumber: number | null = null,
) {
  const deps = { github, config, ownWrites: new OwnWrites() };
  const head = { writtenId: null, contradictedBy: null, ...known } as HeadStatus;
  const list = attempts > 0 ? await lookAtStatuses(deps, 7n, commit, true, mayWrite) : null;
  if (attempts > 0 && !list) return null;
  return (
    findStanding(head, wanted, list) ??
    (await postStatus(deps, 7n, { ...commit, ...ledBy, openNumber }, wanted))
  );
}

let github: GitHubApp;
beforeAll(async () => {
  if (!nock.isActive()) nock.activate();
  github = await createGitHubApp(
    config,
    pino({ level: 'silent' }),
    systemClock,
    new AbortController().signal,
    new Metrics(),
  );
});
// Files share a process: what nock puts in the place of node:http holds back requests whose bodies do not come.
afterAll(() => nock.restore());
beforeEach(() => {
  nock.disableNetConnect();
  const token = {
    token: 'ghs_x',
    expires_at: new Date(Date.now() + 3_600_000).toISOString(),
    permissions: {},
  };
  nock(config.githubApiUrl).post('/app/installations/7/access_tokens').optionally().reply(201, token);
  nock(config.githubApiUrl).get('/app').optionally().reply(200, { slug: 'holdfast' });
});
afterEach(() => {
  expect(nock.pendingMocks().filter((mock) => !mock.includes('access_tokens'))).toEqual([]);
  nock.cleanAll();
  nock.enableNetConnect();
});

const expectPost = () => nock(config.githubApiUrl).post(`/repos/acme/web/statuses/${sha}`, wanted);
const expectLook = (statuses: object[], page = 1) =>
  nock(config.githubApiUrl)
    .get(`/repos/acme/web/commits/${sha}/statuses`)
    .query({ per_page: 100, page })
    .reply(200, statuses);

test('a first attempt posts, and asks nothing before', async () => {
  expectPost().reply(201, posted);
  await write(0);
});

test('its page is posted, and is not a reason to post', async () => {
  const targetUrl = 'https://holdfast.example/repos/acme/web/pulls/1';
  const writeTo = (attempts: number) => write(attempts, {}, undefined, 1);
  nock(config.githubApiUrl)
    .post(`/repos/acme/web/statuses/${sha}`, { ...wanted, target_url: targetUrl })
    .reply(201, posted);
  await writeTo(0);
  expectLook([{ ...wanted, ...posted, target_url: 'https://elsewhere.example' }]);
  await writeTo(1);
});

test('a network error is thrown, and the next attempt finds that the status arrived', async () => {
  expectPost().replyWithError(Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' }));
  await expect(write(0)).rejects.toThrow();
  expectLook([{ ...wanted, ...posted, context: 'Holdfast/Freeze' }]);
  await write(1);
});

test.each([
  ['none', []],
  ['another context', [{ ...posted, ...wanted, context: 'ci' }]],
  ['another state', [{ ...posted, ...wanted, state: 'success' }]],
  ['another text', [{ ...posted, ...wanted, description: 'Frozen' }]],
  ['the same of somebody else', [{ ...posted, ...wanted, creator: { login: 'bob' } }]],
])('a second attempt that finds %s posts', async (_name, statuses) => {
  expectLook(statuses);
  expectPost().reply(201, posted);
  await write(1);
});

test('a second attempt ignores an answer that is older than what we know', async () => {
  expectLook([{ ...wanted, ...posted }]);
  expectPost().reply(201, { ...posted, id: posted.id + 2 });
  expect(await write(1, { writtenId: BigInt(posted.id) + 1n })).toMatchObject({ id: BigInt(posted.id) + 2n });
});

test('a second attempt ignores an answer that lacks the status of an event', async () => {
  expectLook([{ ...wanted, ...posted }]);
  expectPost().reply(201, { ...posted, id: posted.id + 2 });
  expect(await write(1, { contradictedBy: BigInt(posted.id) + 1n })).toMatchObject({
    id: BigInt(posted.id) + 2n,
  });
});

test('a look counts the statuses under our context on all pages, in any case', async () => {
  const other = { ...posted, ...wanted, context: 'ci' };
  const foreign = { ...posted, ...wanted, context: 'HOLDFAST/freeze', creator: null };
  expectLook([{ ...posted, ...wanted }, ...Array<object>(99).fill(other)]);
  expectLook([foreign, foreign, other], 2);
  const list = await lookAtStatuses({ github, config }, 7n, commit, true, async () => true);
  expect(list).toMatchObject({ count: { writes: 1, overwrites: 2 }, statuses: { length: 3 } });
});

test('a second attempt without the right to write does not post', async () => {
  expectLook([]);
  expect(await write(1, {}, async () => false)).toBeNull();
});

test('a second attempt that cannot look does not post', async () => {
  nock(config.githubApiUrl).get(`/repos/acme/web/commits/${sha}/statuses`).query(true).reply(502, {});
  await expect(write(1)).rejects.toThrow();
});

test('a token that GitHub has dropped is replaced once', async () => {
  expectPost().reply(401, { message: 'Bad credentials' });
  const token = {
    token: 'ghs_y',
    expires_at: new Date(Date.now() + 3_600_000).toISOString(),
    permissions: {},
  };
  nock(config.githubApiUrl).post('/app/installations/7/access_tokens').optionally().reply(201, token);
  expectPost().reply(201, posted);
  await write(0);
});
