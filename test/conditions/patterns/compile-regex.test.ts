import fc from 'fast-check';
import { RE2JS } from 're2js';
import { expect, test } from 'vitest';
import { compileRegex, quoteRegex, literalTest } from '../../../src/conditions/patterns/compile-regex.ts';
import { ParseError } from '../../../src/conditions/scanner.ts';
import { amount } from '../../support/amounts.ts';

test.each<[string, string[], string[]]>([
  ['', ['', 'a'], []],
  ['hotfix', ['hotfix', 'a hotfix b'], ['Hotfix']],
  ['^infra/', ['infra/x'], ['x/infra/', 'infra']],
  ['^(infra|ops)/', ['infra/x', 'ops/y'], ['x/ops/', 'infra']],
  ['^(?:infra|ops)$', ['ops'], ['ops/']],
  ['\\.md$', ['a.md'], ['amd', 'a.mdx']],
  ['^main$', ['main'], ['main2', 'amain']],
  ['^main$|^release/', ['main', 'release/1'], ['mainx', 'a/release/']],
  ['a|^b', ['xa', 'b'], ['cb']],
  ['^(a|)$', ['a', ''], ['b']],
  ['\\$', ['a$'], ['a']],
  ['\\\\$', ['a\\'], ['a']],
  ['x\\(y\\|z\\)', ['x(y|z)'], ['xy']],
  ['(?i)RoOf', ['roof', 'ROOF'], ['rof']],
  ['(?P<kind>feat|fix)!?:', ['feat!: x', 'fix: y'], ['chore: z']],
  ['(?<kind>feat)', ['feat'], ['fix']],
  ['^v\\d+\\.\\d+\\Z', ['v1.2'], ['v1.2\n', 'v1']],
  ['\\bWIP\\b', ['a WIP b'], ['WIPE']],
  ['[0-9]{3}', ['a123'], ['12']],
  ['a.c', ['abc', 'a😀c'], ['a\nc']],
])('%s', (pattern, matching, others) => {
  const test = compileRegex(pattern);
  expect(matching.filter((text) => !test(text))).toEqual([]);
  expect(others.filter((text) => test(text))).toEqual([]);
});

test.each([
  ['(lol', 'missing closing )', 0],
  ['lol)', 'unexpected )', 0],
  ['*a', 'missing argument to repetition operator', 0],
  ['ab[z-a]', 'invalid character class range', 3],
  ['a(?=b)', 'look-arounds and back-references do not exist here', 1],
  ['a(?<!b)', 'look-arounds and back-references do not exist here', 1],
  ['(a)\\1', 'look-arounds and back-references do not exist here', 3],
  ['(?x)a', 'invalid or unsupported Perl syntax', 0],
  ['a{600}b{600}', 'its repetitions add up to more than 1000', 7],
  ['\\pL'.repeat(31), 'it has more than 30 Unicode classes', 90],
  ['x'.repeat(1001), 'it has more than 1000 characters', 1000],
  [`(?i)${'[!-\uffff]'.repeat(5)}`, 'it has more than 4 wide ranges without case', 26],
])('%s is refused: %s', (pattern, message, offset) => {
  try {
    compileRegex(pattern);
    expect.unreachable();
  } catch (error) {
    expect(error).toBeInstanceOf(ParseError);
    expect((error as ParseError).message).toContain(message);
    expect((error as ParseError).offset).toBe(offset);
  }
});

const unit = fc.constantFrom(
  'a',
  'b',
  '/',
  '.',
  '\\.',
  '\\(',
  '\\|',
  '\\$',
  '^',
  '$',
  '(',
  ')',
  '(?:',
  '|',
  '*',
  'é',
  '-',
);
const pattern = fc.array(unit, { maxLength: 8 }).map((pieces) => pieces.join(''));
const text = fc.string({ unit: fc.constantFrom('a', 'b', '/', '.', '(', '|', '$', 'é', '-'), maxLength: 6 });

test('if an expression is only texts, a search for the texts agrees with RE2 and JavaScript', () => {
  let compared = 0;
  fc.assert(
    fc.property(pattern, text, (expression, subject) => {
      const fast = literalTest(expression);
      let compiled: RE2JS;
      try {
        compiled = RE2JS.compile(expression);
      } catch {
        return;
      }
      if (!fast) return;
      compared += 1;
      expect(fast(subject)).toBe(compiled.matcher(subject).find());
      expect(fast(subject)).toBe(new RegExp(expression, 'u').test(subject));
    }),
    { numRuns: amount(8000) },
  );
  expect(compared).toBeGreaterThan(amount(1000));
});

test('the usual shapes are found to be texts', () => {
  for (const usual of [
    'hotfix',
    '^infra/',
    '\\.md$',
    '^main$',
    '^(infra|ops)/',
    '^main$|^release/',
    'src/(a|b)\\.ts$',
  ]) {
    expect(literalTest(usual), usual).not.toBeNull();
  }
  for (const other of [
    'a.b',
    '[ab]',
    'a+',
    '(a|b',
    '((a))',
    '(?i)a',
    '\\d',
    'a{2}',
    '(?P<x>a)',
    '^a^b',
    'a$b',
  ]) {
    expect(literalTest(other), other).toBeNull();
  }
});

test('a quoted text is found unchanged', () => {
  const any = fc.string({
    unit: fc.constantFrom(
      'a',
      '[',
      ']',
      '(',
      ')',
      '.',
      '*',
      '+',
      '?',
      '^',
      '$',
      '|',
      '\\',
      '{',
      '}',
      '-',
      ' ',
    ),
    maxLength: 8,
  });
  fc.assert(
    fc.property(any, any, (wanted, subject) => {
      expect(compileRegex(quoteRegex(wanted))(subject)).toBe(subject.includes(wanted));
    }),
  );
});
