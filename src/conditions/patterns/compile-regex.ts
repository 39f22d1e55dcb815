import { RE2JS } from 're2js';
import { cutText } from '../../cut-text.ts';
import type { TextTest } from '../ast.ts';
import { ParseError } from '../scanner.ts';

// These four limits bound the cost of compiling a pattern. Measured at each limit, it stays below 10 ms.
const mostRegexCharacters = 1000;
/** RE2 expands repetitions, and limits each but not their sum. */
const mostRepetitions = 1000;
/** Each `\p{…}` has hundreds of ranges. */
const mostUnicodeClasses = 30;
/** If case is ignored, each character of a range is looked up. Outside ASCII there are thousands. */
const mostWideRanges = 4;
/** It takes as long to compile as so many steps of other patterns. */
const stepsOfWideRange = 500;

/**
 * Compiles a regular expression of a condition. It searches anywhere in the text, like Python's `re.search`, with RE2's
 * syntax. Matching takes linear time, so no pattern can hang the service.
 * @throws ParseError if it is invalid or too large.
 */
export function compileRegex(pattern: string): TextTest {
  const wideRanges = checkSize(pattern);
  // Python's `\Z` is RE2's `\z`, the end of the text.
  const expression = pattern.replace(/\\(.)/gs, (escape, what) => (what === 'Z' ? '\\z' : escape));
  const compiled = compile(expression);
  const test = literalTest(expression) ?? ((text: string) => compiled.test(text));
  return Object.assign(test, { size: compiled.programSize() + wideRanges * stepsOfWideRange });
}

/** The expression that only finds this text. */
export const quoteRegex = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

/** @returns how many wide ranges without case it has. */
function checkSize(pattern: string): number {
  if (pattern.length > mostRegexCharacters) {
    throw new ParseError(`it has more than ${mostRegexCharacters} characters`, mostRegexCharacters);
  }
  let repetitions = 0;
  for (const { 1: least, 2: most, index } of pattern.matchAll(/(?<!\\[xpP])\{(\d{1,9})(?:,(\d{0,9}))?\}/g)) {
    repetitions += Number(most || least);
    if (repetitions > mostRepetitions) {
      throw new ParseError(`its repetitions add up to more than ${mostRepetitions}`, index);
    }
  }
  const classes = [...pattern.matchAll(/\\[pP]/g)];
  refuseAfter(classes, mostUnicodeClasses, 'Unicode classes');
  const isWithoutCase = /\(\?[A-Za-z]*i/.test(pattern);
  // eslint-disable-next-line no-control-regex -- everything beyond ASCII
  const wide = isWithoutCase ? [...pattern.matchAll(/-(?:[^\x00-\x7f]|\\x)/g)] : [];
  refuseAfter(wide, mostWideRanges, 'wide ranges without case');
  return wide.length;
}

function refuseAfter(found: RegExpExecArray[], most: number, what: string): void {
  if (found.length > most) throw new ParseError(`it has more than ${most} ${what}`, found[most]!.index);
}

function compile(expression: string): RE2JS {
  try {
    return RE2JS.compile(expression);
  } catch (error) {
    const message = (error instanceof Error ? error.message : String(error)).replace(
      'error parsing regexp: ',
      '',
    );
    const culprit = /`(.*)`$/s.exec(message)?.[1] ?? '';
    const offset = Math.max(0, expression.indexOf(culprit));
    const unknown = /\(\?<?[=!]|\\[1-9]|\(\?P=/.exec(expression);
    if (!unknown) throw new ParseError(cutText(message.toWellFormed(), 200), offset);
    throw new ParseError(
      'look-arounds and back-references do not exist here: expressions must run in linear time',
      unknown.index,
    );
  }
}

/** A text to look for, at the start, at the end, both or anywhere. */
type Literal = { text: string; atStart: boolean; atEnd: boolean };

const mostAlternatives = 64;

/**
 * Gives the same answer as a regular expression that is only texts: `hotfix`, `^infra/`, `\.md$`, `^(infra|ops)/`,
 * `^main$|^release`. Most are, and JavaScript finds texts many times faster.
 * @returns null for any other expression.
 */
export function literalTest(pattern: string): TextTest | null {
  const literals = literalsOf(pattern);
  if (!literals) return null;
  const tests = literals.map(testOf);
  const [only] = tests;
  return tests.length === 1 ? only! : (text) => tests.some((test) => test(text));
}

function testOf({ text, atStart, atEnd }: Literal): TextTest {
  if (atStart && atEnd) return (subject) => subject === text;
  if (atStart) return (subject) => subject.startsWith(text);
  if (atEnd) return (subject) => subject.endsWith(text);
  return (subject) => subject.includes(text);
}

function literalsOf(pattern: string): Literal[] | null {
  const literals: Literal[] = [];
  for (const branch of splitBranches(pattern) ?? [null]) {
    const expanded = branch === null ? null : expandBranch(branch);
    if (!expanded) return null;
    literals.push(...expanded);
    if (literals.length > mostAlternatives) return null;
  }
  return literals;
}

/** The branches of the outermost `|`; null if parentheses nest or do not match. */
function splitBranches(pattern: string): string[] | null {
  const branches: string[] = [];
  let branch = '';
  let isInGroup = false;
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at]!;
    if (character === '\\') {
      branch += character + (pattern[++at] ?? '');
    } else if (character === '|' && !isInGroup) {
      branches.push(branch);
      branch = '';
    } else {
      if (character === '(' || character === ')') {
        if (isInGroup === (character === '(')) return null;
        isInGroup = !isInGroup;
      }
      branch += character;
    }
  }
  return isInGroup ? null : [...branches, branch];
}

/** `^a(b|c)d$` in one branch; null if it is not only texts. */
function expandBranch(branch: string): Literal[] | null {
  const atStart = branch.startsWith('^');
  const atEnd = branch.endsWith('$') && !/(?:^|[^\\])(?:\\\\)*\\\$$/.test(branch);
  const body = branch.slice(atStart ? 1 : 0, atEnd ? -1 : undefined);
  const parts = /^([^()]*)(?:\((?:\?:)?([^()?][^()]*)\)([^()]*))?$/s.exec(
    body.replace(/\\[()|]/g, (each) => escaped[each]!),
  );
  if (!parts) return null;
  const [, before = '', choices, after = ''] = parts;
  const texts = (choices === undefined ? [''] : choices.split('|')).map((choice) =>
    unescape(before + choice + after),
  );
  if (texts.some((text) => text === null)) return null;
  return texts.map((text) => ({ text: text!, atStart, atEnd }));
}

/** Replace escaped parentheses and bars during the search for the others. No text of GitHub has them. */
const escaped: Record<string, string> = { '\\(': '\ufdd0', '\\)': '\ufdd1', '\\|': '\ufdd2' };
const originals: Record<string, string> = { '\ufdd0': '(', '\ufdd1': ')', '\ufdd2': '|' };

/** The text of an expression without operators; null if it has one. */
function unescape(expression: string): string | null {
  let text = '';
  for (let at = 0; at < expression.length; at++) {
    const character = expression[at]!;
    if (character === '\\') {
      const next = expression[++at] ?? '';
      // Every escaped letter or digit has another meaning.
      if (!/^[\x21-\x7e]$/.test(next) || /\w/.test(next)) return null;
      text += next;
    } else if (/[.*+?[\]{}^$|]/.test(character) || character.codePointAt(0)! >= 0xd800) {
      if (!(character in originals)) return null;
      text += originals[character]!;
    } else text += character;
  }
  return text;
}
