import type { Message } from '../message.ts';
import { fitLines, loneUnderscore, withoutMentions } from './plain-text.ts';

/** Discord refuses a longer `content`, and a longer `description` of an embed. */
const longestContent = 2_000;
const longestDescription = 4_096;

const colours = { plain: 0x6e7781, frozen: 0x0969da, free: 0x1a7f37, wrong: 0xcf222e } as const;

/** A message for a webhook of Discord. It notifies nobody, whatever the texts contain. */
export function renderDiscord({ tone, headline, lines, links }: Message): object {
  const [content = ''] = fitLines([headline], longestContent - '****'.length, escape);
  const below = links.map(({ label, url }) => `[${escape(label)}](<${url}>)`).join(' · ');
  const room = longestDescription - below.length - 1;
  const description = [...fitLines(lines, room, escape), below].join('\n');
  return {
    content: `**${content}**`,
    embeds: [{ description, color: colours[tone] }],
    allowed_mentions: { parse: [] },
  };
}

/** All marks of Discord's Markdown, those that count at the start of a line only there. */
const escape = (text: string): string =>
  withoutMentions(text)
    .replace(/[\\*~`|<>[\]#]/g, '\\$&')
    .replace(loneUnderscore, (marks) => marks.replaceAll('_', '\\_'))
    .replace(/^-/, '\\-');
