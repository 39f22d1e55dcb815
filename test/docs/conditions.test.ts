import { expect, test } from 'vitest';
import { attributeNames, attributeOf } from '../../src/conditions/attributes.ts';
import { parseConditions } from '../../src/conditions/parse-conditions.ts';
import { between, documentAt, rowsOf } from './documents.ts';

const conditions = documentAt('docs/conditions.md');
const types = { boolean: 'boolean', string: 'text', list: 'list' };

test('every attribute is described, with its type, and no other', () => {
  const rows = rowsOf(conditions.slice(conditions.search(/^\| attribute/m)).split('\n\n')[0]!);
  const described = rows.map(([name, type]) => [name!.replaceAll('`', ''), type]);
  expect(described).toEqual(attributeNames.map((name) => [name, types[attributeOf(name).type]]));
});

test('every condition that is shown as an example can be read', () => {
  const examples = [...between(conditions, 'Examples:', '\n').matchAll(/`([^`]+)`/g)].map((m) => m[1]!);
  const groups = between(conditions, '```json\n', '```')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
  expect(examples.length).toBeGreaterThan(3);
  expect(groups).toHaveLength(3);
  expect(parseConditions([...examples, ...groups], [])).toMatchObject({ ok: true });
});

test('the refusal that is shown is the one that is sent', () => {
  const result = parseConditions(['labels=risky'], ['body', 'matching_conditions']);
  if (result.ok) throw new Error('it was read');
  const { message, column } = result.problems[0]!;
  expect(conditions).toContain(JSON.stringify(`${message} (column ${column})`));
});
