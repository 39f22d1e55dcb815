import { describe, expect, test } from 'vitest';
import type { Leaf } from '../../src/conditions/ast.ts';
import {
  deepest,
  longestPatterns,
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

const text = (operator: string, value: string) => ({
  type: 'text',
  operator,
  value: { usesAuthor: false, value },
});

describe('one condition', () => {
  test.each([
    ['base=main', { attribute: 'base', isNegated: false, isCounted: false, test: text('=', 'main') }],
    ['base:main', { test: text('=', 'main') }],
    ['base==main', { test: text('=', 'main') }],
    ['base!=main', { test: text('!=', 'main') }],
    ['base≠main', { test: text('!=', 'main') }],
    ['base>=main', { test: text('>=', 'main') }],
    ['base≥main', { test: text('>=', 'main') }],
    ['base≤main', { test: text('<=', 'main') }],
    ['base<main', { test: text('<', 'main') }],
    ['-base=main', { isNegated: true }],
    ['¬base=main', { isNegated: true }],
    ['+base=main', { isNegated: false }],
    ['  -  base  =  main  ', { attribute: 'base', isNegated: true, test: text('=', 'main') }],
    ['author=', { test: text('=', '') }],
    ['author=dependabot[bot]', { test: text('=', 'dependabot[bot]') }],
    ['author=jane_acme', { test: text('=', 'jane_acme') }],
    ['author=@Acme/Core', { test: { type: 'team', operator: '=', team: '@acme/core' } }],
    ['title="Fix the roof"', { test: text('=', 'Fix the roof') }],
    [`title='"quoted"'`, { test: text('=', '"quoted"') }],
    [`title=it's`, { test: text('=', `it's`) }],
    ['title=a=b', { test: text('=', 'a=b') }],
    ['label=label', { test: text('=', 'label') }],
    ['label={{author}}', { test: { type: 'text', value: { usesAuthor: true } } }],
    ['title~="it', { test: { type: 'pattern', operator: '~=' } }],
    ['files*=src/**', { test: { type: 'pattern', operator: '*=' } }],
    [
      '- # label >= 2',
      { isNegated: true, isCounted: true, test: { type: 'number', operator: '>=', value: 2 } },
    ],
    ['#commits-behind>0', { attribute: 'commits-behind', isCounted: true }],
    ['commits-unverified=x', { attribute: 'commits-unverified' }],
    [
      'merged-at>=2021-04-05',
      { attribute: 'merged-at', test: { type: 'instant', at: Date.UTC(2021, 3, 5) } },
    ],
    ['created-at<7 days ago', { test: { type: 'age', operator: '<', ago: 7 * 86_400_000 } }],
    ['current-datetime>=2021-04-05', { test: { type: 'now', operator: '>=', at: Date.UTC(2021, 3, 5) } }],
    ['schedule!=Mon-Fri', { test: { type: 'clock', operator: '!=' } }],
    [
      'commits[-1].email_author=a@b.c',
      { attribute: 'commits', commit: { index: -1, field: 'email_author' } },
    ],
    ['commits[*].date_author>=2021-04-05', { commit: { index: '*', field: 'date_author' } }],
    ['status-failure=ci', { attribute: 'check-failure' }],
    ['check-success=@app/a/b', { test: { type: 'app-check', operator: '=', value: '@app/a/b' } }],
    ['draft', { attribute: 'draft', test: { type: 'is-true' } }],
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
    [
      'base',
      4,
      'Incomplete condition: `base` needs one of `=`, `!=`, `~=`, `*=`, `>=`, `<=`, `>`, `<` and a value.',
    ],
    ['#-', 2, 'Invalid attribute. A name such as `base` or `label` is expected here.'],
    ['#-label=x', 2, 'Invalid attribute. Did you mean `label`?'],
    ['foo=bar', 1, 'Invalid attribute. The nearest are `'],
    ['labl=x', 1, 'Invalid attribute. Did you mean `label`?'],
    ['  -lables=x', 4, 'Invalid attribute. Did you mean `label`?'],
    ['approved>=2', 1, 'Invalid attribute. Did you mean `approved-reviews-by`?'],
    ['__proto__=x', 1, 'Invalid attribute.'],
    ['constructor=x', 1, 'Invalid attribute.'],
    ['toString', 1, 'Invalid attribute.'],
    ['label @ x', 7, 'Invalid operator. `label` takes `=`'],
    ['draft=true', 6, 'Operators are invalid for Boolean attribute: `draft`.'],
    ['locked=1', 7, 'Operators are invalid for Boolean attribute: `locked`.'],
    ['#draft', 1, '`#` modifier is invalid for attribute: `draft`.'],
    ['#conflict', 1, '`#` modifier is invalid for attribute: `conflict`.'],
    ['-schedule=Mon-Fri', 1, '`-` modifier is invalid for attribute: `schedule`.'],
    ['-merged-at>=2021-04-05', 1, '`-` modifier is invalid for attribute: `merged-at`.'],
    ['#commits[0].author=1', 1, '`#` modifier is invalid for attribute: `commits[0].author`.'],
    [
      '-commits[0].date_author>=2021-04-05',
      1,
      '`-` modifier is invalid for attribute: `commits[0].date_author`.',
    ],
    [
      'commits-behind',
      1,
      '`#` modifier is required for attribute: `commits-behind`. Write `#commits-behind`.',
    ],
    ['-added-lines>=3', 2, '`#` modifier is required for attribute: `added-lines`.'],
    ['#label~=x', 7, 'Invalid operator. `#label` takes `=`, `!=`, `>=`, `<=`, `>`, `<`.'],
    ['milestone*=x', 10, 'Invalid operator. `milestone` takes'],
    ['updated-at=7 days 18:00', 11, 'Invalid operator. `updated-at` takes `>=`, `<=`, `>`, `<`.'],
    ['schedule>Mon', 9, 'Invalid operator. `schedule` takes `=`, `!=`.'],
    ['number=foo', 8, 'foo is not a number.'],
    ['#title=bar', 8, 'bar is not a number.'],
    ['#title={{ author }}', 8, '{{ author }} is not a number.'],
    ['#label=', 7, 'A number is missing.'],
    ['number=-1', 8, 'Value must be positive.'],
    [
      'queue-position=0',
      1,
      'The attribute `queue-position` cannot be used in a freeze: it belongs to the merge queue of another service',
    ],
    ['-sender=x', 2, 'The attribute `sender` cannot be used in a freeze: '],
    ['updates=x', 1, 'The attribute `updates` cannot be used in a freeze: '],
    ['github-review-approved', 1, 'The attribute `github-review-approved` cannot be used in a freeze: '],
    ['current-time>=10:00', 1, 'The attribute `current-time` cannot be used in a freeze: '],
    [
      'check=ci',
      1,
      'The attribute `check` cannot be used in a freeze: it names no result. Use `check-success`',
    ],
    ['commits[0]', 9, 'Invalid attribute. Write `commits[0].author`'],
    ['commits[x].author=a', 9, 'Invalid attribute. Write `commits[0].author`'],
    ['commits[0].autor=a', 1, 'Invalid attribute. A commit has `author`, `committer`'],
    ['github-review-decision=approved', 24, '`github-review-decision` is one of `APPROVED`'],
    ['base=a b', 6, 'Invalid branch name.'],
    ['head=a..[b', 6, 'Invalid branch name.'],
    ['base=release/*', 6, 'Invalid branch name. For a glob use `*=`.'],
    ['author=%x', 8, 'Invalid GitHub login.'],
    ['author=@acme/core/x', 8, 'Invalid GitHub login.'],
    ['author~=@acme/admins', 9, 'A team is compared with `=` or `!=`'],
    ['author>@acme/admins', 8, 'A team is compared with `=` or `!=`'],
    ['check-success=@app', 15, 'Invalid check. Write its name, or `@app-slug/name`'],
    ['depends-on=#12', 12, 'Invalid pull request. Write `owner/repository#number`.'],
    ['label={{ head }}', 7, 'Only `{{ author }}` can stand in a condition, not `{{ head }}`.'],
    ['title="a', 7, 'Unbalanced quotes.'],
    [`title="a'`, 7, 'Unbalanced quotes.'],
    ['title="', 7, 'Unbalanced quotes.'],
    ['head~=(lol', 7, 'Invalid regular expression: '],
    ['head~="x(?=a)"', 9, 'Invalid regular expression: look-arounds and back-references do not exist here'],
    ['head~=a{600}b{600}', 14, 'Invalid regular expression: its repetitions add up to more than 1000.'],
    ['files*=src/{a', 12, 'Invalid glob: unbalanced `{`: write `\\{` for the character.'],
    ['updated-at>=100', 13, 'Invalid timestamp. Send one such as'],
    ['updated-at>={{ author }}', 13, 'Invalid timestamp.'],
    ['updated-at>=2026-01-01[Foo/Bar]', 24, 'Invalid timezone.'],
    ['schedule=', 9, 'Invalid schedule.'],
    ['schedule=Mon-Fri 09:00-17:00[Foo]', 30, 'Invalid timezone.'],
    ['schedule=09:00-09:00', 16, 'Invalid schedule. It ends when it begins.'],
    ['current-datetime=2026-01-01', 18, 'Invalid interval.'],
    ['current-datetime>7 days ago', 18, 'Invalid timestamp. A time ago is not for `current-datetime`'],
    ['current-datetime=XXXX-12-20/XXXX-01-05', 18, 'Invalid interval. It holds on no day'],
  ])('%s is refused at column %i: %s', (text, column, message) => {
    const [problem, ...others] = problemsOf([text]);
    expect(others).toEqual([]);
    expect(problem).toMatchObject({ path: ['body', 'matching_conditions', 0], column });
    expect(problem!.message).toContain(`Invalid condition '${text}'. ${message}`);
    expect(problem!.message).not.toMatch(/\?\.$/);
  });

  test('a long one is shortened in the message', () => {
    expect(problemsOf(['x'.repeat(10_000)])[0]!.message.length).toBeLessThan(300);
    expect(problemsOf([`title=${'x'.repeat(10_000)}`])[0]).toMatchObject({
      column: 10_000,
      message: expect.stringContaining('A condition has at most 10000 characters.') as string,
    });
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

  test('the depth is limited', () => {
    expect(problemsOf([nested(deepest)])).toEqual([]);
    expect(problemsOf([nested(deepest + 1)])[0]!.message).toMatch(/at most 32 levels deep/);
    expect(problemsOf([nested(100_000)])).toHaveLength(1);
  });

  test('a list is limited', () => {
    expect(problemsOf(Array(mostItems).fill('draft'))).toEqual([]);
    expect(problemsOf(Array(mostItems + 1).fill('draft'))[0]!.message).toMatch(/at most 500 conditions/);
    expect(problemsOf([{ or: Array(mostItems + 1).fill('draft') }])[0]!.path.at(-1)).toBe('or');
  });

  test('the patterns of a list are limited', () => {
    const long = `title~=^${'(a|b)'.repeat(190)}`;
    const most = Math.floor(longestPatterns / long.length) + 1;
    expect(problemsOf(Array(most).fill(long))).toEqual([]);
    const [problem] = problemsOf(Array(most + 1).fill(long));
    expect(problem!.message).toBe('The patterns of one list may have 50000 characters in all.');
    expect(problem!.path.at(-1)).toBe(most);
  });

  test.each(['title~=a{1000}', 'title~=((a{9}){9}){9}', `files*=${'{a,b}'.repeat(7)}[xy]`])(
    'a repetition counts as what it repeats, and braces as their alternatives: %s',
    (pattern) => {
      expect(problemsOf(Array(5).fill(pattern))).toEqual([]);
      expect(problemsOf(Array(mostItems).fill(pattern))[0]!.message).toMatch(/may have 50000 characters/);
    },
  );

  test('a pattern with the author in it is read with the longest login', () => {
    expect(problemsOf([`head~=${'x'.repeat(960)}{{ author }}`])[0]!.message).toMatch(
      /more than 1000 characters/,
    );
    expect(problemsOf([`head~=${'x'.repeat(900)}{{ author }}`])).toEqual([]);
  });

  test('all groups together are limited, and so are the problems', () => {
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
