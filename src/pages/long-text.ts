import { html } from 'hono/html';
import type { Html } from './layout.ts';

/** Longer texts are folded after their first characters. A reason may have 10,000 characters. */
const longest = 280;

/** A text that people wrote, with its line breaks and its own text direction. */
export function longText(text: string): Html {
  if (text.length <= longest) return html`<span class="written" dir="auto">${text}</span>`;
  return html`<details>
    <summary dir="auto">${shorten(text, longest)}</summary>
    ${written(text)}
  </details>`;
}

/** A text that people wrote, as a heading. */
export function longHeading(text: string): Html {
  if (text.length <= longest) return html`<h3 class="written" dir="auto">${text}</h3>`;
  return html`<h3 dir="auto">${shorten(text, longest)}</h3>
    <details>
      <summary>Show all</summary>
      ${written(text)}
    </details>`;
}

const written = (text: string): Html => html`<div class="written" dir="auto">${text}</div>`;

/** A text that people wrote, inside a sentence: in one line, and without effect on the direction of the rest. */
export const quoted = (text: string): Html => html`<q dir="auto">${shorten(text, longestQuote)}</q>`;

const longestQuote = 120;

/** The text in one line of at most `most` characters. */
export function shorten(text: string, most: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  const characters = Array.from(line);
  return characters.length <= most ? line : `${characters.slice(0, most - 1).join('')}…`;
}

/** For places without markup: keeps the direction of a right-to-left text inside the text. */
export const isolated = (text: string): string => (turns.test(text) ? `\u2068${text}\u2069` : text);

/** Whether a text runs from right to left. Its first letter decides, as for `dir="auto"`. */
export const isRightToLeft = (text: string): boolean => startsRightToLeft.test(text);

const startsRightToLeft =
  /^[^\p{L}]*[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;
const turns =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Bidi_Control}]/u;
