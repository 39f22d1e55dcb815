import { expect, test } from 'vitest';
import { judgeAnswer, notGitHub } from '../../src/github/api-address.ts';

const api = 'https://ghe.example/api/v3';
const documented = { documentation_url: 'https://docs.github.com/rest' };
const app = { id: 1, slug: 'holdfast', owner: {}, html_url: 'https://ghe.example/apps/holdfast' };

type Sent = { status?: number; type?: string; body?: unknown; path?: string; from?: string };

/** What an answer says, by the kind of its body. */
const judge = ({ status = 200, type = 'application/json', body = '', path = '/app', from }: Sent) => {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const answer = new Response(status === 204 ? null : text, { status, headers: { 'content-type': type } });
  const url = from ?? api + path;
  return judgeAnswer(Object.defineProperty(answer, 'url', { value: url }), new URL(api + path), api);
};

test.each<[string, Sent]>([
  ['the App', { body: app }],
  ['a refusal of the key', { status: 401, body: { message: 'Bad credentials', ...documented } }],
  ['a limit', { status: 403, body: { message: 'You have exceeded a secondary rate limit', ...documented } }],
  ['an App that is gone', { status: 404, body: { message: 'Integration not found', ...documented } }],
  [
    'an unknown installation',
    { status: 404, body: { message: 'Not Found', ...documented }, path: '/app/installations/1' },
  ],
  ['a list', { body: [], path: '/app/installations' }],
  ['a token', { status: 201, body: { token: 'ghs_1' }, path: '/app/installations/1/access_tokens' }],
  ['JSON with a charset', { type: 'application/json; charset=utf-8', body: app }],
])('%s is of GitHub', async (_, sent) => {
  expect(await judge(sent)).toBe('right');
});

test.each<[string, Sent]>([
  ['a gateway that reaches nobody', { status: 502, type: 'text/html', body: '<h1>Bad Gateway</h1>' }],
  ['maintenance', { status: 503, type: 'text/html', body: '<h1>Maintenance</h1>' }],
  ['GitHub’s unicorn', { status: 504, type: 'text/html', body: '<html>' }],
  ['too many requests', { status: 429, type: 'text/html', body: 'Whoa there!' }],
  ['JSON that no sign of GitHub is in', { body: { url: 'https://ghe.example' }, path: '/app/hook/config' }],
])('%s says nothing about the address', async (_, sent) => {
  expect(await judge(sent)).toBe('unclear');
});

test.each<[string, Sent, RegExp]>([
  ['a page', { type: 'text/html; charset=utf-8', body: '<html>' }, /answers 200 with text\/html$/],
  [
    'a page that is not there',
    { status: 404, type: 'text/html', body: '<html>' },
    /answers 404 with text\/html$/,
  ],
  ['a sign-in', { status: 401, type: 'text/plain', body: 'Sign in' }, /answers 401 with text\/plain$/],
  [
    'a sign-in elsewhere',
    { type: 'text/html', from: 'https://login.example/?to=/app' },
    /on to https:\/\/login\.example$/,
  ],
  [
    'a redirect to https',
    { from: 'http://ghe.example/api/v3/app', body: app },
    /on to http:\/\/ghe\.example$/,
  ],
  ['nothing', { type: '', body: '' }, /answers 200 with no type of content$/],
  ['JSON that ends early', { status: 404, body: '{"message":' }, /404 with JSON of something else$/],
  ['GitLab', { status: 404, body: { error: '404 Not Found' } }, /404 with JSON of something else$/],
  [
    'Gitea',
    { status: 404, body: { message: 'not found', url: 'https://ghe.example/api/swagger' } },
    /404 with JSON/,
  ],
  ['an application that answers everything', { body: { status: 'ok' } }, /200 with JSON of something else$/],
  [
    'another path of GitHub’s API',
    { status: 404, body: { message: 'Not Found', ...documented } },
    /404 with JSON/,
  ],
])('%s is not of GitHub', async (_, sent, says) => {
  expect(await judge(sent)).toEqual({ sends: expect.stringMatching(says) });
});

test.each([
  [
    'https://ghe.example',
    'for GitHub Enterprise Server it ends in /api/v3, as in https://ghe.example/api/v3.',
  ],
  [
    'https://ghe.example/api/graphql',
    'for GitHub Enterprise Server it ends in /api/v3, as in https://ghe.example/api/v3.',
  ],
  [
    'https://ghe.example/api/v3',
    'check its host name, and that no proxy and no sign-in answers in the place of GitHub.',
  ],
  ['https://github.com', 'for github.com it is https://api.github.com.'],
  ['https://api.github.com/api/v3', 'for github.com it is https://api.github.com.'],
  [
    'https://api.github.com',
    'check its host name, and that no proxy and no sign-in answers in the place of GitHub.',
  ],
  ['https://acme.ghe.com', 'for acme.ghe.com it is https://api.acme.ghe.com.'],
  ['https://api.acme.ghe.com/api/v3', 'for acme.ghe.com it is https://api.acme.ghe.com.'],
])('%s is named with the address that was meant', (address, says) => {
  const sentence = notGitHub(address, 'answers 404 with text/html');
  expect(sentence).toBe(
    `GITHUB_API_URL (${address}) does not answer as GitHub's API does, because it answers 404 with text/html: ${says}`,
  );
});

test('a password in the address is not repeated', () => {
  expect(notGitHub('https://user:secret@ghe.example/', 'answers 200')).not.toMatch(/secret|user/);
});
