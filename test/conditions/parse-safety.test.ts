import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ConditionInput } from '../../src/conditions/ast.ts';
import { attributeNames, attributeOf } from '../../src/conditions/attributes.ts';
import { refusedNames } from '../../src/conditions/attributes/rows.ts';
import { explain } from '../../src/conditions/explain.ts';
import { prepareFacts, nextChange } from '../../src/conditions/match.ts';
import { parseConditions } from '../../src/conditions/parse-conditions.ts';
import { somePullRequest } from './some-pull-request.ts';
import { leastCpuTime } from '../support/cpu-time.ts';
import { amount } from '../support/amounts.ts';

const now = Date.parse('2026-03-01T10:00:00Z');

/** The problems are whole: a path below the one given, a column inside the text, a message. */
function checkProblems(input: unknown): void {
  const result = parseConditions(input, ['body']);
  if (result.ok) {
    // Conditions that can be read can also be judged.
    const matcher = prepareFacts(result.conditions);
    const facts = somePullRequest();
    expect([true, false, 'unknown']).toContain(explain(matcher, facts, now).match);
    expect(nextChange(matcher, facts, now) ?? Infinity).toBeGreaterThan(now);
    return;
  }
  expect(result.problems.length).toBeGreaterThan(0);
  for (const { path, column, message } of result.problems) {
    expect(path[0]).toBe('body');
    expect(message).toMatch(/[.?]$/);
    const raw = path.slice(1).reduce<unknown>((value, key) => (value as never)[key], input);
    if (column === null) continue;
    expect(column).toBeGreaterThanOrEqual(1);
    expect(column).toBeLessThanOrEqual(Math.max(1, (raw as string).length));
  }
}

const valid = fc.constantFrom(
  'base=main',
  '-label~=^a+$',
  'files != "src/x y"',
  'draft',
  `author='a'`,
  '#files>=3',
  'files*={a,b{c,d}}/**/*.ts',
  'author=@acme/core',
  'head~=^{{ author }}/',
  'commits[-1].author!=Bob',
  'created-at>=3 days 2 hours ago',
  'updated-at<2026-03-01T10:00[Europe/Paris]',
  'current-datetime=XXXX-07-XXT14:00/XXXX-07-XXT19:00[UTC]',
  'schedule=Mon-Fri 22:00-06:00[America/New_York]',
  'check-success=@github-actions/ci/lint',
);
const almost = fc
  .tuple(valid, fc.nat(30), fc.nat(3), fc.string({ unit: 'binary', maxLength: 3 }))
  .map(([text, at, cut, put]) => text.slice(0, at) + put + text.slice(at + cut));
const pieces = fc
  .array(
    fc.constantFrom(
      ...attributeNames,
      ...Object.keys(refusedNames),
      '-',
      '#',
      ' ',
      '=',
      '~=',
      '*=',
      '≥',
      '[',
      ']',
      '7 days ago',
      'Mon-Fri',
      '{{ author }}',
      '@acme/core',
      '"',
      "'",
      '(',
      '{',
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(''));

describe('parsing never throws', () => {
  test('for any text', () => {
    const text = fc.oneof(fc.string({ unit: 'binary' }), almost, pieces);
    fc.assert(
      fc.property(text, (raw) => checkProblems([raw])),
      { numRuns: amount(3000) },
    );
  });

  test('for any JSON', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => checkProblems(value)));
    fc.assert(fc.property(fc.jsonValue(), (value) => checkProblems([value])));
  });

  const tree = fc.letrec<{ node: ConditionInput; list: ConditionInput[] }>((tie) => ({
    node: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.oneof(valid, almost),
      fc.record({ and: tie('list') }),
      fc.record({ or: tie('list') }),
      fc.record({ not: tie('node') }),
    ),
    list: fc.array(tie('node'), { maxLength: 4 }),
  }));

  test('for any tree of conditions', () => {
    fc.assert(fc.property(tree.list, checkProblems));
  });
});

describe('parsing is quick', () => {
  // Nothing longer is read at all.
  const long = 9_900;
  const cases: [string, string][] = [
    ['spaces', ' '.repeat(long)],
    ['minuses', '-'.repeat(long)],
    ['an unknown word', 'x'.repeat(long)],
    ['quotes', `title=${'"'.repeat(long)}`],
    ['a long value', `title=${'a '.repeat(long / 2)}`],
    ['braces', `title=${'{{'.repeat(long / 2)}`],
    ['a template left open', `title=${'{{ '.repeat(long / 3)}`],
    ['a template of spaces', `title={{${' '.repeat(long)}`],
    ['open brackets in a pattern', `title~=${'('.repeat(long)}`],
    ['repeated classes', String.raw`title~=${String.raw`\pL{1000}`.repeat(1100)}`],
    ['nested repetitions', `title~=${'((a{30}){30})'.repeat(750)}`],
    ['unclosed repetitions', `title~=${'a{9'.repeat(long / 3)}`],
    ['open braces', `files*=${'{'.repeat(long)}`],
    ['many alternatives', `files*=${'{a,b}'.repeat(long / 5)}`],
    ['stars', `files*=${'*?'.repeat(450)}`],
    ['segments', `files*=${'**/'.repeat(330)}`],
    ['open classes', `files*=${'['.repeat(long)}`],
    ['128 alternatives', `files*=${'{a,b}'.repeat(7)}${'*'.repeat(20)}`],
    ['a long pattern', `title~=${'(a|b)*c?'.repeat(124)}`],
    ['Unicode classes', `title~=${String.raw`\\pL`.repeat(long / 3)}`],
    ['wide ranges without case', `title~=(?i)${'[!-\uffff]'.repeat(190)}`],
    ['classes without case', `title~=(?i)${'[\\Sa]'.repeat(199)}`],
    ['a long timestamp', `created-at>=${'2026-'.repeat(long / 5)}`],
    ['a long age', `created-at>=${'1 days '.repeat(long / 7)}ago`],
    ['a long schedule', `schedule=${'Mon-'.repeat(long / 4)}`],
    ['spaces in a schedule', `schedule=Mon${' '.repeat(long)}x`],
    ['a long interval', `current-datetime=${'X'.repeat(long)}/`],
    ['a long number', `#files=${'9'.repeat(long)}`],
    ['too long', `title=${'x'.repeat(long * 10)}`],
    ['a repetition of many digits', `title~=a{${'9'.repeat(long)}}`],
  ];

  test.each(cases)('%s', (_name, text) => {
    // Another text each time, because what was read lately is not read again.
    let spaces = '';
    expect(leastCpuTime(() => parseConditions([(spaces += ' ') + text], []))).toBeLessThan(10);
  });

  test.each(['(a+)+$', '(a|a)*$', '(a|aa)+$', '(.*a){20}$', '(?i)(A*)*B'])(
    'the pattern %s does not hang on 100,000 characters',
    (pattern) => {
      const parsed = parseConditions([`title~=${pattern}`], []);
      if (!parsed.ok) throw new Error(parsed.problems[0]!.message);
      const facts = somePullRequest({ values: { title: `${'a'.repeat(100_000)}!` } });
      expect(leastCpuTime(() => prepareFacts(parsed.conditions).judge(facts, now), 1)).toBeLessThan(5000);
    },
  );
});

test('refused names and attributes are apart, and only a boolean has no operator', () => {
  expect(attributeNames.filter((name) => Object.hasOwn(refusedNames, name))).toEqual([]);
  const without = attributeNames.filter((name) => attributeOf(name).operators.length === 0);
  expect(new Set(without.map((name) => attributeOf(name).type))).toEqual(new Set(['boolean']));
});
