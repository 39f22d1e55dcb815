import type { Context } from 'hono';
import { getCookie } from 'hono/cookie';
import { html } from 'hono/html';
import type { SharedEnd } from '../words/describe-fields.ts';
import { shorten } from '../words/event-words.ts';
import { describeLength } from '../time/duration.ts';
import { cityOf, dayAndTime, describeInstant, isTimeZone, toLocalTime } from '../time/local-time.ts';
import { assetUrl } from './assets.ts';
import type { Html } from './html.ts';

/** How a reader sees times: in their zone, and with words where now is near. */
export type Times = { zone: string; now: Date };

/** The time zone of a page: the one that its URL asks for, else the reader's (a cookie of local-times.js), else UTC. */
export function readerZone(context: Context): string {
  const zones = [context.req.query('zone'), getCookie(context, 'zone')];
  return zones.find((zone) => zone !== undefined && isTimeZone(zone)) ?? 'UTC';
}

/**
 * `Fri 27 Nov, 18:00 (12:00 New York)`: an instant in the reader's zone, and how far it is from now when one points at it.
 * Names UTC, which a page also shows while it does not know the reader's zone.
 * @param ownZone the zone of the freeze, which stands beside it where its clock differs.
 */
export function instantText(at: Date, { zone, now }: Times, ownZone = zone): Html {
  const beside = besideIt(at, zone, ownZone, now).join('');
  const exact = [...new Set([zone, ownZone])].map((each) => describeInstant(at, each));
  const title = [...exact, ...nearNow(at, now)].join(', ');
  const text = `${dayAndTime(at, zone, now)}${zone === 'UTC' ? ' UTC' : ''}`;
  return html`<time datetime="${at.toISOString()}" title="${title}">${text}</time
    >${beside && html`<span class="beside-time"> (${beside})</span>`}`;
}

/** The same, with how far it is from now: once on a page, where it matters most. */
export const instantAndDistance = (at: Date, times: Times, ownZone = times.zone): Html =>
  html`${instantText(at, times, ownZone)}${nearNow(at, times.now).map((near) => html`<span class="muted distance"> (${near})</span>`)}`;

/** `18:00`: an instant below the heading of its day. */
export const clockTime = (at: Date, { zone }: Times): Html =>
  html`<time datetime="${at.toISOString()}" title="${describeInstant(at, zone)}"
    >${toLocalTime(at, zone).slice(11, 16)}${zone === 'UTC' ? ' UTC' : ''}</time
  >`;

/** The clock of another zone, with its day where that is another one; nothing if it shows the same. */
function besideIt(at: Date, zone: string, ownZone: string, now: Date): string[] {
  const [here, there] = [dayAndTime(at, zone, now), dayAndTime(at, ownZone, now)];
  if (here === there) return [];
  const [day, time] = there.split(', ') as [string, string];
  return [`${here.startsWith(`${day},`) ? time : there} ${cityOf(ownZone)}`];
}

/** Farther from now, the day says more than the hours. */
const near = 24 * 3_600_000;
/** What a page asked for while it was made is past. */
const moment = 5_000;

function nearNow(at: Date, now: Date): string[] {
  const left = at.getTime() - now.getTime();
  if (Math.abs(left) >= near) return [];
  return [left < moment ? `${describeLength(Math.max(0, -left))} ago` : `in ${describeLength(left)}`];
}

/** `until Tue 24 Nov, 08:00 (in 10 h)`, or that it has no end. */
export const untilText = (endsAt: Date | null, times: Times, ownZone: string): Html =>
  endsAt
    ? html`until <strong>${instantAndDistance(endsAt, times, ownZone)}</strong>`
    : html`until you remove it`;

/** The same of several freezes: `7 until Fri 27 Nov, 18:00, 2 until removed`. */
export const untilTexts = (ends: SharedEnd[], times: Times, ownZone = times.zone): Html =>
  html`${ends.map(({ which, at }, index) => html`${index > 0 ? ', ' : ''}${which}${at ? html`until ${instantText(at, times, ownZone)}` : 'until removed'}`)}`;

/** Longer texts are folded after their first characters. A reason may have 10,000 characters. */
const longestUnfolded = 280;

/** A text that people wrote, with its line breaks and its own text direction. */
export function longText(text: string): Html {
  if (text.length <= longestUnfolded) return html`<span class="written" dir="auto">${text}</span>`;
  return html`<details>
    <summary dir="auto">${shorten(text, longestUnfolded)}</summary>
    ${written(text)}
  </details>`;
}

/** A text that people wrote, as a heading. */
export function longHeading(text: string): Html {
  if (text.length <= longestUnfolded) return html`<h3 class="written" dir="auto">${text}</h3>`;
  return html`<h3 dir="auto">${shorten(text, longestUnfolded)}</h3>
    <details>
      <summary>Show all</summary>
      ${written(text)}
    </details>`;
}

const written = (text: string): Html => html`<div class="written" dir="auto">${text}</div>`;

/** Warnings of the API as notices. What is code in their Markdown is code here. */
export const warningNotices = (warnings: readonly string[]): Html =>
  html`${warnings.map((warning) => html`<p class="notice">${warning.split(/(`[^`]+`)/).map(codeIn)}</p>`)}`;

const codeIn = (part: string): Html | string =>
  /^`[^`]+`$/.test(part) ? html`<code dir="auto">${part.slice(1, -1)}</code>` : part;

/** A text that people wrote, inside a sentence: in one line, and without effect on the direction of the rest. */
export const quotedText = (text: string): Html => html`<q dir="auto">${shorten(text, longestQuote)}</q>`;

/** The same at the end of a sentence, which gets a full stop unless the text has an end of its own. */
export const quotedLast = (text: string): Html =>
  html`${quotedText(text)}${/[.!?…]$/u.test(shorten(text, longestQuote)) ? '' : '.'}`;

const longestQuote = 120;

/** A text that is shown once, with a button that copies it. Without scripts there is no button. */
export const toCopy = (text: string): Html =>
  html`<pre class="written">${text}</pre>
    <button type="button" class="quiet" data-copy="${text}" hidden>Copy</button>
    <script type="module" src="${assetUrl('copy.js')}"></script>`;

/** The headings of a table's columns. @param ofNumbers those whose cells are numbers. */
export const headings = (columns: (string | Html)[], ofNumbers: string[] = []): Html =>
  html`<thead>
    <tr>
      ${columns.map((each) => html`<th scope="col" ${ofNumbers.some((name) => name === each) ? html`class="number"` : ''}>${each}</th>`)}
    </tr>
  </thead>`;
