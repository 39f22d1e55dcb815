import { html } from 'hono/html';
import { actorName } from '../events/actor.ts';
import { blocksMerges, sharedEnds, whatIsBlocked } from '../words/describe-fields.ts';
import { shorten } from '../words/event-words.ts';
import { heldEnvironmentsIn } from '../explanations/enforcement/held-environments.ts';
import { deploymentsHeldBy, holdsSomething } from '../explanations/enforcement/judge-environments.ts';
import { asPublic } from '../freezes/freeze.ts';
import { countFreed, type Freed } from '../explanations/freeze-groups.ts';
import { enforcedOf, type RepositoryState } from '../explanations/repository-states.ts';
import type { Ongoing } from '../plans/ongoing.ts';
import { countText } from './freeze-now/plan-preview.ts';
import { notSaid } from './held.ts';
import type { Html } from './html.ts';
import type { PageDeps } from './reader.ts';
import { type Times, untilTexts } from './text.ts';

// What is ongoing, to select what ends. Freezes of merges and of deployments stand apart.

/** A row: something ongoing, and what ending it does. */
export type UnfreezeRow = {
  ongoing: Ongoing;
  reason: string;
  /** The repositories by their places in the list of the page, which count for the button once. */
  places: number[];
  counts: Freed;
  /** In how many of them it holds deployments; null if that is not known of all, or not for the reader. */
  holdsIn: number | null;
  isChosen: boolean;
};

/** @param chosen the values of those that are selected. @param isInside whether the reader sees reasons that are not public. */
export async function unfreezeRows(
  deps: PageDeps,
  all: Ongoing[],
  repositories: RepositoryState[],
  chosen: string[],
  isInside: boolean,
): Promise<UnfreezeRow[]> {
  if (all.length === 0) return [];
  const seen = repositories.filter((each) => isInside || each.private);
  // What GitHub requires decides what is blocked.
  await enforcedOf(deps, seen);
  const counts = await countFreed(
    deps,
    repositories.map(({ id }) => id),
    all.map(({ freezes }) => new Set(freezes.map(({ id }) => id))),
    new Set(seen.map(({ id }) => id)),
  );
  const places = new Map(repositories.map(({ id }, place) => [id, place]));
  const holding = await Promise.all(all.map((ongoing) => whereHeld(deps, ongoing, seen)));
  return all.map((ongoing, index) => ({
    ongoing,
    reason: (isInside ? ongoing.freezes[0]! : asPublic(ongoing.freezes[0]!)).reason,
    places: [...new Set(ongoing.freezes.map(({ repositoryId }) => places.get(repositoryId)!))],
    counts: counts[index]!,
    holdsIn: holding[index]!,
    isChosen: chosen.includes(ongoing.value),
  }));
}

/** In how many repositories GitHub waits for Holdfast. @param seen those whose inside the reader sees. */
async function whereHeld(
  deps: PageDeps,
  { freezes }: Ongoing,
  seen: RepositoryState[],
): Promise<number | null> {
  const its = Map.groupBy(
    freezes.filter(({ holds }) => holds?.includes('deployments')),
    ({ repositoryId }) => repositoryId,
  );
  const rows = seen.filter(({ id }) => its.has(id));
  if (its.size === 0 || rows.length < its.size) return null;
  const found = await heldEnvironmentsIn(deps, rows, (id) =>
    (its.get(id) ?? []).map(({ environments }) => ({
      holds: ['deployments'],
      ...(environments?.length && { environments: [...environments] }),
    })),
  );
  const words = [...found.values()].map((each) => holdsSomething(deploymentsHeldBy(each ?? 'unknown')));
  return words.includes('unknown') ? null : words.filter(Boolean).length;
}

/** What the button does: `End 1 freeze in 8 repositories`. unfreeze.js says the same after each click. */
export function endWords(rows: UnfreezeRow[]): string {
  const chosen = rows.filter(({ isChosen }) => isChosen);
  if (chosen.length === 0) return 'End the selected freezes';
  const places = new Set(chosen.flatMap((row) => row.places));
  return `End ${countText(chosen.length, 'freeze')} in ${countText(places.size, 'repository', 'repositories')}`;
}

/** A table for each kind of freeze that there is. While nothing is chosen, the first box has the focus. */
export function unfreezeTables(rows: UnfreezeRow[], times: Times): Html {
  const ofMerges = rows.filter(({ ongoing }) => blocksMerges(ongoing.freezes[0]!));
  const others = rows.filter((row) => !ofMerges.includes(row));
  const first = rows.some(({ isChosen }) => isChosen) ? undefined : (ofMerges[0] ?? others[0]);
  return html`${tableOf('Freezes of merges', 'merges', ofMerges, first, times)}
  ${tableOf('Freezes of deployments', 'deployments', others, first, times)}`;
}

const tableOf = (
  title: string,
  id: string,
  rows: UnfreezeRow[],
  first: UnfreezeRow | undefined,
  times: Times,
): Html | '' =>
  rows.length === 0
    ? ''
    : html`<fieldset>
        <legend>${title}</legend>
        <table class="stacked freezes to-end">
          <thead>
            <tr>
              <th class="tick-box">
                <input
                  type="checkbox"
                  data-selects-all
                  aria-label="Select all ${title.toLowerCase()}"
                  hidden
                />
              </th>
              <th>Freeze</th>
              <th>Holds</th>
              <th>Created by</th>
              <th>End</th>
            </tr>
          </thead>
          <tbody>
            ${rows.map((row, index) => rowOf(row, `${id}-${index}`, row === first, times))}
          </tbody>
        </table>
      </fieldset>`;

function rowOf(
  { ongoing, reason, places, counts, holdsIn, isChosen }: UnfreezeRow,
  id: string,
  hasFocus: boolean,
  times: Times,
): Html {
  const { value, freezes, repositories, plan, createdBy } = ongoing;
  const [freeze] = freezes;
  const { timezone } = freeze!;
  const ends = sharedEnds(freezes.map(({ endsAt }) => endsAt));
  const where = repositories.length <= mostRowsNamed ? `: ${repositories.toSorted().join(', ')}` : '';
  const isOfMerges = blocksMerges(freeze!);
  const { held, all, unsaid, frees } = counts;
  const what = isOfMerges
    ? `Holds ${held === all ? '' : `${held} of `}${countText(all, 'pull request')} in`
    : `Deployments in${holdsIn === null || holdsIn === places.length ? '' : ` ${holdsIn} of`}`;
  const notes = [
    ...(frees < held ? [`Its end alone frees ${frees === 0 ? 'none' : frees}.`] : []),
    ...(unsaid > 0 ? [`${notSaid(unsaid)}.`] : []),
  ];
  const others = isOfMerges && notes.length > 0 ? `. ${notes.join(' ')}` : '';
  return html`<tr>
    <td class="tick-box">
      <input
        type="checkbox"
        id="${id}"
        name="ongoing"
        value="${value}"
        data-places="${rangesOf(places)}"
        ${isChosen ? html`checked` : ''}
        ${hasFocus ? html`autofocus` : ''}
      />
    </td>
    <th scope="row">
      <label for="${id}"><bdi>${shorten(reason, 120)}</bdi></label>
      <div class="muted">${plan ? 'The entire plan.' : ''} ${whatIsBlocked(freeze!) ?? ''}</div>
    </th>
    <td>${what} ${countText(places.length, 'repository', 'repositories')}${where}${others}</td>
    <td class="made-by"><bdi>${actorName(createdBy)}</bdi></td>
    <td class="ends">${untilTexts(ends, times, timezone)}</td>
  </tr>`;
}

const mostRowsNamed = 3;

/** `0-7 9`: places in few bytes, because a plan may freeze thousands of repositories. */
function rangesOf(places: number[]): string {
  const ranges: [from: number, to: number][] = [];
  for (const place of places.toSorted((one, other) => one - other)) {
    const last = ranges.at(-1);
    if (last && last[1] === place - 1) last[1] = place;
    else ranges.push([place, place]);
  }
  return ranges.map(([from, to]) => (from === to ? String(from) : `${from}-${to}`)).join(' ');
}
