import { describe, expect, test } from 'vitest';
import type { Leaf } from '../../src/conditions/ast.ts';
import {
  deepest,
  mostConditions,
  mostItems,
  parseConditions,
} from '../../src/conditions/parse-conditions.ts';

const problemsOf = (input: unknown) => {
  const result = parseConditions(input, ['body', 'matching_conditions']);
  return result.ok ? [] : result.problems;
};

function leafOf(text: string): Leaf {
  const result = parseConditions([text], []);
  if (!result.ok) throw new Error(result.problems[0]!.message);
  return result.conditions[0] as Leaf;
}

describe('one condition', () => {
  test.each([
    ['base=main', { attribute: 'base', isNegated: false, test: { operator: '=', value: 'main' } }],
    ['base:main', { test: { operator: '=', value: 'main' } }],
    ['base==main', { test: { operator: '=', value: 'main' } }],
    ['base!=main', { test: { operator: '!=', value: 'main' } }],
    ['base≠main', { test: { operator: '!=', value: 'main' } }],
    ['-base=main', { isNegated: true }],
    ['¬base=main', { isNegated: true }],
    ['  -  base  =  main  ', { attribute: 'base', isNegated: true, test: { operator: '=', value: 'main' } }],
    ['author=', { test: { operator: '=', value: '' } }],
    ['author=dependabot[bot]', { test: { operator: '=', value: 'dependabot[bot]' } }],
    ['author=jane_acme', { test: { operator: '=', value: 'jane_acme' } }],
    ['title="Fix the roof"', { test: { operator: '=', value: 'Fix the roof' } }],
    [`title='"quoted"'`, { test: { operator: '=', value: '"quoted"' } }],
    [`title=it's`, { test: { operator: '=', value: `it's` } }],
    ['title=a=b', { test: { operator: '=', value: 'a=b' } }],
    ['label=label', { test: { operator: '=', value: 'label' } }],
    ['draft', { attribute: 'draft', test: { operator: 'is-true' } }],
    ['-draft', { attribute: 'draft', isNegated: true }],
    ['scope=api', { attribute: 'scope' }],
  ])('%s is read', (text, expected) => {
    expect(leafOf(text)).toMatchObject({ kind: 'leaf', text, ...expected });
  });

  test.each([
    ['', 1, 'Condition empty.'],
    ['   ', 3, 'Condition empty.'],
    ['-', 1, 'Incomplete condition.'],
    ['#', 1, 'Incomplete condition.'],
    ['-#', 2, 'Incomplete condition.'],
    ['base', 4, 'Incomplete condition: `base` needs one of `=`, `!=`, `~=` and a value.'],
    ['#-', 2, 'Invalid attribute.'],
    ['#-label=x', 2, 'Invalid attribute.'],
    ['foo=bar', 1, 'Invalid attribute. Known are `author`, `base`,'],
    ['labl=x', 1, 'Invalid attribute. Did you mean `label`?'],
    ['  -lables=x', 4, 'Invalid attribute. Did you mean `label`?'],
    ['__proto__=x', 1, 'Invalid attribute.'],
    ['constructor=x', 1, 'Invalid attribute.'],
    ['toString', 1, 'Invalid attribute.'],
    ['label @ x', 7, 'Invalid operator.'],
    ['draft=true', 6, 'Operators are invalid for Boolean attribute: `draft`.'],
    ['#draft', 1, '`#` modifier is invalid for attribute: `draft`.'],
    ['-#label>=2', 2, 'The `#` modifier is not supported yet.'],
    ['files*=src/**', 6, 'The operator `*=` is not supported for `files`'],
    ['label>=x', 6, 'The operator `>=` is not supported for `label`'],
    ['label≥x', 6, 'The operator `≥` is not supported for `label`'],
    ['label<x', 6, 'The operator `<` is not supported for `label`'],
    ['body=x', 1, 'The attribute `body` is not supported yet.'],
    ['head-repo-full-name=x', 1, 'The attribute `head-repo-full-name` is not supported yet.'],
    ['-merged-at>=2021-04-05', 2, 'The attribute `merged-at` is not supported yet.'],
    ['commits[0].author=x', 1, 'The attribute `commits` is not supported yet.'],
    ['base=a b', 6, 'Invalid branch name.'],
    ['head=a..[b', 6, 'Invalid branch name.'],
    ['base=release/*', 6, 'Invalid branch name.'],
    ['author=%x', 8, 'Invalid GitHub login.'],
    ['author=@acme/admins', 8, 'Teams are not supported yet: name the logins.'],
    ['author~=@acme/admins', 9, 'Teams are not supported yet: name the logins.'],
    ['label={{author}}', 7, 'The template `{{ author }}` is not supported yet.'],
    ['title="a', 7, 'Unbalanced quotes.'],
    [`title="a'`, 7, 'Unbalanced quotes.'],
    ['title="', 7, 'Unbalanced quotes.'],
    ['head~=(lol', 7, 'Invalid regular expression: '],
    ['head~=(?=a)', 7, 'Invalid regular expression: '],
    ['head~=a{600}b{600}', 7, 'Invalid regular expression: its repetitions add up to more than 1000.'],
  ])('%s is refused at column %i: %s', (text, column, message) => {
    const [problem, ...others] = problemsOf([text]);
    expect(others).toEqual([]);
    expect(problem).toMatchObject({ path: ['body', 'matching_conditions', 0], column });
    expect(problem!.message).toContain(`Invalid condition '${text}'. ${message}`);
    expect(problem!.message).not.toMatch(/\?\.$/);
  });

  test('a long one is shortened in the message', () => {
    expect(problemsOf(['x'.repeat(10_000)])[0]!.message.length).toBeLessThan(300);
  });
});

describe('groups', () => {
  test('and, or and not are read, not over text and over a group', () => {
    const result = parseConditions(
      [{ or: ['base=main', { and: ['draft', { not: 'label=a' }] }] }, { not: { or: ['label=b'] } }],
      [],
    );
    expect(result).toMatchObject({
      ok: true,
      conditions: [
        { kind: 'or', nodes: [{ kind: 'leaf' }, { kind: 'and', nodes: [{}, { kind: 'not' }] }] },
        { kind: 'not', node: { kind: 'or', nodes: [{ text: 'label=b' }] } },
      ],
    });
  });

  test('every bad condition is named, with its path', () => {
    const problems = problemsOf([
      'base=main',
      'nope',
      { or: ['draft=1', { not: 'labl=x' }, { and: [] }] },
      { not: { and: ['ok', 'title=fine'] } },
    ]);
    expect(problems.map(({ path, column }) => [path.slice(2).join('.'), column])).toEqual([
      ['1', 1],
      ['2.or.0', 6],
      ['2.or.1.not', 1],
      ['2.or.2', null],
      ['3.not.and.0', 1],
    ]);
  });

  const oneKey = 'A group of conditions has exactly one of the keys';
  test.each<[string, unknown, string]>([
    ['no key', {}, oneKey],
    ['two keys', { and: ['draft'], or: ['draft'] }, oneKey],
    ['an unknown key', { nor: ['draft'] }, oneKey],
    ['a key beside', { and: ['draft'], why: 'x' }, oneKey],
    ['__proto__', JSON.parse('{"__proto__": {"and": ["draft"]}}'), oneKey],
    ['__proto__ beside', JSON.parse('{"and": ["draft"], "__proto__": 1}'), oneKey],
    ['constructor', { constructor: ['draft'] }, oneKey],
    ['an empty and', { and: [] }, '`and` needs at least one condition.'],
    ['an empty or', { or: [] }, '`or` needs at least one condition.'],
    ['and over text', { and: 'draft' }, 'Send a list of conditions.'],
    ['or over null', { or: null }, 'Send a list of conditions.'],
    ['not over a list', { not: ['draft'] }, 'A condition is a string, or an object'],
    ['a number', 7, 'A condition is a string, or an object'],
    ['null', null, 'A condition is a string, or an object'],
    ['a list', ['draft'], 'A condition is a string, or an object'],
  ])('%s is refused', (_name, item, message) => {
    const [problem] = problemsOf([item]);
    expect(problem!.message).toContain(message);
    expect(problem!.column).toBeNull();
  });

  test.each([undefined, null, 'draft', 7, {}])('%j is not a list of conditions', (input) => {
    expect(problemsOf(input)).toEqual([
      { path: ['body', 'matching_conditions'], message: 'Send a list of conditions.', column: null },
    ]);
  });

  const nested = (depth: number) =>
    Array.from({ length: depth }).reduce<unknown>((inner) => ({ not: inner }), 'draft');

  test('the depth has an end', () => {
    expect(problemsOf([nested(deepest)])).toEqual([]);
    expect(problemsOf([nested(deepest + 1)])[0]!.message).toMatch(/at most 10 levels deep/);
    expect(problemsOf([nested(100_000)])).toHaveLength(1);
  });

  test('a list has an end', () => {
    expect(problemsOf(Array(mostItems).fill('draft'))).toEqual([]);
    expect(problemsOf(Array(mostItems + 1).fill('draft'))[0]!.message).toMatch(/at most 500 conditions/);
    expect(problemsOf([{ or: Array(mostItems + 1).fill('draft') }])[0]!.path.at(-1)).toBe('or');
  });

  test('all groups together have an end, and so have the problems', () => {
    const groups = (text: string, count: number) => Array(count).fill({ or: Array(mostItems).fill(text) });
    expect(problemsOf(groups('draft', mostConditions / mostItems))).toEqual([]);
    expect(problemsOf(groups('draft', 5))).toEqual([
      {
        path: ['body', 'matching_conditions'],
        message: 'Send at most 2000 conditions in all.',
        column: null,
      },
    ]);
    expect(problemsOf(groups('bad', 500))).toHaveLength(mostConditions + 1);
    expect(problemsOf(Array(500).fill({ or: Array(500).fill({}) }))).toHaveLength(mostConditions + 1);
  });
});
