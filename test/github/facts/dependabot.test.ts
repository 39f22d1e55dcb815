import { expect, test } from 'vitest';
import { dependabotMetadata, readDependabot, type CommitAnswer } from '../../../src/github/facts/commits.ts';
import { known, unknownFact } from '../../../src/github/pull-requests/pull-request.ts';

const message = `Bump the house group across 1 directory with 3 updates

Bumps the house group with 3 updates.

Updates \`roof\` from 1.0.0 to 1.0.1

---
updated-dependencies:
- dependency-name: roof
  dependency-version: 1.0.1
  dependency-type: direct:production
  update-type: version-update:semver-patch
  dependency-group: house
- dependency-name: "@types/node"
  dependency-version: 24.0.0
  dependency-type: direct:development
  update-type: version-update:semver-major
  dependency-group: house
- dependency-name: 'it''s'
  dependency-type: direct:production
...

Signed-off-by: dependabot[bot] <support@github.com>`;

const all = {
  names: ['roof', '@types/node', "it's"],
  types: ['direct:production', 'direct:development'],
  updates: ['version-update:semver-patch', 'version-update:semver-major'],
};

test('the block in the message is read, each value once', () => {
  expect(dependabotMetadata([message])).toEqual(all);
  expect(dependabotMetadata([message.replaceAll('\n', '\r\n')])).toEqual(all);
  expect(dependabotMetadata([message.slice(0, message.indexOf('\n\nSigned'))])).toEqual(all);
});

test('the blocks of several commits are read together', () => {
  const other = '---\nupdated-dependencies:\n- dependency-name: wall\n  dependency-type: indirect\n...';
  expect(dependabotMetadata(['Merge', message, other])?.names).toEqual([...all.names, 'wall']);
});

test.each([
  ['no block', 'Bump roof'],
  ['no list', '---\nsomething: else\n...\n'],
  ['no end', message.replace('\n...\n', '\n')],
  ['no beginning', message.replace('---\n', '')],
])('%s is none', (_what, text) => {
  expect(dependabotMetadata([text])).toBeNull();
});

test('lines outside the block and keys of other kinds are not read', () => {
  const text = `- dependency-name: before\n${message}\n- dependency-name: after\n  update-type: none`;
  expect(dependabotMetadata([text])).toEqual(all);
});

const signature = { isValid: true, wasSignedByGitHub: true };
const author = { name: 'dependabot[bot]', email: null, date: null, user: { login: 'dependabot[bot]' } };
const commit = (more: Partial<CommitAnswer> = {}): CommitAnswer => ({
  message,
  author,
  committer: null,
  signature,
  parents: { totalCount: 1 },
  ...more,
});

test.each<[string, Partial<CommitAnswer>]>([
  ['by somebody else', { author: { ...author, user: { login: 'mallory' } } }],
  ['by the user Dependabot', { author: { ...author, user: { login: 'dependabot' } } }],
  ['by nobody that GitHub knows', { author: { ...author, user: null } }],
  ['without an author', { author: null }],
  ['without a signature', { signature: null }],
  ['with a bad signature', { signature: { ...signature, isValid: false } }],
  ['with a signature of somebody else', { signature: { ...signature, wasSignedByGitHub: false } }],
])('one commit %s, and no other says what Dependabot updates', (_what, more) => {
  const others = Array.from({ length: 150 }, () => commit());
  expect(readDependabot('dependabot[bot]', known([...others, commit(more)]))).toEqual(
    unknownFact('not every commit of it is by Dependabot and verified'),
  );
  expect(readDependabot('dependabot[bot]', known([commit(more), ...others])).known).toBe(false);
  expect(readDependabot('dependabot[bot]', known(others)).known).toBe(true);
});

test('only Dependabot updates dependencies', () => {
  const commits = known([commit()]);
  const values = (names: object) => ({ known: true, value: names });
  const none = {
    'dependabot-dependency-name': [],
    'dependabot-dependency-type': [],
    'dependabot-update-type': [],
  };
  expect(readDependabot('dependabot[bot]', commits)).toEqual(
    values({
      'dependabot-dependency-name': all.names,
      'dependabot-dependency-type': all.types,
      'dependabot-update-type': all.updates,
    }),
  );
  expect(readDependabot('dependabot', commits)).toEqual(values(none));
  expect(readDependabot(null, unknownFact('no commits'))).toEqual(values(none));
  expect(readDependabot('dependabot[bot]', unknownFact('no commits'))).toEqual(unknownFact('no commits'));
  expect(readDependabot('dependabot[bot]', known([]))).toEqual(
    unknownFact('no commit of it says what Dependabot updates'),
  );
});
