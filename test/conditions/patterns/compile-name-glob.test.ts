import { expect, test } from 'vitest';
import { compileNameGlob, isPlainName } from '../../../src/conditions/patterns/compile-name-glob.ts';

test.each([
  ['*', 'web', true],
  ['*', 'production/eu', true],
  ['prod*', 'Production/eu', true],
  ['WEB', 'web', true],
  ['web', 'webs', false],
  ['we?', 'web', true],
  ['we?', 'we', false],
  ['[a-c]pi', 'BPI', true],
  ['{api,lib}-*', 'lib-1', true],
  ['{api,lib}-*', 'app-1', false],
  ['.github', 'xgithub', false],
  ['sandbox-*', 'sandbox', false],
  ['prod [eu]', 'Prod [EU]', true],
  ['prod [eu]', 'prod e', true],
  ['prod{a}', 'prod{a}', true],
  ['prod{a}', 'proda', true],
  ['50% of {eu,us}', '50% of {eu,us}', true],
  ['[!a]', '[!a]', true],
])('%s over %s: %s', (glob, name, expected) => {
  expect(compileNameGlob(glob)(name)).toBe(expected);
});

test('a hostile glob is answered, although trying all ways to read it would never end', () => {
  expect(compileNameGlob(`${'*a'.repeat(200)}b`)('a'.repeat(100))).toBe(false);
});

test('a glob without special characters names one thing', () => {
  expect(['web', 'a.b-c_d', 'we?', '{a,b}', '[a]', '*'].map(isPlainName)).toEqual([
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
});
