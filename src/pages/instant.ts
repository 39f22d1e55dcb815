import { html } from 'hono/html';
import { describeLength } from '../time/duration.ts';
import { describeInstant } from '../time/local-time.ts';
import type { Html } from './layout.ts';

/**
 * An instant in a zone and, in parentheses, in the reader's zone: the one that the URL asks for, else the browser's
 * (local-times.js).
 */
export function instant(at: Date, zone: string, asked: string | null = null): Html {
  const text = describeInstant(at, zone);
  if (asked === null) return html`<time datetime="${at.toISOString()}" data-zone="${zone}">${text}</time>`;
  const also = asked === zone ? '' : ` (${describeInstant(at, asked)})`;
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
