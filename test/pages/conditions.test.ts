import { expect, test } from 'vitest';
import type { ConditionInput } from '../../src/conditions/ast.ts';
import type { Freeze } from '../../src/freezes/freeze.ts';
import { inOneLine } from '../../src/conditions/sentence.ts';
import { whatItHolds } from '../../src/pages/held.ts';

test('of many conditions, all are in a list that opens', () => {
  const many = Array.from({ length: 8 }, (_, index) => `label=${index}`);
  const matchingConditions = [...many, { not: 'draft' }, { not: { or: many } }];
  const shown = String(
    whatItHolds({ matchingConditions, excludeConditions: [], holds: ['merges'] } as unknown as Freeze),
  );
  const list = shown
    .slice(shown.indexOf('All 17 conditions'))
    .replace(/<[^>]*>|\s+/g, ' ')
    .replace(/ +/g, ' ');
  expect(list).toContain('not draft not this: any of these: label=0 label=1');
});

test.each<[ConditionInput[], string]>([
  [[], 'everything'],
  [['base=main'], 'base=main'],
  [['base=main', '-draft'], 'base=main and -draft'],
  [[{ or: ['base=main', 'label=x'] }], 'base=main or label=x'],
  [[{ or: ['base=main', 'label=x'] }, 'draft'], '(base=main or label=x) and draft'],
  [[{ or: [{ and: ['base=main', 'draft'] }, 'label=x'] }], '(base=main and draft) or label=x'],
  [[{ not: 'draft' }], 'not draft'],
  [[{ not: { and: ['draft', 'label=x'] } }], 'not (draft and label=x)'],
  [[{ or: [] }], 'nothing'],
])('%j reads as: %s', (conditions, sentence) => expect(inOneLine(conditions)).toBe(sentence));
