import { expect, test } from 'vitest';
import { withGeneratedParts } from '../../docs/write-attributes.ts';
import { attributeNames, commitFields } from '../../src/conditions/attributes.ts';
import { parseConditions } from '../../src/conditions/parse-conditions.ts';
import { between, documentAt } from './documents.ts';

const conditions = documentAt('docs/conditions.md');

test('the generated parts agree with the code (`npm run docs`)', async () => {
  expect(conditions).toBe(await withGeneratedParts(conditions));
});

test('every attribute and every field of a commit is described', () => {
  for (const name of attributeNames) expect(conditions).toMatch(new RegExp(`^\\| \`#?${name}\` `, 'm'));
  for (const field of Object.keys(commitFields)) expect(conditions).toContain(`\`${field}\` (`);
});

test('every condition in an example can be read', () => {
  const isCondition = (text: string) =>
    /^[-#]*[a-z][\w-]*(\[.+?\]\.\w+)?\s*([=<>]|!=|[~*]=)/.test(text) && !text.includes('…');
  const examples = [...conditions.matchAll(/`([^`\n]+)`/g)].map((match) => match[1]!).filter(isCondition);
  const groups = between(conditions, '```json\n', '```')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
  expect(examples.length).toBeGreaterThan(20);
  expect(groups).toHaveLength(3);
  expect(parseConditions([...examples, ...groups], [])).toMatchObject({ ok: true });
});

test('the refusal on the page is the one that is sent', () => {
  const result = parseConditions(['labels=risky'], ['body', 'matching_conditions']);
  if (result.ok) throw new Error('it was read');
  const { message, column } = result.problems[0]!;
  expect(conditions).toContain(JSON.stringify(`${message} (column ${column})`));
});
