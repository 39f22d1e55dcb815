import { html } from 'hono/html';
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
