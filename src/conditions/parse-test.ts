import { LRUCache } from 'lru-cache';
import type { AuthorText, Comparison, Operator, Range, Test } from './ast.ts';
import type { AttributeType, ValueRule } from './attributes/attribute.ts';
import { compileGlob, quoteGlob } from './patterns/compile-glob.ts';
import { compileRegex, quoteRegex } from './patterns/compile-regex.ts';
import { ParseError } from './scanner.ts';
import { parseInterval } from './time/interval.ts';
import { parseSchedule } from './time/schedule.ts';
import { parseAgo, parseTimestamp } from './time/timestamp.ts';
import { cutText } from '../cut-text.ts';

type TestSubject = { name: string; type: AttributeType; rule: ValueRule };

/**
 * Reads the value that an attribute is compared with.
 * @param raw without space around it.
 * @throws ParseError
 */
export function parseTest(subject: TestSubject, operator: Operator, raw: string): Test {
  switch (subject.type) {
    case 'count':
    case 'number':
      return { type: 'number', operator: operator as Comparison, value: parseNumber(raw) };
    case 'timestamp':
      return parseInstantTest(operator as Range, raw);
    case 'now':
    case 'schedule':
      return parseClockTest(subject.type, operator as Comparison, raw);
    default:
      return operator === '~=' || operator === '*='
        ? parsePattern(subject, operator, raw)
        : parseText(subject, operator, raw);
  }
}

function parseNumber(raw: string): number {
  if (!/^[+-]?\d+$/.test(raw)) {
    throw new ParseError(raw === '' ? 'A number is missing' : `${cutText(raw, 40)} is not a number`, 0);
  }
  const value = Number(raw);
  if (value < 0) throw new ParseError('Value must be positive', 0);
  return value;
}

function parseText(subject: TestSubject, operator: Comparison, raw: string): Test {
  const quoted = /^(["']).*\1$/s.test(raw);
  const value = quoted ? raw.slice(1, -1) : raw;
  // A single quote is a typo.
  if (!quoted && /^["']|["']$/.test(value)) throw new ParseError('Unbalanced quotes', 0);
  const wrong = checkValue(subject, operator, value);
  if (wrong) throw new ParseError(wrong, 0);
  const isEquality = operator === '=' || operator === '!=';
  if (subject.rule === 'login' && value.startsWith('@') && isEquality) {
    return { type: 'team', operator, team: value.toLowerCase() };
  }
  if (subject.rule === 'check' && value.startsWith('@') && isEquality)
    return { type: 'app-check', operator, value };
  return { type: 'text', operator, value: inEachAuthorsWords(value, (parts, author) => parts.join(author)) };
}

/** GitHub's longest login, with the mark of a bot. */
export const longestLogin = `${'a'.repeat(39)}[bot]`;

/** Compiles the pattern now, so that a bad pattern is refused when it is sent. A single quote is part of the pattern. */
function parsePattern(subject: TestSubject, operator: '~=' | '*=', raw: string): Test {
  const isQuoted = /^(["']).*\1$/s.test(raw);
  const value = isQuoted ? raw.slice(1, -1) : raw;
  if (subject.rule === 'login' && /^@[\w./-]+$/.test(value)) {
    throw new ParseError('A team is compared with `=` or `!=`: no login looks like one', 0);
  }
  const [compile, quote] =
    operator === '~=' ? ([compileRegex, quoteRegex] as const) : ([compileGlob, quoteGlob] as const);
  try {
    const matches = inEachAuthorsWords(value, (parts, author) => compile(parts.join(quote(author))));
    // If the pattern compiles with this login, it compiles with any login.
    if (matches.usesAuthor) matches.of(longestLogin);
    return { type: 'pattern', operator, matches };
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    const what = operator === '~=' ? 'Invalid regular expression' : 'Invalid glob';
    throw new ParseError(`${what}: ${error.message}`, (isQuoted ? 1 : 0) + error.offset);
  }
}

/** Reads the value for a timestamp: an instant, or a length of time before now. */
function parseInstantTest(operator: Range, raw: string): Test {
  const ago = parseAgo(raw);
  return ago === null
    ? { type: 'instant', operator, at: parseTimestamp(raw) }
    : { type: 'age', operator, ago };
}

/** Reads the value for the current time: a schedule, an interval, or an instant. */
function parseClockTest(type: 'schedule' | 'now', operator: Comparison, raw: string): Test {
  if (operator === '=' || operator === '!=') {
    const isInterval = raw.replace(/\[[^\]]*\]/g, '').includes('/');
    if (type === 'now' && !isInterval) {
      const message =
        'Invalid interval. `=` and `!=` take one such as 2026-12-24T18:00/2027-01-02T09:00[Europe/Paris]; for one instant use `>=` or `<`';
      throw new ParseError(message, 0);
    }
    return { type: 'clock', operator, clock: type === 'schedule' ? parseSchedule(raw) : parseInterval(raw) };
  }
  if (/\bago$/i.test(raw)) {
    throw new ParseError('Invalid timestamp. A time ago is not for `current-datetime`: now is never ago', 0);
  }
  return { type: 'now', operator, at: parseTimestamp(raw) };
}

const template = /\{\{\s*author\s*\}\}/;

/** For how many authors results are cached. A compiled pattern may take megabytes. */
const mostResultsKept = 100;

/**
 * Builds a value from text once, or once for each author if the text contains `{{ author }}`.
 * @param make gets the texts between the templates, and the login to insert.
 */
function inEachAuthorsWords<Made>(
  text: string,
  make: (parts: string[], author: string) => Made,
): AuthorText<Made> {
  const parts = text.split(template);
  if (parts.length === 1) return { usesAuthor: false, value: make(parts, '') };
  const kept = new LRUCache<string, { made: Made }>({
    max: mostResultsKept,
    memoMethod: (author) => ({ made: make(parts, author) }),
  });
  return { usesAuthor: true, of: (author) => kept.memo(author).made };
}

/**
 * The problem with a value for the attribute that it is compared with; null if it is possible.
 * @param subject the kind of value. Does not check the patterns of `~=` and `*=`.
 */
function checkValue({ rule, type, name }: TestSubject, operator: Comparison, value: string): string | null {
  // Any other template would count as plain text and never match.
  const other = /\{\{\s*(?!author\s*\}\})[a-z][\w.-]*\s*\}\}/i.exec(value);
  if (other) return `Only \`{{ author }}\` can stand in a condition, not \`${cutText(other[0], 40)}\``;
  const sample = value.split(template).join('author');
  if (type === 'choice' && Array.isArray(rule)) {
    const list = (rule as string[]).map((each) => `\`${each}\``).join(', ');
    return rule.includes(sample) ? null : `\`${name}\` is one of ${list}`;
  }
  switch (rule) {
    case 'branch':
      return checkBranch(sample);
    case 'login':
      return checkLogin(sample, operator);
    case 'check':
      return !sample.startsWith('@') || /^@[\w-]+\/./.test(sample)
        ? null
        : 'Invalid check. Write its name, or `@app-slug/name` for the one of an App';
    case 'pull request':
      return /^[\w.-]+\/[\w.-]+#\d+$/.test(sample)
        ? null
        : 'Invalid pull request. Write `owner/repository#number`';
    default:
      return null;
  }
}

/** GitHub's rules in short: no spaces and none of `~ ^ : [ ] \ ? *`. */
function checkBranch(value: string): string | null {
  // eslint-disable-next-line no-control-regex -- branches have no control characters
  if (!/[\s~^:[\]\\?*\u0000-\u001f\u007f]/.test(value)) return null;
  const advice = /[?*]/.test(value) ? ' For a glob use `*=`' : ' For a regular expression use `~=`';
  return `Invalid branch name.${advice}`;
}

/** A login with letters, digits, hyphens, the `_` of managed users and the `[bot]` of bots; or a team. */
function checkLogin(value: string, operator: Comparison): string | null {
  if (/^@[\w.-]+(\/[\w.-]+)?$/.test(value)) {
    return operator === '=' || operator === '!=' ? null : 'A team is compared with `=` or `!=`';
  }
  return value === '' || /^[A-Za-z0-9_-]+(\[bot\])?$/.test(value)
    ? null
    : 'Invalid GitHub login. Write a login such as `mona` or `dependabot[bot]`, or a team such as `@org/team`';
}
