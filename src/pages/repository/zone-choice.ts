import { html } from 'hono/html';
import type { Html } from '../layout.ts';
import type { View } from './view.ts';

/**
 * The one place where the zone of a page is chosen: UTC, a freeze's own, and (local-times.js) the browser's. It goes for
 * the timeline's days and for every time of the page.
 */
export function zoneChoice({ window, at, zone, current, past, event }: View, zones: Iterable<string>): Html {
  const others = [...new Set([...zones, window.zone])].filter((each) => each !== 'UTC');
  return html`<form class="choice" method="get">
    ${kept({ zoom: window.zoom, at: at && at.toString(), current, past, event })}
    <label for="zone">Times in</label>
    <select id="zone" name="zone" data-offers-own-zone>
      ${option('', 'their own zones', zone === null)}
      ${['UTC', ...others.toSorted()].map((each) => option(each, each, each === zone))}
    </select>
    <button type="submit" class="quiet">Show</button>
  </form>`;
}

/** What a form of the page leaves as it is. */
export const kept = (words: Record<string, string | null>): Html[] =>
  Object.entries(words).flatMap(([name, value]) =>
    value === null ? [] : [html`<input type="hidden" name="${name}" value="${value}" />`],
  );

export const option = (value: string, name: string, isChosen: boolean): Html =>
  html`<option value="${value}" ${isChosen ? html`selected` : ''}>${name}</option>`;
