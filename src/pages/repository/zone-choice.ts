import { html } from 'hono/html';
import type { Html } from '../layout.ts';
import type { View } from './view.ts';

/**
 * The choice of the page's time zone: UTC, a zone of its freezes, or (local-times.js) the browser's zone. It applies to
 * the days of the timeline and to every time on the page.
 */
export function zoneChoice({ window, at, zone, current, past, event }: View, zones: Iterable<string>): Html {
  const others = [...new Set([...zones, window.zone])].filter((each) => each !== 'UTC');
  return html`<form class="choice" method="get">
    ${kept({ zoom: window.zoom, at: at && at.toString(), current, past, event })}
    <label for="zone">Time zone</label>
    <select id="zone" name="zone" data-offers-own-zone>
      ${option('', 'Each freeze’s own', zone === null)}
      ${['UTC', ...others.toSorted()].map((each) => option(each, each, each === zone))}
    </select>
    <button type="submit" class="quiet">Show</button>
  </form>`;
}

/** The query parameters that a form of the page keeps. */
export const kept = (words: Record<string, string | null>): Html[] =>
  Object.entries(words).flatMap(([name, value]) =>
    value === null ? [] : [html`<input type="hidden" name="${name}" value="${value}" />`],
  );

export const option = (value: string, name: string, isChosen: boolean): Html =>
  html`<option value="${value}" ${isChosen ? html`selected` : ''}>${name}</option>`;
