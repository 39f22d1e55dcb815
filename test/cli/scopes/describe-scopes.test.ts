import { expect, test } from 'vitest';
import { rowsOfDiff } from '../../../src/cli/scopes/diff-scopes.ts';

test('of the paths that touch a scope, three are shown and the others counted', () => {
  const scopes = new Map([
    ['few', ['a', 'b', 'c']],
    ['many', ['a', 'b', 'c', 'd', 'e']],
  ]);
  expect(rowsOfDiff({ scopes, all: [] } as unknown as Parameters<typeof rowsOfDiff>[0])).toEqual([
    ['few', 'a, b, c'],
    ['many', 'a, b, c and 2 more'],
  ]);
});
