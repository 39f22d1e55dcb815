import { RE2JS } from 're2js';
import { expandBraces } from './expand-braces.ts';
import { classEnd, classExpression } from './glob-class.ts';
import { PatternError } from './pattern-error.ts';
import type { TextTest } from './text-test.ts';

const mostCharacters = 1000;

/**
 * Compiles a glob of a condition. It matches the whole text, is case-sensitive, and `/` separates segments. As a whole
 * segment, `*` matches one segment and `**` any number. Inside a segment, `*`, `?` and classes never match `/`.
 * @throws PatternError if its braces do not match, or it is too large.
 */
export function compileGlob(glob: string): TextTest {
  if (glob.length > mostCharacters)
    throw new PatternError(`it has more than ${mostCharacters} characters`, mostCharacters);
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
  return simple.length === 1 ? only! : (text) => simple.some((test) => test(text));
}

/** Unescapes braces and commas, after the others are expanded. */
const unescape = (glob: string): string => glob.replace(/\\([{},])/g, '$1');

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

function expressionOf(glob: string): string {
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
