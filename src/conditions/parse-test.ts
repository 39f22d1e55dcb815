import type { Comparison, Operator, Range, Test } from './ast.ts';
import { checkValue } from './check-value.ts';
import { ConditionError } from './condition-error.ts';
import { inEachAuthorsWords } from './author-text.ts';
import type { Subject } from './parse-attribute.ts';
import { compileGlob, quoteGlob } from './patterns/compile-glob.ts';
import { compileRegex, quoteRegex } from './patterns/compile-regex.ts';
import { PatternError } from './patterns/pattern-error.ts';
import { parseClockTest, parseInstantTest } from './parse-time-test.ts';

type Asked = Pick<Subject, 'name' | 'type' | 'rule'>;

/**
 * Reads the value that an attribute is compared with.
 * @param raw without space around it.
 * @param column where it begins.
 * @throws ConditionError
 */
export function parseTest(subject: Asked, operator: Operator, raw: string, column: number): Test {
  switch (subject.type) {
    case 'count':
    case 'number':
      return { type: 'number', operator: operator as Comparison, value: parseNumber(raw, column) };
    case 'timestamp':
      return parseInstantTest(operator as Range, raw, column);
    case 'now':
    case 'schedule':
      return parseClockTest(subject.type, operator as Comparison, raw, column);
    default:
      return operator === '~=' || operator === '*='
        ? parsePattern(subject, operator, raw, column)
        : parseText(subject, operator, raw, column);
  }
}

function parseNumber(raw: string, column: number): number {
  if (!/^[+-]?\d+$/.test(raw)) {
    throw new ConditionError(
      raw === '' ? 'A number is missing' : `${raw.slice(0, 40)} is not a number`,
      column,
    );
  }
  const value = Number(raw);
  if (value < 0) throw new ConditionError('Value must be positive', column);
  return value;
}

function parseText(subject: Asked, operator: Comparison, raw: string, column: number): Test {
  const quoted = /^(["']).*\1$/s.test(raw);
  const value = quoted ? raw.slice(1, -1) : raw;
  // A single quote is a typo.
  if (!quoted && /^["']|["']$/.test(value)) throw new ConditionError('Unbalanced quotes', column);
  const wrong = checkValue(subject, operator, value);
  if (wrong) throw new ConditionError(wrong, column);
  const isEquality = operator === '=' || operator === '!=';
  if (subject.rule === 'login' && value.startsWith('@') && isEquality) {
    return { type: 'team', operator, team: value.toLowerCase() };
  }
  if (subject.rule === 'check' && value.startsWith('@') && isEquality)
    return { type: 'app-check', operator, value };
  return { type: 'text', operator, value: inEachAuthorsWords(value, (parts, author) => parts.join(author)) };
}

/** GitHub's longest login, with the mark of a bot. */
const longestLogin = `${'a'.repeat(39)}[bot]`;

/** Compiles the pattern now, so that a bad pattern is refused when it is sent. A single quote is part of the pattern. */
function parsePattern(subject: Asked, operator: '~=' | '*=', raw: string, column: number): Test {
  const isQuoted = /^(["']).*\1$/s.test(raw);
  const value = isQuoted ? raw.slice(1, -1) : raw;
  if (subject.rule === 'login' && /^@[\w./-]+$/.test(value)) {
    throw new ConditionError('A team is compared with `=` or `!=`: no login looks like one', column);
  }
  const [compile, quote] =
    operator === '~=' ? ([compileRegex, quoteRegex] as const) : ([compileGlob, quoteGlob] as const);
  try {
    const matches = inEachAuthorsWords(value, (parts, author) => compile(parts.join(quote(author))));
    // If the pattern compiles with this login, it compiles with any login.
    if (matches.usesAuthor) matches.of(longestLogin);
    return { type: 'pattern', operator, matches };
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    const what = operator === '~=' ? 'Invalid regular expression' : 'Invalid glob';
    throw new ConditionError(`${what}: ${error.message}`, column + (isQuoted ? 1 : 0) + error.offset);
  }
}
