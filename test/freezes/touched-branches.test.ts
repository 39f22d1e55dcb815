import { expect, test } from 'vitest';
import { excludedBranches, namedBranches, onlyBranches } from '../../src/freezes/judge-freeze.ts';
import type { ConditionInput } from '../../src/conditions/ast.ts';

test.each<[ConditionInput[], string[], string[] | null]>([
  [[], [], null],
  [['base=main'], ['main'], ['main']],
  [['base:main', 'label=x'], ['main'], ['main']],
  [[{ or: ['base=main', 'base=next'] }], ['main', 'next'], ['main', 'next']],
  [[{ or: ['base=main', 'label=x'] }], ['main'], null],
  [[{ or: ['base=main', { and: ['label=x', 'base=next'] }] }], ['main', 'next'], ['main', 'next']],
  [
    [{ or: ['base=main', 'base=next'] }, { or: ['base=next', 'base=old'] }],
    ['main', 'next', 'old'],
    ['next'],
  ],
  [['base=main', 'base=next'], ['main', 'next'], []],
  [['-base=main'], [], null],
  [['base!=main'], [], null],
  [[{ not: 'base=main' }], [], null],
  [['base~=^main'], [], null],
  [['base*=release/*'], [], null],
  [['head=main'], [], null],
  [['base={{ author }}'], [], null],
])('%j names %j and touches only %j', (matchingConditions, named, only) => {
  expect(namedBranches({ matchingConditions })).toEqual(named);
  expect(onlyBranches({ matchingConditions })).toEqual(only);
});

test.each<[ConditionInput[], string[]]>([
  [[], []],
  [['base=main'], ['main']],
  [[{ or: ['base=main', 'base=next'] }], ['main', 'next']],
  [['base=main', 'label=x'], []],
  [[{ or: ['base=main', 'label=x'] }], []],
  [['base=main', 'base=next'], []],
  [['-base=main'], []],
  [[{ not: 'base=main' }], []],
  [['base~=^main'], []],
  [['nonsense'], []],
])('where %j is excluded a freeze leaves %j alone', (excludeConditions, expected) => {
  expect(excludedBranches({ excludeConditions })).toEqual(expected);
});

test('unreadable conditions name nothing and can touch anything', () => {
  const matchingConditions = ['nonsense'];
  expect(namedBranches({ matchingConditions })).toEqual([]);
  expect(onlyBranches({ matchingConditions })).toBeNull();
});
