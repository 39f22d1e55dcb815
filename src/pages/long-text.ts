import { html } from 'hono/html';
import type { Html } from './layout.ts';

/** Longer texts are folded behind their beginning: a reason may have 10,000 characters. */
const longest = 280;

/** A text that people wrote, with its line breaks, in the direction of its own script. */
export function longText(text: string): Html {
  if (text.length <= longest) return html`<span class="written" dir="auto">${text}</span>`;
  return html`<details>
    <summary dir="auto">${shorten(text, longest)}</summary>
    ${written(text)}
  </details>`;
}

/** A text that people wrote, as the heading of what follows. */
export function longHeading(text: string): Html {
  if (text.length <= longest) return html`<h3 class="written" dir="auto">${text}</h3>`;
  return html`<h3 dir="auto">${shorten(text, longest)}</h3>
    <details>
      <summary>The whole text</summary>
      ${written(text)}
    </details>`;
}

const written = (text: string): Html => html`<div class="written" dir="auto">${text}</div>`;

/** A text that people wrote, as a part of a sentence: in one line, and without a say in how the rest runs. */
export const quoted = (text: string): Html => html`<q dir="auto">${shorten(text, longestQuote)}</q>`;

const longestQuote = 120;

/** At most so many characters, in one line. */
export function shorten(text: string, most: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  const characters = Array.from(line);
  return characters.length <= most ? line : `${characters.slice(0, most - 1).join('')}…`;
}

/** Where no markup can be: a text of which the direction stays its own, if it is not the page's. */
export const isolated = (text: string): string => (turns.test(text) ? `\u2068${text}\u2069` : text);

/** Whether a text is written from right to left: its first letter says so, as for `dir="auto"`. */
export const isRightToLeft = (text: string): boolean => startsRightToLeft.test(text);

const startsRightToLeft =
  /^[^\p{L}]*[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;
const turns =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Bidi_Control}]/u;
