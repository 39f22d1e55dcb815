import type { TextTest } from './text-test.ts';

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
