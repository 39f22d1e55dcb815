import { renderSlack } from './kinds/slack.ts';
import type { Message } from './message.ts';
import { asEntities, fitLines, withoutMarks, loneUnderscore, withoutMentions } from './kinds/plain-text.ts';

/** The body of a request to each kind of chat, within its limits. */
export const renderers = {
  slack: renderSlack,
  teams: renderTeams,
  discord: renderDiscord,
  google_chat: renderGoogleChat,
} satisfies Record<string, (message: Message) => object>;

/** Google Chat accepts 32,000 bytes. A character has up to three. */
const mostForGoogleChat = 6_000;

/**
 * A message for Google Chat: the headline as text, which notifications show, and the rest as a card. In the text nothing
 * can be escaped; a card reads a little HTML.
 */
function renderGoogleChat({ headline, lines, links }: Message): object {
  const text = fitLines(lines, mostForGoogleChat, asEntities).join('<br>');
  const buttons = links.map(({ label, url }) => ({ text: label, onClick: { openLink: { url } } }));
  const widgets = [...(text === '' ? [] : [{ textParagraph: { text } }]), { buttonList: { buttons } }];
  return {
    text: `*${withoutMarks(headline).replaceAll('<', '‹').replaceAll('>', '›')}*`,
    cardsV2: [{ cardId: 'notice', card: { sections: [{ widgets }] } }],
  };
}

/** Teams accepts about 28 kB. A character has up to three bytes. */
const mostForTeams = 6_000;

const cardColours = { plain: 'Default', frozen: 'Accent', free: 'Good', wrong: 'Attention' } as const;

/**
 * A message as an Adaptive Card, for the workflow "Post to a channel when a webhook request is received". Text runs show
 * their text as it is: no Markdown, no mentions.
 */
function renderTeams({ tone, headline, lines, links }: Message): object {
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
      paragraph(headline, { weight: 'Bolder', color: cardColours[tone] }),
      ...fitLines(lines, mostForTeams, (text) => text).map((line) => paragraph(line)),
    ],
    actions: links.map(({ label, url }) => ({ type: 'Action.OpenUrl', title: label, url })),
  };
  const attachment = { contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content };
  return { type: 'message', attachments: [attachment] };
}

/** Discord refuses a longer `content`, and a longer `description` of an embed. */
const longestContent = 2_000;
const longestDescription = 4_096;

const discordColours = { plain: 0x6e7781, frozen: 0x0969da, free: 0x1a7f37, wrong: 0xcf222e } as const;

/** A message for a webhook of Discord. It notifies nobody, whatever the texts contain. */
function renderDiscord({ tone, headline, lines, links }: Message): object {
  const [content = ''] = fitLines([headline], longestContent - '****'.length, escapeForDiscord);
  const below = links.map(({ label, url }) => `[${escapeForDiscord(label)}](<${url}>)`).join(' · ');
  const room = longestDescription - below.length - 1;
  const description = [...fitLines(lines, room, escapeForDiscord), below].join('\n');
  return {
    content: `**${content}**`,
    embeds: [{ description, color: discordColours[tone] }],
    allowed_mentions: { parse: [] },
  };
}

/** All marks of Discord's Markdown, those that count at the start of a line only there. */
const escapeForDiscord = (text: string): string =>
  withoutMentions(text)
    .replace(/[\\*~`|<>[\]#]/g, '\\$&')
    .replace(loneUnderscore, (marks) => marks.replaceAll('_', '\\_'))
    .replace(/^-/, '\\-');
