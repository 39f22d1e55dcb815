import { plainText } from '../../words/event-words.ts';
import { asEntities } from '../render.ts';

// Words in Slack's mrkdwn. A text from a person is escaped, so that it links and mentions nobody.

/** A text from a person, in one line. */
export const plain = (text: string, most = 300): string => asEntities(plainText(text, most));

export const link = (url: string, text: string): string => `<${url}|${plain(text)}>`;

export const countWords = (number: number, one: string, many = `${one}s`): string =>
  `${number} ${number === 1 ? one : many}`;

/** Lines with bullets, as many as people read. */
export const bulletList = (lines: string[]): string =>
  [
    ...lines.slice(0, 15).map((line) => `• ${line}`),
    ...(lines.length > 15 ? [`• and ${lines.length - 15} more`] : []),
  ].join('\n');
