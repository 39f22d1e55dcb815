import { html } from 'hono/html';
import type { Html } from '../layout.ts';
import type { View } from './view.ts';

/** A form that shows the page in another zone: UTC, a freeze's own, and (local-times.js) the browser's. */
export function zoneChoice(view: View, freezes: { timezone: string }[]): Html {
  const { zone: chosen } = view.window;
  const zones = [...new Set([...freezes.map(({ timezone }) => timezone), chosen])].filter(
    (zone) => zone !== 'UTC',
  );
  return html`<form class="choice" method="get" action="#timeline">
    ${kept({ zoom: view.window.zoom, at: view.at && view.at.toString(), event: view.event })}
    <label for="zone">Time zone</label>
    <select id="zone" name="zone" data-offers-own-zone>
      ${['UTC', ...zones.toSorted()].map((zone) => option(zone, zone, zone === chosen))}
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
