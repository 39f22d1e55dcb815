import { expect, test } from 'vitest';
import { readFiles } from '../../../src/github/facts/files.ts';

test('paths by how they changed', () => {
  const values = readFiles([
    { path: 'new', status: 'added' },
    { path: 'gone', status: 'removed' },
    { path: 'same', status: 'modified' },
    { path: 'mode', status: 'changed' },
    { path: 'to', status: 'renamed', previousPath: 'from' },
    { path: 'copy', status: 'copied', previousPath: 'source' },
  ]);
  expect(values).toEqual({
    files: ['new', 'gone', 'same', 'mode', 'to', 'copy', 'from'],
    'added-files': ['new', 'to', 'copy'],
    'removed-files': ['gone', 'from'],
    'modified-files': ['same', 'mode'],
    'mergify-configuration-changed': false,
  });
});

test.each([
  ['.mergify.yml', true],
  ['.mergify/config.yml', true],
  ['.github/mergify.yml', true],
  ['docs/.mergify.yml', false],
])('%s is a configuration: %s', (path, expected) => {
  const changed = (file: object) =>
    readFiles([{ path, status: 'modified', ...file }])['mergify-configuration-changed'];
  expect(changed({})).toBe(expected);
  expect(changed({ path: 'old.yml', status: 'renamed', previousPath: path })).toBe(expected);
});
