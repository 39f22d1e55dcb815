import { generateKeyPairSync } from 'node:crypto';
import nock from 'nock';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Config } from '../../src/config.ts';
import { createGitHubApp } from '../../src/github/github-app.ts';
import { InstallationToken } from '../../src/github/installation-token.ts';
import { Metrics } from '../../src/metrics.ts';
import { systemClock } from '../../src/time/clock.ts';

const githubApiUrl = 'https://github.example/api/v3';
// Files share a process: what nock puts in the place of node:http holds back requests whose bodies do not come.
beforeAll(() => {
  if (!nock.isActive()) nock.activate();
  nock.disableNetConnect();
});
afterAll(() => nock.restore());

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
});
const service = (clock = systemClock) =>
  createGitHubApp(
    { app: { id: 1, webhookSecret: 'secret', oauth: null, privateKey }, githubApiUrl } as Config,
    pino({ level: 'silent' }),
    clock,
    new AbortController().signal,
    new Metrics(),
  );
const expires_at = new Date(Date.now() + 3_600_000).toISOString();
const before = { metadata: 'read' };
const after = { metadata: 'read', issues: 'write' };

test('a token that was being made while the owner granted more is not taken for one that has it', async () => {
  const github = await service();
  const making = Promise.withResolvers<null>();
  const asked = Promise.withResolvers<null>();
  nock(githubApiUrl)
    .post('/app/installations/7/access_tokens')
    .reply(201, async () => {
      asked.resolve(null);
      await making.promise;
      return { token: 'ghs_before', expires_at, permissions: before };
    })
    .post('/app/installations/7/access_tokens')
    .reply(201, { token: 'ghs_after', expires_at, permissions: after });
  const used: string[] = [];
  const authorization = (value: string | null) => used.push(String(value)) > 0;
  nock(githubApiUrl, { reqheaders: { authorization } }).get('/meta').times(2).reply(200, {});
  const first = github.asInstallation(7n).then(({ rest }) => rest.meta.get());
  await asked.promise;
  const granted = github.asInstallation(7n, after);
  making.resolve(null);
  await first;
  await (await granted).rest.meta.get();
  expect(used).toEqual(['token ghs_before', 'token ghs_after']);
  nock.cleanAll();
});

test('a token that another service of the process makes is not taken for one that this service keeps', async () => {
  const [one, other] = [await service(), await service()];
  const making = Promise.withResolvers<null>();
  const asked = Promise.withResolvers<null>();
  nock(githubApiUrl)
    .post('/app/installations/7/access_tokens')
    .reply(201, { token: 'ghs_before', expires_at, permissions: before })
    .post('/app/installations/7/access_tokens')
    .reply(201, async () => {
      asked.resolve(null);
      await making.promise;
      return { token: 'ghs_of_other', expires_at, permissions: after };
    })
    .post('/app/installations/7/access_tokens')
    .reply(201, { token: 'ghs_after', expires_at, permissions: after });
  const used: string[] = [];
  const authorization = (value: string | null) => used.push(String(value)) > 0;
  nock(githubApiUrl, { reqheaders: { authorization } }).get('/meta').times(3).reply(200, {});
  await (await one.asInstallation(7n)).rest.meta.get();
  const ofOther = other.asInstallation(7n).then(({ rest }) => rest.meta.get());
  await asked.promise;
  const granted = one.asInstallation(7n, after);
  making.resolve(null);
  await ofOther;
  await (await granted).rest.meta.get();
  expect(used).toEqual(['token ghs_before', 'token ghs_of_other', 'token ghs_after']);
  nock.cleanAll();
});

test('services of one process that ask at the same moment send their own tokens', async () => {
  const [one, other] = [await service(), await service()];
  for (const token of ['ghs_one', 'ghs_other'])
    nock(githubApiUrl)
      .post('/app/installations/7/access_tokens')
      .reply(201, { token, expires_at, permissions: before });
  const used: string[] = [];
  const authorization = (value: string | null) => used.push(String(value)) > 0;
  nock(githubApiUrl, { reqheaders: { authorization } }).get('/meta').times(4).reply(200, {});
  const clients = [await one.asInstallation(7n), await other.asInstallation(7n)];
  for (const { rest } of clients) await rest.meta.get();
  await Promise.all(clients.map(({ rest }) => rest.meta.get()));
  expect(used.toSorted()).toEqual(['token ghs_one', 'token ghs_one', 'token ghs_other', 'token ghs_other']);
  nock.cleanAll();
});

test('what a token still lacks is asked for again after a minute, and not each time', async () => {
  let [elapsed, made] = [0, 0];
  const clock = { ...systemClock, elapsed: () => elapsed };
  const token = new InstallationToken(clock, async () => ({ token: `ghs_${++made}`, permissions: before }));
  const counts: number[] = [];
  for (const at of [0, 59_999, 60_000, 119_999, 120_000]) {
    elapsed = at;
    await token.follow(after);
    counts.push(made);
  }
  expect(counts).toEqual([5, 5, 9, 9, 13]);
});

test('a token from before the owner granted less is renewed', async () => {
  let permissions: Record<string, string> = after;
  const token = new InstallationToken(systemClock, async () => ({ token: 'ghs', permissions }));
  await token.follow(after);
  permissions = before;
  await token.follow(before);
  expect((await token.get()).permissions).toEqual(before);
});

test('a token that has more than the caller knows of is renewed once', async () => {
  let made = 0;
  const token = new InstallationToken(systemClock, async () => ({
    token: `ghs_${++made}`,
    permissions: after,
  }));
  for (let times = 0; times < 5; times++) await token.follow(before);
  expect(made).toBe(2);
});

test('whoever is refused together renews a token once', async () => {
  let made = 0;
  const token = new InstallationToken(systemClock, async () => ({ token: `ghs_${++made}`, permissions: {} }));
  const old = await token.get();
  const renewed = await Promise.all([token.renew(old), token.renew(old), token.renew(old)]);
  expect([made, ...new Set(renewed.map((each) => each.token))]).toEqual([2, 'ghs_2']);
  expect((await token.renew(old)).token, 'somebody late').toBe('ghs_2');
});

test('a new token that GitHub does not know everywhere yet is tried again, and nobody makes another', async () => {
  const github = await service();
  nock(githubApiUrl)
    .post('/app/installations/7/access_tokens')
    .reply(201, { token: 'ghs_new', expires_at, permissions: before });
  const used: string[] = [];
  const authorization = (value: string | null) => used.push(String(value)) > 0;
  const asks = nock(githubApiUrl, { reqheaders: { authorization } });
  asks.get('/meta').times(3).reply(401, { message: 'Bad credentials' });
  asks.get('/meta').times(3).reply(200, {});
  const { rest } = await github.asInstallation(7n);
  const answers = await Promise.all([rest.meta.get(), rest.meta.get(), rest.meta.get()]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect([used.length, ...new Set(used)]).toEqual([6, 'token ghs_new']);
  nock.cleanAll();
});

test('a token that GitHub dropped is renewed at once, once for all', async () => {
  let elapsed = 0;
  const github = await service({ ...systemClock, elapsed: () => elapsed });
  for (const token of ['ghs_dropped', 'ghs_next'])
    nock(githubApiUrl)
      .post('/app/installations/7/access_tokens')
      .reply(201, { token, expires_at, permissions: before });
  const isKnown = (value: string | null) => value === 'token ghs_next';
  nock(githubApiUrl).get('/meta').reply(200, {});
  const { rest } = await github.asInstallation(7n);
  await rest.meta.get();
  elapsed = 60_000;
  nock(githubApiUrl, { reqheaders: { authorization: (value) => !isKnown(value) } })
    .get('/meta')
    .times(2)
    .reply(401, { message: 'Bad credentials' });
  nock(githubApiUrl, { reqheaders: { authorization: isKnown } })
    .get('/meta')
    .times(2)
    .reply(200, {});
  await Promise.all([rest.meta.get(), rest.meta.get()]);
  expect(nock.pendingMocks()).toEqual([]);
});
