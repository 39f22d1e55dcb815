import { RE2JS } from 're2js';
import type { TextTest } from '../ast.ts';
import { ParseError } from '../scanner.ts';

const mostGlobCharacters = 1000;

/**
 * Compiles a glob of a condition. It matches the whole text, is case-sensitive, and `/` separates segments. As a whole
 * segment, `*` matches one segment and `**` any number. Inside a segment, `*`, `?` and classes never match `/`.
 * @throws ParseError if its braces do not match, or it is too large.
 */
export function compileGlob(glob: string): TextTest {
  if (glob.length > mostGlobCharacters)
    throw new ParseError(`it has more than ${mostGlobCharacters} characters`, mostGlobCharacters);
  const simple: TextTest[] = [];
  const expressions: string[] = [];
  for (const alternative of expandBraces(glob)) {
    const test = simpleTest(alternative);
    if (test) simple.push(test);
    else expressions.push(expressionOf(unescape(alternative)));
  }
  if (expressions.length > 0) {
    // Compiled on first use: it is valid by now, and 128 alternatives take time.
    let compiled: RE2JS | null = null;
    simple.push((text) => {
      compiled ??= RE2JS.compile(`^(?s:${expressions.join('|')})$`);
      return compiled.test(text);
    });
  }
  const [only] = simple;
  const test = simple.length === 1 ? only! : (text: string) => simple.some((each) => each(text));
  return Object.assign(test, { size: expressions.reduce((sum, { length }) => sum + length, 0) });
}

/** Unescapes braces and commas, after the others are expanded. */
export const unescape = (glob: string): string => glob.replace(/\\([{},])/g, '$1');

/** The glob that only matches this text. */
export const quoteGlob = (text: string): string => text.replace(/[*?[]/g, '[$&]').replace(/[{},]/g, '\\$&');

/** Handles the most frequent globs without a regular expression, because string methods are many times faster. */
function simpleTest(written: string): TextTest | null {
  const shape = /^([^*?[]*)(\*\*\/\*|\*\*?)?([^*?[]*)$/s.exec(written);
  if (!shape) return null;
  const [before, after] = [shape[1]!, shape[3]!].map(unescape) as [string, string];
  const isBehindSlash = before === '' || before.endsWith('/');
  switch (shape[2] ?? '') {
    case '':
      return (text) => text === before;
    case '**':
      return isBehindSlash && after === '' ? (text) => text.startsWith(before) : null;
    case '**/*':
      return before === '' && after !== '' && !after.includes('/') ? (text) => text.endsWith(after) : null;
    default: {
      const least =
        before.length + after.length + (isBehindSlash && (after === '' || after.startsWith('/')) ? 1 : 0);
      return (text) =>
        text.length >= least &&
        text.startsWith(before) &&
        text.endsWith(after) &&
        !text.slice(before.length, text.length - after.length).includes('/');
    }
  }
}

export function expressionOf(glob: string): string {
  const segments = glob.split('/');
  const last = segments.length - 1;
  return segments
    .map((segment, index) => {
      if (segment === '**') {
        if (index === last) return '.*';
        // Several in a row count as one.
        return segments[index + 1] === '**' ? '' : '(?:.+/)?';
      }
      return (segment === '*' ? '[^/]+' : segmentExpression(segment)) + (index < last ? '/' : '');
    })
    .join('');
}

function segmentExpression(segment: string): string {
  let expression = '';
  let at = 0;
  while (at < segment.length) {
    const character = segment[at]!;
    const end = character === '[' ? classEnd(segment, at) : null;
    if (end !== null) {
      const isNegated = segment[at + 1] === '!';
      expression += classExpression(segment.slice(at + (isNegated ? 2 : 1), end - 1), isNegated);
      at = end;
      continue;
    }
    if (character === '*') {
      while (segment[at + 1] === '*') at += 1;
      expression += '[^/]*';
    } else expression += character === '?' ? '[^/]' : character.replace(/[\\^$.+()[\]{}|]/, '\\$&');
    at += 1;
  }
  return expression;
}

const mostAlternatives = 128;
const deepest = 32;
/** The maximum length of all alternatives together. */
export const mostExpanded = 4000;

/**
 * Expands a glob with braces into globs without braces. Drops an empty alternative, unless a group has nothing else.
 * `\{`, `\}` and `\,` stay escaped.
 * @throws ParseError if braces do not match or expand to too much.
 */
export function expandBraces(glob: string): string[] {
  const { alternatives, end } = readSequence(glob, 0, 0);
  if (end < glob.length) throw new ParseError('unbalanced `}`: write `\\}` for the character', end);
  return alternatives;
}

/** Reads up to the end of the alternative that begins here. */
function readSequence(glob: string, start: number, depth: number): { alternatives: string[]; end: number } {
  let alternatives = [''];
  let at = start;
  while (at < glob.length) {
    const character = glob[at]!;
    if (character === '}' || (character === ',' && depth > 0)) break;
    if (character === '{') {
      const group = readGroup(glob, at, depth + 1);
      alternatives = combine(alternatives, group.alternatives, at);
      at = group.end;
    } else {
      const end = tokenEnd(glob, at);
      const token = glob.slice(at, end);
      alternatives = alternatives.map((each) => each + token);
      at = end;
    }
  }
  return { alternatives, end: at };
}

/** A character, an escaped character, or a whole class, where braces and commas have no meaning. */
function tokenEnd(glob: string, at: number): number {
  if (glob[at] === '\\' && /[{},]/.test(glob[at + 1] ?? '')) return at + 2;
  return glob[at] === '[' ? (classEnd(glob, at) ?? at + 1) : at + 1;
}

function readGroup(glob: string, open: number, depth: number): { alternatives: string[]; end: number } {
  if (depth > deepest) throw new ParseError(`braces nest more than ${deepest} levels deep`, open);
  const all: string[] = [];
  let at = open;
  do {
    const { alternatives, end } = readSequence(glob, at + 1, depth);
    all.push(...alternatives.filter((each) => each !== ''));
    checkCount(all.length, open);
    at = end;
    if (at >= glob.length) throw new ParseError('unbalanced `{`: write `\\{` for the character', open);
  } while (glob[at] === ',');
  return { alternatives: all.length > 0 ? all : [''], end: at + 1 };
}

function combine(before: string[], after: string[], at: number): string[] {
  checkCount(before.length * after.length, at);
  const combined = before.flatMap((one) => after.map((other) => one + other));
  if (combined.reduce((sum, { length }) => sum + length, 0) > mostExpanded) {
    throw new ParseError(`its alternatives have more than ${mostExpanded} characters`, at);
  }
  return combined;
}

function checkCount(count: number, at: number): void {
  if (count > mostAlternatives)
    throw new ParseError(`it stands for more than ${mostAlternatives} alternatives`, at);
}

/**
 * The end of a class such as `[a-z]`, `[!a]` or `[]a]` that begins here.
 * @returns the place after its `]`; null if the `[` is a plain character, because a class does not contain `/`.
 */
function classEnd(glob: string, open: number): number | null {
  let at = open + 1;
  if (glob[at] === '!') at += 1;
  // A `]` at the beginning is a member.
  if (glob[at] === ']') at += 1;
  while (at < glob.length && glob[at] !== '/') {
    if (glob[at] === ']') return at + 1;
    at += 1;
  }
  return null;
}

/** The expression for a class; it never matches `/`. @param members between the brackets, without `!`. */
function classExpression(members: string, isNegated: boolean): string {
  const characters = [...members];
  const parts: string[] = [];
  for (let at = 0; at < characters.length; at++) {
    const from = characters[at]!;
    const to = characters[at + 2];
    if (characters[at + 1] === '-' && to !== undefined) {
      // A backward range has no members.
      if (from.codePointAt(0)! <= to.codePointAt(0)!) parts.push(...rangeWithoutSlash(from, to));
      at += 2;
    } else if (isNegated || from !== '/') parts.push(quote(from));
  }
  if (isNegated) return `[^/${parts.join('')}]`;
  // RE2 has no empty class, so this class excludes every character.
  return parts.length > 0 ? `[${parts.join('')}]` : '[^\\x{0}-\\x{10FFFF}]';
}

const slashCode = 0x2f;

function rangeWithoutSlash(from: string, to: string): string[] {
  const [low, high] = [from.codePointAt(0)!, to.codePointAt(0)!];
  const range = (one: number, other: number) => (one > other ? [] : [`${point(one)}-${point(other)}`]);
  if (low > slashCode || high < slashCode) return range(low, high);
  return [...range(low, slashCode - 1), ...range(slashCode + 1, high)];
}

const point = (code: number): string => `\\x{${code.toString(16)}}`;
const quote = (character: string): string => point(character.codePointAt(0)!);
