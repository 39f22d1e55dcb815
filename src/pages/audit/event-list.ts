import { html } from 'hono/html';
import { presentEvent } from '../../api/v1/logs.ts';
import { type DescribedEvent, describeEvent } from '../../events/describe-event.ts';
import type { Detail } from '../../events/describe-fields.ts';
import { roadOfEvent, shorten, whoActed } from '../../events/event-words.ts';
import type { ListedEvent } from '../../events/list-events.ts';
import { freezePath, planPath, pullRequestPath, repositoryPath } from '../../installations/page-paths.ts';
import { localDayAndTime, toLocalTime } from '../../time/local-time.ts';
import type { Html } from '../layout.ts';
import { instant, longText, type Times } from '../text.ts';

/** The owner; whether events are of many repositories; and whether the viewer is an admin of the owner. */
type ListPlace = { login: string; isOfMany?: boolean; isOwners?: boolean };

/** Who did what, newest first, each with the values before and after in one line. */
export const eventList = (events: ListedEvent[], times: Times, place: ListPlace): Html =>
  html`<ol class="log">
    ${events.map((event) => entry(event, times, place))}
  </ol>`;

function entry(row: ListedEvent, times: Times, { login, isOfMany, isOwners = false }: ListPlace): Html {
  const event = presentEvent(row, isOwners);
  const described = describeEvent(event);
  const { actor, did, details, attributes, subject } = described;
  return html`<li>
    <p class="muted">
      ${instant(row.receivedAt, times)}${isOfMany && event.repository ? html` · ${placeLink(event.repository, event.pull_request)}` : ''}
      · ${roadOfEvent(event)}
    </p>
    <p>
      <strong><bdi>${whoActed(actor, event)}</bdi></strong>
      ${did}${subject ? about(subject, login, event.repository) : ''}
    </p>
    ${details.length === 0 ? '' : html`<p class="changes">${details.map((each) => html`<span>${change(each, times)}</span> `)}</p>`}
    ${
      attributes
        ? html`<details>
            <summary>The ${subject?.kind ?? 'freeze'} at that time</summary>
            <dl>
              ${attributes.map(
                (each) =>
                  html`<div>
                    <dt>${each.name}</dt>
                    <dd>${shown(each, each.text, times)}</dd>
                  </div>`,
              )}
            </dl>
          </details>`
        : ''
    }
  </li>`;
}

const named = (fullName: string) => {
  const [login, name] = fullName.split('/') as [string, string];
  return { name, account: { login } };
};

const placeLink = (fullName: string, number: number | null): Html =>
  number === null
    ? html`<a href="${repositoryPath(named(fullName))}">${fullName}</a>`
    : html`<a href="${pullRequestPath(named(fullName), number)}">${fullName} #${number}</a>`;

/** `: Books are closed`, as a link to the page of the freeze or plan. */
function about(
  { kind, id, name }: NonNullable<DescribedEvent['subject']>,
  login: string,
  repository: string | null,
): Html {
  const href = kind === 'plan' ? planPath(login, id) : repository && freezePath(named(repository), id);
  const text = name === '' ? `its ${kind}` : shorten(name, 120);
  return html`: ${href ? html`<a href="${href}"><bdi>${text}</bdi></a>` : html`<bdi>${text}</bdi>`}`;
}

const change = (detail: Detail, times: Times): Html =>
  html`<b>${detail.name}:</b> ${
      detail.before === undefined
        ? ''
        : html`<del><span class="said">before: </span>${shown(detail, detail.before, times)}</del>
            <span class="arrow" aria-hidden="true">→</span> <span class="said">now: </span>`
    }${shown(detail, detail.text, times)}`;

const shown = ({ isTime }: Detail, text: string, times: Times): Html =>
  isTime ? timeOf(text, times) : shortened(text);

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
