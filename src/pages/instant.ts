import { html } from 'hono/html';
import { describeInstant } from '../time/local-time.ts';
import type { Html } from './layout.ts';

/**
 * An instant in a zone, and in the reader's own: in the one that the page was asked for, else (local-times.js) in
 * the browser's.
 */
export function instant(at: Date, zone: string, asked: string | null = null): Html {
  const also = asked === null || asked === zone ? '' : html` (${describeInstant(at, asked)})`;
  const shown = asked === null ? zone : `${zone} ${asked}`;
  return html`<time datetime="${at.toISOString()}" data-zone="${shown}">${describeInstant(at, zone)}</time
    >${also && html`<span class="local-time">${also}</span>`}`;
}
