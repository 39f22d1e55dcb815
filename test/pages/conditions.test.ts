import { expect, test } from 'vitest';
import type { ConditionInput } from '../../src/conditions/ast.ts';
import { inOneLine } from '../../src/pages/repository/conditions.ts';

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
