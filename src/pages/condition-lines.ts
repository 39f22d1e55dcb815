import type { ConditionInput } from '../conditions/ast.ts';

// Conditions as a field of a form has them: one a line, `label=hotfix` or, nested, `{"or": ["base=main", "base=next"]}`.

export const toLines = (conditions: ConditionInput[]): string =>
  conditions.map((each) => (typeof each === 'string' ? each : JSON.stringify(each))).join('\n');

/** What the lines say. A line that cannot be read stays as it is: as a condition it is refused, with its place. */
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
