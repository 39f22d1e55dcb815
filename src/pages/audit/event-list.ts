import { html } from 'hono/html';
import { presentEvent } from '../../api/v1/logs.ts';
import { readUuid } from '../../api/fields.ts';
import { cutText } from '../../cut-text.ts';
import { type Act, didToFreezes } from './acts.ts';
import { type DescribedEvent, describeEvent } from '../../words/describe-event.ts';
import type { Detail } from '../../words/describe-fields.ts';
import { roadOfEvent, shorten, whoActed } from '../../words/event-words.ts';
import type { ListedEvent } from '../../events/list-events.ts';
import { freezePath, planPath, pullRequestPath, repositoryPath } from '../../page-paths.ts';
import { dayAndTime, localDayAndTime, toLocalTime } from '../../time/local-time.ts';
import { countText } from '../freeze-now/plan-preview.ts';
import type { Html } from '../html.ts';
import type { PageDeps } from '../reader.ts';
import { clockTime, instantText, longText, type Times } from '../text.ts';

/**
 * The owner; whether events are of many repositories; whether the viewer is an admin of the owner; and the names of what
 * events have ids of.
 */
type ListPlace = { login: string; isOfMany?: boolean; isOwners?: boolean; named?: NamedInEvents };

/** Names of freezes and runs by their ids. */
export type NamedInEvents = { freezes: ReadonlyMap<string, string>; runs: ReadonlyMap<string, string> };

/** Reads the names of the freezes and runs that events about deployments have ids of, for insiders of their repositories. */
export async function namesInEvents(
  { db }: Pick<PageDeps, 'db'>,
  events: ListedEvent[],
): Promise<NamedInEvents> {
  const about = events.filter(({ type }) => type.startsWith('deployment'));
  // Whoever asks for an exemption writes the id of a run: it may be one of somebody else.
  const repositoryId = { in: [...new Set(about.flatMap((event) => event.repositoryId ?? []))] };
  const details = about.flatMap((event) => describeEvent(presentEvent(event, false)).details);
  const ids = [...new Set(details.flatMap(({ freezes = [] }) => freezes))].filter(
    (id) => readUuid(id) !== null,
  );
  const texts = details.filter(({ isRun, text }) => isRun && /^\d{1,18}$/.test(text)).map(({ text }) => text);
  const runs = [...new Set(texts)];
  const [freezes, deployments] = await Promise.all([
    ids.length === 0
      ? []
      : db.freeze.findMany({ where: { id: { in: ids }, repositoryId }, select: { id: true, reason: true } }),
    runs.length === 0
      ? []
      : db.deployment.findMany({
          where: { runId: { in: runs.map(BigInt) }, repositoryId },
          select: { runId: true, workflow: true, runNumber: true },
        }),
  ]);
  return {
    freezes: new Map(freezes.map(({ id, reason }) => [id, reason])),
    runs: new Map(deployments.map((each) => [String(each.runId), `${each.workflow} ${each.runNumber}`])),
  };
}

/** How a list shows when something was. */
type When = typeof instantText;

/** Who did what, newest first, each with the values before and after in one line. */
export const eventList = (events: ListedEvent[], times: Times, place: ListPlace): Html =>
  html`<ol class="log">
    ${events.map((event) => entry(event, times, place))}
  </ol>`;

/** The same below their days, with one row for all that one act made, which opens. */
export function actList(acts: Act[], times: Times, place: ListPlace): Html {
  const dayAt = ({ head, events }: Act) =>
    dayAndTime((head ?? events[0]!).receivedAt, times.zone, times.now).split(',')[0]!;
  const row = (act: Act): Html => {
    const { head, events } = act;
    if (head) return entry(head, times, place, clockTime, its(act, times, place));
    return events.length === 1 ? entry(events[0]!, times, place, clockTime) : ofMany(act, times, place);
  };
  const today = dayAndTime(times.now, times.zone, times.now).split(',')[0]!;
  return html`${[...Map.groupBy(acts, dayAt)].map(
    ([day, those]) =>
      html`<section class="day">
        <h2>${day}${day === today ? ', today' : ''}</h2>
        <ol class="log">
          ${those.map(row)}
        </ol>
      </section>`,
  )}`;
}

/** A row of several freezes that no event of a plan stands before. */
function ofMany(act: Act, times: Times, place: ListPlace): Html {
  const [first] = act.events as [ListedEvent];
  const event = presentEvent(first, place.isOwners ?? false);
  const { actor, subject } = describeEvent(event);
  const plan = (first.metadata as { freeze_plan_id?: string }).freeze_plan_id;
  const ofPlan = plan === undefined ? '' : about({ ...subject!, kind: 'plan', id: plan }, place.login, null);
  return html`<li>
    <p class="muted">${clockTime(first.receivedAt, times)}${dot} ${roadOfEvent(event)}</p>
    <p>
      <strong><bdi>${whoActed(actor, event)}</bdi></strong>
      ${didToFreezes(act)} ${freezeCount(act)}${ofPlan}
    </p>
    ${its(act, times, place)}
  </li>`;
}

const freezeCount = ({ events }: Act): string => countText(events.length, 'freeze');

/** How many freezes of an act a page lists. The download has them all. */
const mostFreezesListed = 100;

/** The freezes of an act by repository and start, each with its dates and what changed. */
function its(act: Act, times: Times, { login, isOwners = false }: ListPlace): Html {
  const rows = act.events
    .map((row) => {
      const event = presentEvent(row, isOwners);
      const described = describeEvent(event);
      const [start, end] = ['Start', 'End'].map((each) =>
        described.attributes?.find(({ name }) => name === each),
      );
      return { ...described, start, end, repository: event.repository ?? login };
    })
    .toSorted(
      (one, other) =>
        one.repository.localeCompare(other.repository, 'en') ||
        (one.start?.text ?? '').localeCompare(other.start?.text ?? '', 'en'),
    );
  return html`<details>
    <summary>${freezeCount(act)}</summary>
    <table>
      <tbody>
        ${rows.slice(0, mostFreezesListed).map(
          ({ repository, subject, start, end, details }) =>
            html`<tr>
              <th scope="row"><a href="${repositoryPath(namedDetail(repository))}">${repository}</a></th>
              <td>
                ${subject ? html`<a href="${freezePath(namedDetail(repository), subject.id)}">${shownTime(start, times)} – ${shownTime(end, times)}</a>` : ''}
              </td>
              <td class="changes">
                ${details.filter(({ before }) => before !== undefined).map((each) => change(each, times))}
              </td>
            </tr>`,
        )}
      </tbody>
    </table>
    ${rows.length > mostFreezesListed ? html`<p>and ${rows.length - mostFreezesListed} more, which the download has</p>` : ''}
  </details>`;
}

const shownTime = (detail: Detail | undefined, times: Times): Html | string =>
  !detail || detail.text === 'none'
    ? `no ${detail?.name.toLowerCase() ?? 'end'}`
    : shownDetail(detail, detail.text, times);

/** Not drawn after a time that stands at the end of its line. */
const dot = html`<span class="dot"> ·</span>`;

/** @param more what stands below. */
function entry(
  row: ListedEvent,
  times: Times,
  { login, isOfMany, isOwners = false, named }: ListPlace,
  when: When = instantText,
  more: Html | '' = '',
): Html {
  const event = presentEvent(row, isOwners);
  const described = describeEvent(event);
  const { actor, did, details, attributes, subject } = described;
  return html`<li>
    <p class="muted">
      ${when(row.receivedAt, times)}${isOfMany && event.repository ? html`${dot} ${placeLink(event.repository, event.pull_request)} ·` : dot}
      ${roadOfEvent(event)}
    </p>
    <p>
      <strong><bdi>${whoActed(actor, event)}</bdi></strong>
      ${did}${subject ? about(subject, login, event.repository) : ''}
    </p>
    ${details.length === 0 ? '' : html`<p class="changes">${details.map((each) => html`<span>${named && event.repository && isNamedById(each) ? byName(each, named, event.repository) : change(each, times)}</span> `)}</p>`}
    ${
      attributes
        ? html`<details>
            <summary>The ${subject?.kind ?? 'freeze'} at that time</summary>
            <dl>
              ${attributes.map(
                (each) =>
                  html`<div>
                    <dt>${each.name}</dt>
                    <dd>${shownDetail(each, each.text, times)}</dd>
                  </div>`,
              )}
            </dl>
          </details>`
        : ''
    }
    ${more}
  </li>`;
}

const namedDetail = (fullName: string) => {
  const [login, name] = fullName.split('/') as [string, string];
  return { name, account: { login } };
};

const placeLink = (fullName: string, number: number | null): Html =>
  number === null
    ? html`<a href="${repositoryPath(namedDetail(fullName))}">${fullName}</a>`
    : html`<a href="${pullRequestPath(namedDetail(fullName), number)}">${fullName} #${number}</a>`;

/** `: Books are closed`, as a link to the page of the freeze or plan. */
function about(
  { kind, id, name }: NonNullable<DescribedEvent['subject']>,
  login: string,
  repository: string | null,
): Html {
  const href = kind === 'plan' ? planPath(login, id) : repository && freezePath(namedDetail(repository), id);
  const text = name === '' ? `its ${kind}` : shorten(name, 120);
  return html`: ${href ? html`<a href="${href}"><bdi>${text}</bdi></a>` : html`<bdi>${text}</bdi>`}`;
}

const change = (detail: Detail, times: Times): Html =>
  html`<b>${detail.name}:</b> ${
      detail.before === undefined
        ? ''
        : html`<del><span class="said">before: </span>${shownDetail(detail, detail.before, times)}</del>
            <span class="arrow" aria-hidden="true">→</span> <span class="said">now: </span>`
    }${shownDetail(detail, detail.text, times)}`;

const isNamedById = ({ freezes = [], isRun = false }: Detail): boolean => freezes.length > 0 || isRun;

/** Freezes as links with their reasons, and a run with its workflow and number. */
const byName = ({ name, text, freezes, isRun }: Detail, named: NamedInEvents, repository: string): Html =>
  html`<b>${name}:</b> ${
      isRun
        ? html`<bdi>${named.runs.get(text) ?? text}</bdi>`
        : freezes!.map(
            (id, at) =>
              html`${at > 0 ? ', ' : ''}<a href="${freezePath(namedDetail(repository), id)}"
                  ><bdi>${shorten(named.freezes.get(id) ?? 'a freeze', 120)}</bdi></a
                >`,
          )
    }`;

const shownDetail = ({ isTime }: Detail, text: string, times: Times): Html =>
  isTime ? timeOf(text, times) : shortened(text);

/** An instant, or the wall-clock time of a freeze, whose zone stands beside it. Other texts, such as `none`, stay. */
function timeOf(text: string, times: Times): Html {
  if (!/^\d{4}-\d\d-\d\dT/.test(text)) return html`${text}`;
  if (text.endsWith('Z')) return instantText(new Date(text), times);
  return html`<time datetime="${text}" title="${text}"
    >${localDayAndTime(text, toLocalTime(times.now, times.zone))}</time
  >`;
}

/** Characters that are shown, so that the page stays small. The API's log has the full texts. */
const mostCharactersShown = 1000;

const shortened = (text: string): Html => longText(cutText(text, mostCharactersShown));
