import type { Message } from '../message.ts';
import { asEntities, fitLines, withoutMarks } from './plain-text.ts';

type Block = { type: string; [field: string]: unknown };

/** Slack refuses longer texts of a section, and blocks with more than about 13,000 characters in all. */
const longestSection = 2_900;
const mostSections = 3;

/**
 * A message in Slack's blocks. `text` says the same: notifications show it, and Mattermost and Rocket.Chat show nothing
 * else. Links are text, not buttons: an incoming webhook has nobody who answers the click of a button.
 */
export function renderSlack(message: Message): { text: string; blocks: Block[] } {
  const [headline = ''] = fitLines([message.headline], longestSection, escape);
  const lines = fitLines(message.lines, mostSections * longestSection, escape);
  const links = message.links
    .map(({ label, url }) => `<${url.replaceAll('&', '&amp;')}|${escape(label)}>`)
    .join(' · ');
  const blocks = [`*${headline}*`, ...inSections(lines), links].map(section);
  const buttons = message.actions ? [buttonsOf(message.actions)] : [];
  return { text: [`*${headline}*`, ...lines, links].join('\n'), blocks: [...blocks, ...buttons] };
}

/** The characters that Slack wants as entities: without `<` nothing is a link or a mention. */
const escape = (text: string): string => asEntities(withoutMarks(text));

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

const buttonsOf = (actions: NonNullable<Message['actions']>): Block => ({
  type: 'actions',
  elements: actions.map(({ id, label, value, style }) => ({
    type: 'button',
    action_id: id,
    text: { type: 'plain_text', text: label },
    value,
    ...(style && { style }),
  })),
});
