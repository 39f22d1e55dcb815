import { expect, test } from 'vitest';
import { readRequiredChecks } from '../../../src/github/facts/checks.ts';

const page = { hasNextPage: false, endCursor: null };
const rule = (...contexts: string[]) => ({
  type: 'REQUIRED_STATUS_CHECKS',
  parameters: { requiredStatusChecks: contexts.map((context) => ({ context })) },
});

test('contexts of the protection and of every rule, each once', () => {
  const rules = {
    nodes: [
      rule('lint', 'e2e'),
      { type: 'PULL_REQUEST', parameters: {} },
      { type: 'DELETION', parameters: null },
      rule('x'),
    ],
    pageInfo: page,
  };
  const refUpdateRule = { requiredStatusCheckContexts: ['build', null, 'lint'] };
  expect(readRequiredChecks({ refUpdateRule, rules })).toEqual({
    known: true,
    value: ['build', 'lint', 'e2e', 'x'],
  });
});

test('a branch without protection requires none', () => {
  const rules = { nodes: [], pageInfo: page };
  const none = { known: true, value: [] };
  expect(readRequiredChecks({ refUpdateRule: null, rules })).toEqual(none);
  expect(readRequiredChecks({ refUpdateRule: { requiredStatusCheckContexts: null }, rules })).toEqual(none);
});

test('what GitHub did not give is not none', () => {
  const missing = { known: false, reason: 'GitHub did not give its required checks' };
  const refUpdateRule = null;
  expect(readRequiredChecks(null)).toEqual(missing);
  expect(readRequiredChecks({ refUpdateRule, rules: null })).toEqual(missing);
  expect(readRequiredChecks({ refUpdateRule, rules: { nodes: null, pageInfo: page } })).toEqual(missing);
  expect(readRequiredChecks({ refUpdateRule, rules: { nodes: [null], pageInfo: page } })).toEqual(missing);
  const more = { hasNextPage: true, endCursor: 'x' };
  expect(readRequiredChecks({ refUpdateRule, rules: { nodes: [], pageInfo: more } })).toEqual(missing);
});
