import { html } from 'hono/html';
import { describeLength } from '../time/duration.ts';
import { describeInstant } from '../time/local-time.ts';
import type { Html } from './layout.ts';

/**
 * An instant in a zone and, in parentheses, in the reader's zone: the one that the URL asks for, else the browser's
 * (local-times.js).
 */
export function instant(at: Date, zone: string, ownZone: string | null = null): Html {
  const text = describeInstant(at, zone);
  if (ownZone === null) return html`<time datetime="${at.toISOString()}" data-zone="${zone}">${text}</time>`;
  const also = ownZone === zone ? '' : ` (${describeInstant(at, ownZone)})`;
  return html`<time datetime="${at.toISOString()}">${text}</time
    >${also && html`<span class="local-time">${also}</span>`}`;
}

/** `until Tue 24 Nov, 08:00 (Europe/Berlin), in 10 h`, or that it has no end. */
export function untilText(endsAt: Date | null, timeZone: string, now: Date): Html {
  if (!endsAt) return html`until you remove it`;
  const text = `${dayAndTime(endsAt, timeZone)} (${timeZone})`;
  const left = describeLength(endsAt.getTime() - now.getTime());
  return html`until <strong><time datetime="${endsAt.toISOString()}">${text}</time></strong
    >, in ${left}`;
}

/** `Tue 24 Nov, 08:00`, and `Tue 24 Nov 2027, 08:00` where the year is not the present one. @param now gives that year. */
export function dayAndTime(at: Date, timeZone: string, now: Date | null = null): string {
  const format = new Intl.DateTimeFormat('en-GB', { ...partsOfTime, timeZone });
  const parts = format.formatToParts(at);
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.find((each) => each.type === type)?.value ?? '';
  const isThisYear = now === null || format.formatToParts(now).some(({ value }) => value === part('year'));
  const year = isThisYear ? '' : ` ${part('year')}`;
  return `${part('weekday')} ${part('day')} ${part('month')}${year}, ${part('hour')}:${part('minute')}`;
}

const partsOfTime = {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
} as const;

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
