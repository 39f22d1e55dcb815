import type { Message } from '../message.ts';
import { asEntities, fitLines, withoutMarks } from './plain-text.ts';

/** Google Chat accepts 32,000 bytes. A character has up to three. */
const longestText = 6_000;

/**
 * A message for Google Chat: the headline as text, which notifications show, and the rest as a card. In the text nothing
 * can be escaped; a card reads a little HTML.
 */
export function renderGoogleChat({ headline, lines, links }: Message): object {
  const text = fitLines(lines, longestText, asEntities).join('<br>');
  const buttons = links.map(({ label, url }) => ({ text: label, onClick: { openLink: { url } } }));
  const widgets = [...(text === '' ? [] : [{ textParagraph: { text } }]), { buttonList: { buttons } }];
  return {
    text: `*${withoutMarks(headline).replaceAll('<', '‹').replaceAll('>', '›')}*`,
    cardsV2: [{ cardId: 'notice', card: { sections: [{ widgets }] } }],
  };
}
