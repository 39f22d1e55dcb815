import { plainText } from '../words/event-words.ts';

/** A text from a person as a code span, in one line: `@name` notifies nobody, and numbers and URLs become no links. */
export function asCode(text: string, most = 200): string {
  const shown = plainText(text, most);
  if (shown === '') return '';
  const runs = shown.match(/`+/g) ?? [];
  const fence = '`'.repeat(Math.max(0, ...runs.map(({ length }) => length)) + 1);
  const space = runs.length > 0 ? ' ' : '';
  return fence + space + shown + space + fence;
}
