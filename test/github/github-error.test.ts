import { GraphqlResponseError } from '@octokit/graphql';
import { RequestError } from '@octokit/request-error';
import { expect, test } from 'vitest';
import { classifyGitHubError, type GitHubFailure } from '../../src/github/github-error.ts';

const now = Date.parse('2026-03-01T09:00:00Z');
const inAMinute = now + 60_000;
const request = { method: 'GET', url: 'https://api.github.com/', headers: {} } as const;

function http(status: number, headers: Record<string, string> = {}, message = 'No'): RequestError {
  return new RequestError(message, status, {
    request,
    response: { status, headers, url: request.url, data: {} },
  });
}
function graphql(
  types: (string | undefined)[],
  headers: Record<string, string> = {},
  message?: string,
): Error {
  const about = { path: [], extensions: {}, locations: [] };
  const errors = types.map((type) => ({ type, message: message ?? type, ...about }));
  return new GraphqlResponseError(request, headers, { data: null, errors } as never);
}
const tooFast = 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.';
const needs = (permissions: string) => ({ 'x-accepted-github-permissions': permissions });
const notAccessible = 'Resource not accessible by integration - https://docs.github.com/rest';
const upgrade = 'Upgrade to GitHub Pro or make this repository public to enable this feature.';
const timeout = new DOMException('The operation was aborted due to timeout', 'TimeoutError');

test.each<[string, unknown, Partial<GitHubFailure>]>([
  ['404', http(404), { kind: 'absent' }],
  ['410', http(410), { kind: 'absent' }],
  ['401', http(401), { kind: 'forbidden' }],
  ['403 without a limit', http(403, { 'x-ratelimit-remaining': '4999' }), { kind: 'forbidden' }],
  ['451', http(451), { kind: 'forbidden' }],
  ['422', http(422), { kind: 'invalid' }],
  ['400', http(400), { kind: 'invalid' }],
  ['500', http(500), { kind: 'down' }],
  ['502', http(502), { kind: 'down' }],
  ['a redirect too many', http(302), { kind: 'down' }],
  ['403 with retry-after', http(403, { 'retry-after': '30' }), { kind: 'limited', retryAt: now + 30_000 }],
  ['429 with retry-after', http(429, { 'retry-after': '30' }), { kind: 'limited', retryAt: now + 30_000 }],
  ['429 without', http(429), { kind: 'limited', retryAt: inAMinute }],
  [
    '403 that says so',
    http(403, {}, 'You have exceeded a secondary rate limit.'),
    { kind: 'limited', retryAt: inAMinute },
  ],
  [
    '403 for too many statuses and comments',
    http(
      403,
      {},
      'You have exceeded a secondary rate limit and have been temporarily blocked from content creation.',
    ),
    { kind: 'limited', isSecondary: true, isContentCreation: true },
  ],
  [
    'a primary limit',
    http(403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(now / 1000 + 900) }),
    { kind: 'limited', retryAt: now + 900_000, isSecondary: false, isContentCreation: false },
  ],
  [
    'a primary limit without a reset',
    http(403, { 'x-ratelimit-remaining': '0' }),
    { kind: 'limited', retryAt: inAMinute },
  ],
  [
    'GraphQL RATE_LIMITED',
    graphql(['RATE_LIMITED'], { 'x-ratelimit-reset': String(now / 1000 + 900) }),
    { kind: 'limited', retryAt: now + 900_000 },
  ],
  [
    'GraphQL RATE_LIMITED without a reset',
    graphql(['RATE_LIMITED']),
    { kind: 'limited', retryAt: inAMinute },
  ],
  [
    'GraphQL RATE_LIMITED with a pause',
    graphql(['RATE_LIMITED'], { 'retry-after': '90', 'x-ratelimit-reset': String(now / 1000 + 900) }),
    { kind: 'limited', retryAt: now + 90_000, of: 'all', isSecondary: true },
  ],
  [
    'a secondary limit of GraphQL with status 200',
    graphql([undefined], { 'retry-after': '90', 'x-ratelimit-reset': String(now / 1000 + 900) }, tooFast),
    { kind: 'limited', retryAt: now + 90_000, of: 'all', isSecondary: true },
  ],
  [
    'the same without a pause',
    graphql(['RATE_LIMITED'], { 'x-ratelimit-reset': String(now / 1000 + 900) }, tooFast),
    { kind: 'limited', retryAt: inAMinute, of: 'all', isSecondary: true },
  ],
  [
    'abuse detection, as older Enterprise Servers call it',
    http(403, {}, 'You have triggered an abuse detection mechanism. Please wait a few minutes.'),
    { kind: 'limited', retryAt: inAMinute, of: 'all', isSecondary: true },
  ],
  ['GraphQL NOT_FOUND', graphql(['NOT_FOUND']), { kind: 'absent' }],
  ['GraphQL FORBIDDEN', graphql(['FORBIDDEN']), { kind: 'forbidden' }],
  ['GraphQL anything else', graphql(['SERVICE_UNAVAILABLE']), { kind: 'down' }],
  ['a timeout', timeout, { kind: 'down' }],
  [
    'a connection reset',
    Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNRESET' } }),
    { kind: 'down' },
  ],
  ['a text', 'what?', { kind: 'down', message: 'what?' }],
])('%s', (_name, error, failure) => {
  expect(classifyGitHubError(error, now)).toMatchObject(failure);
});

test.each<[string, RequestError, object]>([
  [
    'a permission',
    http(403, needs('administration=read; contents=read,metadata=read'), notAccessible),
    { permission: 'administration: read, or contents: read and metadata: read' },
  ],
  [
    'something that takes no permission',
    http(403, needs('allows_permissionless_access=true'), notAccessible),
    {},
  ],
  [
    'another reason, where the answer names the permission of the request, too',
    http(403, needs('statuses=write'), 'Repository was archived so is read-only.'),
    {},
  ],
  [
    'the plan of the account',
    http(403, needs('metadata=read'), `${upgrade} - https://docs.github.com/rest/repos/rules`),
    { upgrade },
  ],
])('GitHub refuses for %s', (_reason, error, missing) => {
  expect(classifyGitHubError(error, now)).toEqual({ kind: 'forbidden', message: error.message, ...missing });
});
