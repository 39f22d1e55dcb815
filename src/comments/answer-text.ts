import { usages } from './command.ts';

// What Holdfast writes into conversations, in GitHub's Markdown. Texts of people stand in code: there no `@name` calls
// anybody, and no number or address links to another issue.

/** A text of somebody as code, in one line. */
export function asCode(text: string, most = 200): string {
  const line = text
    .toWellFormed()
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  const characters = Array.from(line);
  const shown = characters.length <= most ? line : `${characters.slice(0, most - 1).join('')}…`;
  if (shown === '') return '';
  const runs = shown.match(/`+/g) ?? [];
  const fence = '`'.repeat(Math.max(0, ...runs.map(({ length }) => length)) + 1);
  const space = runs.length > 0 ? ' ' : '';
  return fence + space + shown + space + fence;
}

/** The longest sentence of ours that quotes somebody. */
const longestSentence = 1000;

/** A sentence of a use case: it may quote what people wrote. */
export const sentence = (text: string): string => asCode(text, longestSentence);

/** What is written for a command that nobody knows. */
export const usageText = ['Holdfast knows these commands, in the first line of a comment:', '']
  .concat(Object.values(usages).map((usage) => `- ${asCode(usage)}`))
  .join('\n');

/** Tells an answer of ours from any other comment. It is not shown. */
export const markOf = (commentId: bigint): string => `<!-- holdfast answers comment ${commentId} -->`;

/** An answer as it is written. @param page the address of the pull request's page. */
export const answerBody = (commentId: bigint, text: string, page: string): string =>
  `${text}\n\n[The page of this pull request](${page})\n\n${markOf(commentId)}`;
