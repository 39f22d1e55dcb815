import type { Message } from '../message.ts';
import { fitLines } from './plain-text.ts';

/** Teams accepts about 28 kB. A character has up to three bytes. */
const longestText = 6_000;

/** The colours of Adaptive Cards. */
const colours = { plain: 'Default', frozen: 'Accent', free: 'Good', wrong: 'Attention' } as const;

/**
 * A message as an Adaptive Card, for the workflow "Post to a channel when a webhook request is received". Text runs show
 * their text as it is: no Markdown, no mentions.
 */
export function renderTeams({ tone, headline, lines, links }: Message): object {
  const paragraph = (text: string, look = {}) => ({
    type: 'RichTextBlock',
    inlines: [{ type: 'TextRun', text, ...look }],
  });
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    fallbackText: headline,
    msteams: { width: 'Full' },
    body: [
      paragraph(headline, { weight: 'Bolder', color: colours[tone] }),
      ...fitLines(lines, longestText, (text) => text).map((line) => paragraph(line)),
    ],
    actions: links.map(({ label, url }) => ({ type: 'Action.OpenUrl', title: label, url })),
  };
  const attachment = { contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content };
  return { type: 'message', attachments: [attachment] };
}
