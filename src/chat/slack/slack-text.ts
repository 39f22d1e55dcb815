import { asEntities } from '../../notices/render.ts';
import { plain } from '../../notices/slack/slack-words.ts';
import { meantUsage, slackUsages } from '../commands/command.ts';
import type { Writing } from '../commands/order.ts';
import { cutText } from '../../cut-text.ts';

// What people read in Slack, as answers and in windows.

export const inMrkdwn: Writing = { strong: (text) => `*${text}*`, said: (text) => plain(text), bullet: '•' };

/** The most characters of a section. */
const longestSlackSection = 3_000;

/** Paragraphs as sections, each within Slack's limit. */
const sections = (paragraphs: string[]): object[] =>
  paragraphs.slice(0, 40).map((text) => ({
    type: 'section',
    text: { type: 'mrkdwn', text: cutText(text, longestSlackSection) },
  }));

/** Warnings in sentences, each in a line. */
export const warned = (warnings: string[]): string[] =>
  warnings.map((warning) => `:warning: ${plain(warning, 1_000)}`);

export const nothingChanged = (message: string): string => `*Nothing was changed.* ${plain(message, 1_000)}`;

/** The answer to `/holdfast help` and to an unknown command: the one that may be meant, and all. */
export function helpFor(text: string): string {
  const meant = meantUsage(text);
  return meant === null ? helpText : `Did you mean \`${asEntities(meant)}\`?\n\n${helpText}`;
}

const helpText = ['Holdfast knows these commands:', '']
  .concat(Object.values(slackUsages).map((usage) => `• \`${asEntities(usage)}\``))
  .concat(
    '',
    'A repository is `acme/web`, or `web` where only one owner uses this Slack app; several are `web,api-*`. A pull request is `acme/web#12` or its address. A plan is `plan "Year end"`.',
  )
  .join('\n');

const titleLength = 24;

/** A window of Slack. @property reason asks for one. */
export type SlackWindow = { title: string; paragraphs: string[]; act?: string; reason?: { label: string } };

/** @param id the request that the window belongs to. */
export const viewOf = (id: string, { title, paragraphs, act, reason }: SlackWindow): object => ({
  type: 'modal',
  callback_id: 'holdfast',
  private_metadata: id,
  title: { type: 'plain_text', text: cutText(title, titleLength) },
  ...(act && { submit: { type: 'plain_text', text: cutText(act, titleLength) } }),
  close: { type: 'plain_text', text: act ? 'Cancel' : 'Close' },
  blocks: [
    ...sections(paragraphs),
    ...(reason
      ? [
          {
            type: 'input',
            block_id: 'reason',
            label: { type: 'plain_text', text: reason.label },
            element: { type: 'plain_text_input', action_id: 'reason', max_length: 3_000 },
          },
        ]
      : []),
  ],
});

/** Shown while Holdfast asks GitHub. */
export const looking: SlackWindow = {
  title: 'Holdfast',
  paragraphs: ['Holdfast is checking your permission and the open pull requests…'],
};
