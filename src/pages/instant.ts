import { html } from 'hono/html';
import { describeInstant } from '../freezes/local-time.ts';
import type { Html } from './layout.ts';

/** An instant on a zone's wall clock; `local-times.js` adds the viewer's own. */
export const instant = (at: Date, zone: string): Html =>
  html`<time datetime="${at.toISOString()}" data-zone="${zone}">${describeInstant(at, zone)}</time>`;
