import type { ConditionInput } from '../conditions/ast.ts';

// Conditions in a form field: one on each line. A line is a condition, such as `label=hotfix`, or nested JSON, such as
// `{"or": ["base=main", "base=next"]}`.

export const toLines = (conditions: ConditionInput[]): string =>
  conditions.map((each) => (typeof each === 'string' ? each : JSON.stringify(each))).join('\n');

/** Reads the lines. A line that is not valid JSON stays text: as a condition it is refused, with its position. */
export const fromLines = (text: string): unknown[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => (line.startsWith('{') ? parse(line) : line));

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return line;
  }
}
