import { type Holding, whatIsBlocked } from '../../events/describe-fields.ts';
import { asCode } from '../../github/markdown.ts';
import { usages } from './command.ts';

// What Holdfast writes into conversations, in GitHub's Markdown. Texts from people are in code spans, where `@name`
// notifies nobody and numbers and URLs do not link to other issues.

/** The maximum length of our sentences, which may quote people. */
const longestSentence = 1000;

/** A sentence from a use case. It may quote what people wrote. */
export const sentence = (text: string): string => asCode(text, longestSentence);

/** In brackets, what a freeze blocks; empty for merges alone. */
export function alsoBlocked(freeze: Holding): string {
  const blocked = whatIsBlocked(freeze, (name) => asCode(name));
  return blocked === null ? '' : ` (${blocked.slice(0, 1).toLowerCase()}${blocked.slice(1, -1)})`;
}

/** The answer to an unknown command. */
export const usageText = ['Holdfast knows these commands, in the first line of a comment:', '']
  .concat(Object.values(usages).map((usage) => `- ${asCode(usage)}`))
  .join('\n');

/** Hidden marks by which we recognize what we wrote. */
export const answerMark = (commentId: bigint): string => `<!-- holdfast answers comment ${commentId} -->`;
export const requestMark = (id: string): string => `<!-- holdfast announces request ${id} -->`;

/** The full text of a comment. @param page the URL of the pull request's page. */
export const bodyOf = (text: string, page: string, mark: string): string =>
  `${text}\n\n[View this pull request on Holdfast](${page})\n\n${mark}`;

/** What an admin can do about a request for one commit. */
export const howToDecide = (headSha: string): string =>
  `An admin or approver of the repository can write ${asCode(`/holdfast approve ${headSha.slice(0, 7)}`)} or ${asCode('/holdfast deny <reason>')} here, or decide on the page.`;
