import { RE2JS } from 're2js';
import { literalTest } from './literal-alternatives.ts';
import { PatternError } from './pattern-error.ts';
import type { TextTest } from './text-test.ts';

// These four limits bound the cost of compiling a pattern. Measured at each limit, it stays below 10 ms.
const mostCharacters = 1000;
/** RE2 expands repetitions, and limits each but not their sum. */
const mostRepetitions = 1000;
/** Each `\p{…}` has hundreds of ranges. */
const mostUnicodeClasses = 30;
/** If case is ignored, each character of a range is looked up. Outside ASCII there are thousands. */
const mostWideRanges = 4;

/**
 * Compiles a regular expression of a condition. It searches anywhere in the text, like Python's `re.search`, with RE2's
 * syntax. Matching takes linear time, so no pattern can hang the service.
 * @throws PatternError if it is invalid or too large.
 */
export function compileRegex(pattern: string): TextTest {
  checkSize(pattern);
  // Python's `\Z` is RE2's `\z`, the end of the text.
  const expression = pattern.replace(/\\(.)/gs, (escape, what) => (what === 'Z' ? '\\z' : escape));
  const compiled = compile(expression);
  return literalTest(expression) ?? ((text) => compiled.test(text));
}

/** The expression that only finds this text. */
export const quoteRegex = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

function checkSize(pattern: string): void {
  if (pattern.length > mostCharacters) {
    throw new PatternError(`it has more than ${mostCharacters} characters`, mostCharacters);
  }
  let repetitions = 0;
  for (const { 1: least, 2: most, index } of pattern.matchAll(/(?<!\\[xpP])\{(\d{1,9})(?:,(\d{0,9}))?\}/g)) {
    repetitions += Number(most || least);
    if (repetitions > mostRepetitions) {
      throw new PatternError(`its repetitions add up to more than ${mostRepetitions}`, index);
    }
  }
  const classes = [...pattern.matchAll(/\\[pP]/g)];
  refuseAfter(classes, mostUnicodeClasses, 'Unicode classes');
  const isWithoutCase = /\(\?[A-Za-z]*i/.test(pattern);
  // eslint-disable-next-line no-control-regex -- everything beyond ASCII
  const wide = isWithoutCase ? [...pattern.matchAll(/-(?:[^\x00-\x7f]|\\x)/g)] : [];
  refuseAfter(wide, mostWideRanges, 'wide ranges without case');
}

function refuseAfter(found: RegExpExecArray[], most: number, what: string): void {
  if (found.length > most) throw new PatternError(`it has more than ${most} ${what}`, found[most]!.index);
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
    if (!unknown) throw new PatternError(message.slice(0, 200), offset);
    throw new PatternError(
      'look-arounds and back-references do not exist here: expressions must run in linear time',
      unknown.index,
    );
  }
}
