import { RE2JS } from 're2js';

/** As many as RE2 itself allows of one repetition. */
const mostRepetitions = 1000;

/**
 * Compiles a regular expression of a condition. Matching takes time linear in the text: no pattern can hang us.
 * @throws Error when it is not one, in RE2's words.
 */
export function compilePattern(pattern: string): RE2JS {
  // RE2 writes repetitions out, and bounds each but not their sum: 9 kB of `\pL{1000}` took 0.7 s to compile.
  let repetitions = 0;
  for (const [, least, most] of pattern.matchAll(/(?<!\\x)\{(\d+)(?:,(\d*))?\}/g)) {
    repetitions += Number(most || least);
  }
  if (repetitions > mostRepetitions) {
    throw new Error(`its repetitions add up to more than ${mostRepetitions}`);
  }
  // Python writes named groups as (?P<name>…); RE2 reads both forms.
  return RE2JS.compile(pattern);
}
