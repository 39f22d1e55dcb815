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
  const parts = new Intl.DateTimeFormat('en-GB', { ...dayAndTime, timeZone }).formatToParts(endsAt);
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.find((each) => each.type === type)?.value ?? '';
  const text = `${part('weekday')} ${part('day')} ${part('month')}, ${part('hour')}:${part('minute')} (${timeZone})`;
  const left = describeLength(endsAt.getTime() - now.getTime());
  return html`until <strong><time datetime="${endsAt.toISOString()}">${text}</time></strong
    >, in ${left}`;
}

const dayAndTime = {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
} as const;
