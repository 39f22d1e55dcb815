import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Sandbox } from '../sandbox/github.ts';
import { acmeForAll } from './support/acme.ts';

const acme = acmeForAll();
const dependabot = 'dependabot[bot]';
const message = `Bump roof from 1.0.0 to 1.0.1

---
updated-dependencies:
- dependency-name: roof
  update-type: version-update:semver-patch
...
`;
const bump = { author: dependabot, head: 'dependabot/npm/roof-1.0.1', commits: [{ message }] };
const byCommits = [`author=${dependabot}`, 'dependabot-update-type=version-update:semver-patch'];
const andByPush = [...byCommits, `last-pushed-by=${dependabot}`];

beforeAll(() => {
  acme.github.addBot('dependabot');
});
afterEach(() => acme.github.faults.clear());

type Commit = NonNullable<NonNullable<Parameters<Sandbox['push']>[2]>['commit']>;

/** Bob can push to every branch. */
async function bobPushes(repository: string, commit: Commit = {}) {
  acme.github.push(repository, 1, { by: 'bob', commit });
  await acme.quiet();
}

const unjudged = (why: string) => ({
  state: 'pending',
  description: `Frozen until removed: could not be judged: ${why}`,
});
const notAll = unjudged('not every commit of it is by Dependabot and verified');

test.each<[string, Commit]>([
  ['of his own', {}],
  ['in the name of Dependabot, unsigned', { author: dependabot, verified: false }],
  ['in the name of Dependabot, signed by himself', { author: dependabot }],
  ['with what Dependabot writes', { message }],
])('a commit %s ends an exclusion of Dependabot’s updates', async (name, commit) => {
  const repository = await acme.repository(name.replaceAll(/\W+/g, '-'), [bump]);
  await acme.freeze(repository, { exclude_conditions: byCommits });
  expect(acme.frozen(repository)).toEqual([]);
  acme.github.push(repository, 1, { by: dependabot });
  await acme.quiet();
  expect(acme.frozen(repository)).toEqual([]);
  await bobPushes(repository, commit);
  expect(acme.shown(repository, 1)).toEqual(notAll);
  expect(acme.github.mergeable(repository, 1)).toBe('blocked');
});

test('an exclusion of all but major updates ends too, and such a commit can be far from the head', async () => {
  const commits = Array.from({ length: 130 }, (_, at) => (at === 120 ? { author: 'bob' } : { message }));
  const repository = await acme.repository('many', [{ ...bump, commits: commits.with(120, { message }) }]);
  const foreign = await acme.repository('foreign', [{ ...bump, commits }]);
  for (const each of [repository, foreign])
    await acme.freeze(each, {
      exclude_conditions: [`author=${dependabot}`, 'dependabot-update-type!=version-update:semver-major'],
    });
  expect(acme.frozen(repository)).toEqual([]);
  expect(acme.shown(foreign, 1)).toEqual(notAll);
});

describe('a commit in the name of Dependabot that GitHub itself signed', () => {
  const forged = { author: dependabot, signedByGitHub: true };

  test('looks like Dependabot’s, and the last push does not', async () => {
    const repository = await acme.repository('forged', [bump]);
    const { id } = await acme.freeze(repository, { exclude_conditions: byCommits });
    await bobPushes(repository, forged);
    expect(acme.frozen(repository)).toEqual([]);
    await acme.update(repository, id, { exclude_conditions: andByPush });
    expect(acme.frozen(repository)).toEqual([1]);
    acme.github.push(repository, 1, { by: dependabot });
    await acme.quiet();
    expect(acme.frozen(repository)).toEqual([]);
    await bobPushes(repository, forged);
    expect(acme.frozen(repository)).toEqual([1]);
  });

  test('is held while GitHub does not tell who pushed it', async () => {
    const repository = await acme.repository('silent', [bump, { fork: true }]);
    acme.github.faults.add({ kind: 'status', status: 404, match: { path: /\/activity/ } });
    const { id } = await acme.freeze(repository, {
      exclude_conditions: ['last-pushed-by!=bob'],
    });
    expect(acme.shown(repository, 1)).toEqual(unjudged('GitHub did not give its last push'));
    expect(acme.shown(repository, 2)).toEqual(unjudged('Holdfast cannot read who pushes to a fork'));
    acme.github.faults.clear();
    await acme.update(repository, id, { exclude_conditions: ['last-pushed-by!=eve'] });
    expect(acme.frozen(repository)).toEqual([2]);
  });
});
