import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { pino } from 'pino';
import { generateKeyPairSync } from 'node:crypto';
import { systemClock } from '../../src/time/clock.ts';
import type { Config } from '../../src/config.ts';
import { createGitHubApp, type GitHubApp } from '../../src/github/github-app.ts';
import { classifyGitHubError } from '../../src/github/github-error.ts';
import { Metrics } from '../../src/metrics.ts';

// GitHub closes idle connections, so a request on its way finds nobody.

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  publicKeyEncoding: { type: 'pkcs1', format: 'pem' },
});
const tooFast = '{"message": "You have exceeded a secondary rate limit.", "documentation_url": "…"}';
let server: Server;
let asked: string[];
const versions = new Set<unknown>();
let github: GitHubApp;

beforeEach(async () => {
  asked = [];
  server = createServer((request: IncomingMessage, response) => {
    const line = `${request.method} ${request.url}`;
    const isFirst = !asked.includes(line);
    asked.push(line);
    versions.add(request.headers['x-github-api-version']);
    response.setHeader('content-type', 'application/json');
    if (isFirst && request.url === '/repos/acme/web') {
      response.setHeader('content-length', 100).write('{"full_name": "acme/', () => request.socket.destroy());
      return;
    }
    if (request.headers.authorization?.endsWith('ghp_bob')) return response.end(tooFast);
    if (isFirst) return request.socket.destroy();
    response.end('{"data": {"viewer": {"login": "ada"}}}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const githubApiUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const app = { id: 1, privateKey, webhookSecret: 'secret' };
  github = await createGitHubApp(
    { githubApiUrl, app } as Config,
    pino({ level: 'silent' }),
    systemClock,
    new AbortController().signal,
    new Metrics(),
  );
});
afterEach(() => new Promise((resolve) => server.close(resolve)));

test('a read is asked once more', async () => {
  const ada = github.asPerson('ghp_ada');
  await ada.request('GET /user');
  expect(await ada.graphql('{ viewer { login } }')).toEqual({ viewer: { login: 'ada' } });
  expect(asked).toEqual(['GET /user', 'GET /user', 'POST /graphql', 'POST /graphql']);
});

test('a body that ends early is no answer', async () => {
  const { data } = await github.asPerson('ghp_ada').request('GET /repos/acme/web');
  expect(data).toEqual({ data: { viewer: { login: 'ada' } } });
  expect(asked).toEqual(['GET /repos/acme/web', 'GET /repos/acme/web']);
});

test('GraphQL that refuses with status 200 and a body of REST has not answered', async () => {
  const asking = github.asPerson('ghp_bob').graphql('{ viewer { login } }');
  const error = await asking.catch((reason: unknown) => reason);
  expect(classifyGitHubError(error, 0)).toMatchObject({ kind: 'limited', retryAt: 60_000 });
});

test('each request names the version of the API', async () => {
  const ada = github.asPerson('ghp_ada');
  await ada.request('GET /user');
  await ada.graphql('{ viewer { login } }');
  expect([...versions]).toEqual(['2022-11-28']);
});

test('a write is not: it may have arrived', async () => {
  const status = github.asPerson('ghp_ada').rest.repos.createCommitStatus({
    owner: 'acme',
    repo: 'web',
    sha: 'a'.repeat(40),
    state: 'success',
  });
  await expect(status).rejects.toThrow();
  expect(asked).toEqual([`POST /repos/acme/web/statuses/${'a'.repeat(40)}`]);
});
