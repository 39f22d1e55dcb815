import { describe, expect, test } from 'vitest';
import { type JobOfToken, jobInToken, type OidcRule, ruleFor } from '../../../src/auth/oidc/oidc-rule.ts';

const job = (more: Partial<JobOfToken> = {}): JobOfToken => ({
  repository: 'acme/web',
  repositoryId: 1n,
  ownerId: 2n,
  ref: 'refs/heads/main',
  environment: null,
  event: 'push',
  workflow: 'ci.yml',
  runId: '4711',
  attempt: '1',
  ...more,
});

const rule = (more: Partial<OidcRule> = {}): OidcRule => ({
  id: crypto.randomUUID(),
  name: 'rule',
  repositories: null,
  refs: null,
  environments: null,
  may: ['push_scopes'],
  createdAt: new Date(0),
  createdBy: { type: 'user', id: 1, name: 'ada' },
  ...more,
});

const letsIn = (more: Partial<OidcRule>, of: Partial<JobOfToken> = {}) =>
  ruleFor(job(of), [rule(more)]) !== null;

describe('repositories', () => {
  test.each([
    [null, true],
    [['web'], true],
    [['WEB'], true],
    [['api-*', 'w?b'], true],
    [['*'], true],
    [['api-*'], false],
    [['we'], false],
    [['acme/web'], false],
  ])('%j: %s', (repositories, wanted) => expect(letsIn({ repositories })).toBe(wanted));
});

describe('refs are compared with case, and a star ends at a slash', () => {
  test.each([
    [['refs/heads/main'], 'refs/heads/main', true],
    [['refs/heads/main'], 'refs/heads/Main', false],
    [['refs/heads/main'], 'refs/heads/main2', false],
    [['refs/heads/release/*'], 'refs/heads/release/1.0', true],
    [['refs/heads/*'], 'refs/heads/release/1.0', false],
    [['refs/heads/**'], 'refs/heads/release/1.0', true],
    [['refs/tags/v*'], 'refs/heads/v1', false],
    [['refs/pull/*/merge'], 'refs/pull/5/merge', true],
    [['refs/heads/main'], 'refs/pull/5/merge', false],
    // A branch can have this name. Its ref still begins with refs/heads/.
    [['refs/tags/*'], 'refs/heads/refs/tags/v1', false],
    [['**'], 'refs/pull/5/merge', true],
  ])('%j and %s: %s', (refs, ref, wanted) => expect(letsIn({ refs }, { ref })).toBe(wanted));

  test('a run of pull_request_target has the ref of a branch, and can run the code of a stranger', () => {
    const target = { event: 'pull_request_target' };
    expect(letsIn({ refs: ['refs/heads/main'] }, target)).toBe(false);
    expect(letsIn({ refs: ['**'] }, target)).toBe(false);
    expect(letsIn({ refs: null }, target)).toBe(true);
  });
});

describe('environments', () => {
  test.each([
    [null, null, true],
    [null, 'production', true],
    [['production'], 'production', true],
    [['production'], 'Production', true],
    [['production'], 'staging', false],
    [['production'], null, false],
    [['**'], null, false],
    [['prod-*'], 'prod-eu', true],
  ])('%j and %s: %s', (environments, environment, wanted) =>
    expect(letsIn({ environments }, { environment })).toBe(wanted),
  );
});

test('everything that a rule names must match', () => {
  const all = { repositories: ['web'], refs: ['refs/heads/main'], environments: ['production'] };
  const good = { environment: 'production' };
  expect(letsIn(all, good)).toBe(true);
  expect(letsIn(all, { ...good, repository: 'acme/api' })).toBe(false);
  expect(letsIn(all, { ...good, ref: 'refs/heads/dev' })).toBe(false);
  expect(letsIn(all, { environment: 'staging' })).toBe(false);
});

test('of several rules, the first of those that allow most counts', () => {
  const [scopes, first, second] = [
    rule(),
    rule({ may: ['push_scopes', 'freeze'] }),
    rule({ may: ['push_scopes', 'freeze'] }),
  ];
  expect(ruleFor(job(), [scopes!, first!, second!])).toBe(first);
  expect(ruleFor(job(), [scopes!, rule()])).toBe(scopes);
  expect(ruleFor(job(), [])).toBeNull();
});

test('a token without a required claim belongs to no job', () => {
  const claims = {
    repository: 'acme/web',
    repository_id: '1',
    repository_owner_id: '2',
    ref: 'refs/heads/main',
    event_name: 'push',
    workflow_ref: 'acme/web/.github/workflows/ci.yml@refs/heads/a/b',
    run_id: '4711',
    run_attempt: '1',
  };
  expect(jobInToken(claims)).toEqual(job());
  for (const name of Object.keys(claims)) {
    expect(jobInToken({ ...claims, [name]: undefined }), name).toBeNull();
    expect(jobInToken({ ...claims, [name]: 7 }), name).toBeNull();
  }
  expect(jobInToken({ ...claims, repository_id: '1e3' })).toBeNull();
  expect(jobInToken({ ...claims, environment: '' })).toBeNull();
});
