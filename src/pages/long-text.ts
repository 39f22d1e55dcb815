import { html } from 'hono/html';
import type { Html } from './layout.ts';

/** Longer texts are folded behind their beginning: a reason may have 10,000 characters. */
const longest = 280;

/** A text that people wrote, with its line breaks. */
export function longText(text: string): Html {
  if (text.length <= longest) return html`<span class="written">${text}</span>`;
  return html`<details class="written">
    <summary>${shorten(text, longest)}</summary>
    ${text}
  </details>`;
}

/** At most so many characters, in one line. */
export function shorten(text: string, most: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  const characters = Array.from(line);
  return characters.length <= most ? line : `${characters.slice(0, most - 1).join('')}…`;
}
