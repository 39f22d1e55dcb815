import { html } from 'hono/html';
import { type EventPage, retentionDays } from '../../events/list-events.ts';
import type { AuditEvent as EventRow } from '../../generated/prisma/client.ts';
import { instant, longText } from '../text.ts';
import { actorName } from '../../events/actor.ts';
import type { Html } from '../layout.ts';
import { describeEvent, type Detail, eventTypeNames } from './describe-event.ts';
import { pageLinks } from './freeze-list.ts';
import { linkTo, type View, kept, option } from './view.ts';

/** Who did what, newest first. Folded, unless the viewer asked for a part of it. */
export function auditLog(log: EventPage, view: View): Html {
  return html`<section id="log" aria-labelledby="log-heading">
    <details class="fold" ${view.log === null && view.event === null ? '' : html`open`}>
      <summary><h2 id="log-heading">Audit log</h2></summary>
      ${typeChoice(view)}
      ${
        log.events.length === 0
          ? html`<p class="muted">No events in the last ${retentionDays} days.</p>`
          : eventList(log.events, view.zone)
      }
      ${pageLinks('Pages of the audit log', [
        ['Newer events', log.previous && linkTo(view, { log: log.previous }, 'log')],
        ['Older events', log.next && linkTo(view, { log: log.next }, 'log')],
      ])}
    </details>
  </section>`;
}

const typeChoice = ({ zone, current, past, event }: View): Html =>
  html`<form class="choice" method="get" action="#log">
    ${kept({ zone, current, past })}
    <label for="event">Event type</label>
    <select id="event" name="event">
      ${option('', 'All events', event === null)}
      ${Object.entries(eventTypeNames).map(([type, name]) => option(type, name, type === event))}
    </select>
    <button type="submit" class="quiet">Show</button>
  </form>`;

export const eventList = (events: EventRow[], zone: string | null): Html =>
  html`<ol class="log">
    ${events.map((event) => entry(event, zone))}
  </ol>`;

function entry(row: EventRow, zone: string | null): Html {
  const { actor, did, details, freeze } = describeEvent(row);
  const at = instant(row.receivedAt, zone ?? 'UTC', zone);
  return html`<li>
    <p class="muted">${at}</p>
    <p><strong>${actor ? actorName(actor) : 'Somebody'}</strong> ${did}</p>
    ${details.length === 0 ? '' : list(details)}
    ${
      freeze
        ? html`<details>
            <summary>The freeze at that time</summary>
            ${list(freeze)}
          </details>`
        : ''
    }
  </li>`;
}

const list = (details: Detail[]): Html => html`<dl>${details.map(detail)}</dl>`;

const detail = ({ name, before, text }: Detail): Html =>
  html`<div>
    <dt>${name}</dt>
    <dd>
      ${
        before === undefined
          ? ''
          : html`<del><span class="said">before: </span>${shortened(before)}</del>
              <span class="arrow" aria-hidden="true">→</span> <span class="said">now: </span>`
      }${shortened(text)}
    </dd>
  </div>`;

/** Characters that are shown, so that the page stays small. The API's log has the full texts. */
const mostShown = 1000;

const shortened = (text: string): Html =>
  longText(text.length <= mostShown ? text : `${text.slice(0, mostShown).toWellFormed()}…`);
