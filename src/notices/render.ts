import type { NoticeMessage } from './message.ts';

/** The body of a request to each kind of chat, within its limits. */
export const renderers = {
  slack: renderSlack,
  teams: renderTeams,
  discord: renderDiscord,
  google_chat: renderGoogleChat,
} satisfies Record<string, (message: NoticeMessage) => object>;

/** Google Chat accepts 32,000 bytes. A character has up to three. */
const mostForGoogleChat = 6_000;

/**
 * A message for Google Chat: the headline as text, which notifications show, and the rest as a card. In the text nothing
 * can be escaped; a card reads a little HTML.
 */
function renderGoogleChat({ headline, lines, links }: NoticeMessage): object {
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
function renderTeams({ tone, headline, lines, links }: NoticeMessage): object {
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
function renderDiscord({ tone, headline, lines, links }: NoticeMessage): object {
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

type Block = { type: string; [field: string]: unknown };

/** Slack refuses longer texts of a section, and blocks with more than about 13,000 characters in all. */
const longestSection = 2_900;
const mostSections = 3;

/**
 * A message in Slack's blocks. `text` says the same: notifications show it, and Mattermost and Rocket.Chat show nothing
 * else. Links are text, not buttons: an incoming webhook has nobody who answers the click of a button.
 */
export function renderSlack(message: NoticeMessage): { text: string; blocks: Block[] } {
  const [headline = ''] = fitLines([message.headline], longestSection, escapeForSlack);
  const lines = fitLines(message.lines, mostSections * longestSection, escapeForSlack);
  const links = message.links
    .map(({ label, url }) => `<${url.replaceAll('&', '&amp;')}|${escapeForSlack(label)}>`)
    .join(' · ');
  const blocks = [`*${headline}*`, ...inSections(lines), links].map(section);
  const buttons = message.actions ? [buttonsOf(message.actions)] : [];
  return { text: [`*${headline}*`, ...lines, links].join('\n'), blocks: [...blocks, ...buttons] };
}

/** The characters that Slack wants as entities: without `<` nothing is a link or a mention. */
const escapeForSlack = (text: string): string => asEntities(withoutMarks(text));

/** Lines, as few sections as they fit into. */
function inSections(lines: string[]): string[] {
  const sections: string[] = [];
  for (const line of lines) {
    const last = sections.at(-1);
    if (last !== undefined && last.length + 1 + line.length <= longestSection)
      sections[sections.length - 1] = `${last}\n${line}`;
    else sections.push(line);
  }
  return sections;
}

/** `verbatim`: Slack makes no links or mentions of names in the text. */
const section = (text: string): Block => ({
  type: 'section',
  text: { type: 'mrkdwn', text, verbatim: true },
});

const buttonsOf = (actions: NonNullable<NoticeMessage['actions']>): Block => ({
  type: 'actions',
  elements: actions.map(({ id, label, value, style }) => ({
    type: 'button',
    action_id: id,
    text: { type: 'plain_text', text: label },
    value,
    ...(style && { style }),
  })),
});

// Texts that people wrote, in places that read markup.

/** The lines that fit, escaped. The first that does not fit is cut, and the lines after it are left out. */
function fitLines(lines: string[], most: number, escape: (text: string) => string): string[] {
  const fitting: string[] = [];
  let left = most;
  for (const line of lines) {
    const whole = escape(line);
    const shown = whole.length <= left ? whole : cut(line, left, escape);
    if (shown === '') break;
    fitting.push(shown);
    if (shown !== whole) break;
    // One more for what joins the lines.
    left -= shown.length + 1;
  }
  return fitting;
}

/** The longest beginning whose escaped form fits, with an ellipsis; empty if not even that fits. */
function cut(line: string, most: number, escape: (text: string) => string): string {
  const characters = Array.from(line);
  const start = (count: number) => `${escape(characters.slice(0, count).join('').trimEnd())}…`;
  let [fits, tooLong] = [0, characters.length];
  while (tooLong - fits > 1) {
    const middle = Math.floor((fits + tooLong) / 2);
    if (start(middle).length <= most) fits = middle;
    else tooLong = middle;
  }
  return fits === 0 ? '' : start(fits);
}

/** An underscore that can begin or end emphasis: not one inside a name such as `my_repository`. */
const loneUnderscore = /(?<![\p{L}\p{N}_])_+|_+(?![\p{L}\p{N}_])/gu;

/** Chats read `@here` as a mention, but not with an invisible character in between. */
const withoutMentions = (text: string): string => text.replaceAll('@', '@\u200b');

const lookAlikes: Record<string, string> = { '*': '∗', _: 'ˍ', '~': '∼', '`': 'ˋ' };
const lookAlike = (marks: string): string => Array.from(marks, (mark) => lookAlikes[mark]).join('');

/** For markup that cannot be escaped: characters that look like its marks replace them. */
const withoutMarks = (text: string): string =>
  withoutMentions(text)
    .replace(/[*~`]/g, lookAlike)
    .replace(loneUnderscore, lookAlike)
    // A link of Markdown, which Mattermost and Rocket.Chat read in messages for Slack.
    .replaceAll('](', ']\u200b(');

/** Where `&`, `<` and `>` have to be entities. */
export const asEntities = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
