import { html } from 'hono/html';
import type { Explained } from '../../explanations/explain-pull-request.ts';
import type { Freeze } from '../../freezes/freeze.ts';
import { type FoundRepository, fullName } from '../../installations/find-repository.ts';
import { freezePath } from '../../page-paths.ts';
import { shorten } from '../../words/event-words.ts';
import { instantText, longHeading, quotedText, type Times } from '../text.ts';
import type { Html } from '../html.ts';
import { heldSentence } from '../held.ts';
import type { ConditionReason } from '../../conditions/explain.ts';
import type { WrittenStatus } from '../../statuses/write-store.ts';

/** A freeze and its effect on the pull request; the freeze alone while GitHub is not available. */
export type ShownFreeze = Pick<Explained, 'freeze'> & Partial<Explained>;

/** What the card needs to say where an admin removes a freeze, and how the reader sees times. */
type RemovalPlace = { publicUrl: string; repository: FoundRepository; times: Times };

/** How many cards are open. The others are folded. */
const mostOpen = 3;

/** A card for each freeze. @param content `holding` or `passing`. */
export const cards = (freezes: ShownFreeze[], place: RemovalPlace, content: typeof holding): Html =>
  html`${freezes.map((each, index) =>
    index < mostOpen
      ? html`<section class="card">${longHeading(each.freeze.reason)} ${content(each, place)}</section>`
      : html`<details class="card fold">
          <summary>
            <h3 dir="auto">${shorten(each.freeze.reason, 120)}</h3>
            ${untilOf(each.freeze, place.times)}
          </summary>
          ${content(each, place)}
        </details>`,
  )}`;

/** The card of a freeze that holds the pull request: until when, and on which values. */
export const holding = ({ freeze, verdict, reasons }: ShownFreeze, place: RemovalPlace): Html =>
  html`<p>${lastsUntil(freeze, place.times)}</p>
    ${
      verdict === 'unknown'
        ? html`<p>
            Holdfast could not evaluate all of its conditions. The freeze holds until it can, and Holdfast
            tries again.
          </p>`
        : ''
    }
    ${reasons ? why(freeze, reasons) : ''}
    <details>
      <summary>Delete it with the API</summary>
      ${command(freeze, place)}
    </details>`;

/** The card of an ongoing freeze that does not hold the pull request. */
export const passing = (
  { freeze, verdict, pass, reasons }: ShownFreeze,
  { repository, times }: RemovalPlace,
): Html =>
  html`<p>
      ${
        pass
          ? 'It would block this pull request, but the pull request is exempt.'
          : verdict === 'excluded'
            ? 'It excludes this pull request.'
            : 'This pull request does not match its conditions.'
      }
    </p>
    <p>${lastsUntil(freeze, times)} <a href="${freezePath(repository, freeze.id)}">View the freeze</a></p>
    ${reasons ? why(freeze, reasons) : ''}`;

const untilOf = ({ endsAt, timezone }: Freeze, times: Times): Html =>
  endsAt ? html`until ${instantText(endsAt, times, timezone)}` : html`until removed`;

export const lastsUntil = ({ startsAt, endsAt, timezone }: Freeze, times: Times): Html =>
  html`Since ${instantText(startsAt, times, timezone)},
  ${endsAt ? html`until <strong>${instantText(endsAt, times, timezone)}</strong>.` : 'until removed.'}`;

/** The reasons of several freezes, inside a sentence. @param last shows the last one. */
export const reasons = (freezes: Pick<Freeze, 'reason'>[], last = quotedText): Html =>
  html`${freezes.map(
    ({ reason }, index) =>
      html`${index > 0 ? ', ' : ''}${(index === freezes.length - 1 ? last : quotedText)(reason)}`,
  )}`;

const why = (freeze: Freeze, { matching, exclude }: Explained['reasons']): Html =>
  html`<p>
      ${
        freeze.matchingConditions.length === 0
          ? `It applies to all pull requests${exclude.length > 0 ? ' except those that it excludes' : ''}.`
          : html`It applies to pull requests that match ${heldSentence(freeze.matchingConditions)}.`
      }
    </p>
    ${exclude.length > 0 ? html`<p>It excludes pull requests that match ${heldSentence(freeze.excludeConditions)}.</p>` : ''}
    ${
      freeze.matchingConditions.length + exclude.length > 0
        ? html`<details>
            <summary>Conditions and their values</summary>
            ${freeze.matchingConditions.length > 0 ? reasonsTable('What it applies to', matching) : ''}
            ${exclude.length > 0 ? reasonsTable('What it excludes', exclude) : ''}
          </details>`
        : ''
    }`;

const command = ({ id }: Freeze, { publicUrl, repository }: RemovalPlace): Html =>
  html`<pre><code>curl -X POST ${publicUrl}/v1/repos/${fullName(repository)}/scheduled_freeze/${id}/delete \\
  -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" \\
  -d '{"delete_reason": "…"}'</code></pre>`;

/** What holds the pull request: each freeze, and until when each of several is on. */
export function whyHeld(freezes: ShownFreeze[], repository: FoundRepository, times: Times): Html[] {
  const left = freezes.length - mostOpen;
  const each = freezes.slice(0, mostOpen).map(
    ({ freeze }, at) =>
      html`${at === 0 ? 'Why ' : ''}<a href="${freezePath(repository, freeze.id)}"
          ><bdi>${shorten(freeze.reason, 120)}</bdi></a
        >${freezes.length > 1 ? html`, ${untilOf(freeze, times)}` : ''}`,
  );
  return left > 0 ? [...each, html`<a href="#holding">and ${left} more</a>`] : each;
}

/**
 * What lets the pull request through without an exemption, for each freeze that holds it.
 * @param isAlone whether no other pull request blocks it. @param ender whom to ask to end a freeze, after "an"; null if the viewer may.
 */
export function waysThrough(
  freezes: ShownFreeze[],
  isAlone: boolean,
  repository: FoundRepository,
  ender: string | null,
  times: Times,
): Html {
  const isOne = freezes.length === 1;
  const many = isOne ? 'it takes one of these' : 'it takes one of these for each freeze';
  const these = isOne && isAlone ? 'one of these is enough' : many;
  const left = freezes.length - mostOpen;
  const ways = (some: ShownFreeze[]) =>
    some.map(
      (each) =>
        html`${isOne ? '' : html`<p>${quotedText(each.freeze.reason)}:</p>`}
        ${waysPast(each, repository, ender, times)}`,
    );
  return html`<p>
      Without an exemption, ${these}${isAlone ? ':' : ', and that no other pull request below blocks it:'}
    </p>
    ${ways(freezes.slice(0, mostOpen))}
    ${
      left > 0
        ? html`<details>
            <summary>${left} more ${left === 1 ? 'freeze' : 'freezes'}</summary>
            ${ways(freezes.slice(mostOpen))}
          </details>`
        : ''
    }`;
}

function waysPast(
  { freeze, releasing }: ShownFreeze,
  repository: FoundRepository,
  ender: string | null,
  times: Times,
): Html {
  const { id, endsAt, timezone, matchingConditions, excludeConditions } = freeze;
  const { putOn = [], takeOff = [] } = releasing ?? {};
  return html`<ul>
    ${putOn.map((label) => html`<li>Add the label <code>${label}</code> to this pull request.</li>`)}
    ${takeOff.map((label) => html`<li>Remove the label <code>${label}</code> from this pull request.</li>`)}
    ${
      putOn.length === 0 && excludeConditions.length > 0
        ? html`<li>
            Change it so that it matches what the freeze excludes: ${heldSentence(excludeConditions)}.
          </li>`
        : ''
    }
    ${
      takeOff.length === 0 && matchingConditions.length > 0
        ? html`<li>
            Change it so that it no longer matches what the freeze holds: ${heldSentence(matchingConditions)}.
          </li>`
        : ''
    }
    ${endsAt ? html`<li>Wait. The freeze ends by itself on ${instantText(endsAt, times, timezone)}.</li>` : ''}
    <li>
      ${endsAt ? '' : 'The freeze doesn’t end by itself.'}
      ${ender === null ? (endsAt ? 'End' : 'Set an end') : `Ask an ${ender} to ${endsAt ? 'end' : 'set an end'}`}
      or delete it on
      <a href="${freezePath(repository, id)}">the page of the freeze</a>.
    </li>
  </ul>`;
}

/** How many conditions are not folded. A list may have 2,000, so those that decide come first. */
const mostConditionsShown = 12;

/** The conditions of a list, each with the value that it saw. Those that decide are bold. */
function reasonsTable(caption: string, reasons: ConditionReason[]): Html {
  const left = reasons.length - mostConditionsShown;
  if (left <= 0) return table(caption, reasons);
  const decisiveFirst = reasons.toSorted((one, other) => Number(other.decides) - Number(one.decides));
  return html`${table(caption, decisiveFirst.slice(0, mostConditionsShown))}
    <details>
      <summary>${left} more conditions</summary>
      ${table('More conditions', decisiveFirst.slice(mostConditionsShown))}
    </details>`;
}

const table = (caption: string, reasons: ConditionReason[]): Html =>
  captioned(
    html`${caption}`,
    ['Condition', 'Value', 'Matches'],
    reasons.map(
      (reason) =>
        html`<tr class="${reason.decides ? 'decides' : ''}">
          <td>${isTurned(reason) ? 'not ' : ''}<code dir="auto">${reason.condition}</code></td>
          <td>${seen(reason)}</td>
          <td class="short">${matches(reason)}</td>
        </tr>`,
    ),
  );

/** A table whose short columns are those of `short`. */
const captioned = (caption: Html, columns: string[], rows: Html[]): Html =>
  html`<table>
    <caption>
      ${caption}
    </caption>
    <thead>
      <tr>
        ${columns.map((each) => html`<th scope="col" ${short.has(each) ? html`class="short"` : ''}>${each}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${rows}
    </tbody>
  </table>`;

const short: ReadonlySet<string> = new Set(['Matches', 'State']);

/** Whether an odd number of `not`s around the condition inverts it. */
const isTurned = ({ path }: ConditionReason): boolean =>
  path.filter((step) => step === 'not').length % 2 === 1;

function seen({ saw, more, why }: ConditionReason): Html | string {
  if (saw === null) return why ?? 'unknown';
  if (saw.length === 0) return html`<span class="muted">none</span>`;
  const values = saw.map(
    (value, index) => html`${index > 0 ? ', ' : ''}<code dir="auto">${String(value)}</code>`,
  );
  return html`${values}${more > 0 ? ` and ${more} more` : ''}`;
}

/** The result of the condition, including a `not` before it. */
function matches(reason: ConditionReason): string {
  if (reason.match === 'unknown') return 'could not be judged';
  return reason.match !== isTurned(reason) ? 'yes' : 'no';
}

/** The latest statuses that Holdfast wrote on a commit, newest first. */
export const statusesTable = (sha: string, statuses: WrittenStatus[], times: Times): Html =>
  html`<details class="fold">
    <summary><h2>Written statuses</h2></summary>
    ${
      statuses.length === 0
        ? html`<p>None yet on <code>${sha.slice(0, 10)}</code>.</p>`
        : captioned(
            html`On <code>${sha.slice(0, 10)}</code>, newest first`,
            ['When', 'State', 'Description'],
            statuses.map(
              ({ at, state, description }) =>
                html`<tr>
                  <td>${instantText(at, times)}</td>
                  <td class="short">${state}</td>
                  <td>${description}</td>
                </tr>`,
            ),
          )
    }
  </details>`;
