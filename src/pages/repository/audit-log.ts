import { html } from 'hono/html';
import { type EventPage, retentionDays } from '../../events/list-events.ts';
import type { AuditEvent as EventRow } from '../../generated/prisma/client.ts';
import { instant, localDayAndTime, longText, type Times } from '../text.ts';
import { actorName } from '../../events/actor.ts';
import { toLocalTime } from '../../time/local-time.ts';
import type { Html } from '../layout.ts';
import { describeEvent, type Detail, eventTypeNames } from './describe-event.ts';
import { pageLinks } from './freeze-list.ts';
import { linkTo, type View, kept, option } from './view.ts';

/** Who did what, newest first. Folded, unless the viewer asked for a part of it. */
export function auditLog(log: EventPage, view: View, times: Times): Html {
  return html`<section id="log" aria-labelledby="log-heading">
    <details class="fold" ${view.log === null && view.event === null ? '' : html`open`}>
      <summary><h2 id="log-heading">Audit log</h2></summary>
      ${typeChoice(view)}
      ${
        log.events.length === 0
          ? html`<p class="muted">No events in the last ${retentionDays} days.</p>`
          : eventList(log.events, times)
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

export const eventList = (events: EventRow[], times: Times): Html =>
  html`<ol class="log">
    ${events.map((event) => entry(event, times))}
  </ol>`;

function entry(row: EventRow, times: Times): Html {
  const { actor, did, details, freeze } = describeEvent(row);
  return html`<li>
    <p class="muted">${instant(row.receivedAt, times)}</p>
    <p><strong>${actor ? actorName(actor) : 'Somebody'}</strong> ${did}</p>
    ${details.length === 0 ? '' : list(details, times)}
    ${
      freeze
        ? html`<details>
            <summary>The freeze at that time</summary>
            ${list(freeze, times)}
          </details>`
        : ''
    }
  </li>`;
}

const list = (details: Detail[], times: Times): Html =>
  html`<dl>${details.map((each) => detail(each, times))}</dl>`;

function detail({ name, before, text, isTime }: Detail, times: Times): Html {
  const shown = (value: string) => (isTime ? timeOf(value, times) : shortened(value));
  return html`<div>
    <dt>${name}</dt>
    <dd>
      ${
        before === undefined
          ? ''
          : html`<del><span class="said">before: </span>${shown(before)}</del>
              <span class="arrow" aria-hidden="true">→</span> <span class="said">now: </span>`
      }${shown(text)}
    </dd>
  </div>`;
}

/** An instant, or the wall-clock time of a freeze, whose zone stands beside it. Other texts, such as `none`, stay. */
function timeOf(text: string, times: Times): Html {
  if (!/^\d{4}-\d\d-\d\dT/.test(text)) return html`${text}`;
  if (text.endsWith('Z')) return instant(new Date(text), times);
  return html`<time datetime="${text}" title="${text}"
    >${localDayAndTime(text, toLocalTime(times.now, times.zone))}</time
  >`;
}

/** Characters that are shown, so that the page stays small. The API's log has the full texts. */
const mostShown = 1000;

const shortened = (text: string): Html =>
  longText(text.length <= mostShown ? text : `${text.slice(0, mostShown).toWellFormed()}…`);
