import { html } from 'hono/html';
import { conflict, eachByItself, notFound, Refusal, refusalStatus } from '../errors.ts';
import { readUuid } from '../api/fields.ts';
import { assetUrl } from './assets.ts';
import type { SentForm } from './change.ts';
import { assertFresh, badField, hiddenField } from './form.ts';
import { countText } from './freeze-now/plan-preview.ts';
import type { Html } from './html.ts';
import { messagePage } from './message-page.ts';

// Acts on several rows of a list: each has a box, and a bar below the list has the button. Each row is changed by itself, by
// what its own form does, so one refusal stops no other. bulk.js shows the bar when a row is chosen, and counts.

/** How many rows one press changes. */
const mostChosen = 50;

/**
 * The box of a row.
 * @param version what the row showed, where somebody may have changed it since. @param kind which act of the bar it gets.
 * @param field its name in the form.
 */
export const bulkBox = (id: string, name: string, { version = '', kind = 0, field = 'chosen' } = {}): Html =>
  html`<input
    type="checkbox"
    class="bulk-box"
    form="bulk"
    name="${field}"
    value="${field === 'chosen' ? `${id} ${version}` : id}"
    data-kind="${kind}"
    aria-label="Select ${name}"
  />`;

/** Selects every row that has a box. Only scripts can, so that it stands nowhere without them. */
export const bulkAll = (name: string): Html =>
  html`<label class="bulk-all" hidden
    ><input type="checkbox" class="bulk-box" data-selects-all autocomplete="off" />${name}</label
  >`;

/**
 * The bar of a list.
 * @property name of the button while nobody counts. @property acts what each kind of row gets: `End`, `freeze`, `freezes`.
 * @property asks what stands before the button that acts; without it the first button does. @property atOnce the fields that
 * stand beside a button that ends at the first press.
 */
export const bulkBar = (
  action: string,
  {
    name,
    acts,
    asks,
    atOnce,
  }: { name: string; acts: [verb: string, one: string, many: string][]; asks?: Html; atOnce?: Html },
): Html =>
  html`<form id="bulk" class="bulk" method="post" action="${action}" data-acts="${JSON.stringify(acts)}">
      ${hiddenField('do', 'bulk')}
      ${
        asks
          ? html`<details class="confirm">
              <summary class="button danger" data-counted>${name}</summary>
              <div class="card form">
                ${asks}<button type="submit" class="danger" data-counted>${name.replace('…', '')}</button>
              </div>
            </details>`
          : html`${atOnce ?? ''}<button type="submit" ${atOnce ? html`class="danger"` : ''} data-counted>
                ${name}
              </button>`
      }
    </form>
    <script type="module" src="${assetUrl('bulk.js')}"></script>`;

/** A row that was chosen, and what it showed. */
export type ChosenRow = { id: string; assertSame(version: string, what: 'this freeze' | 'this plan'): void };

/** @throws Refusal invalid if nothing is chosen, or too much. */
export function chosenRows(form: URLSearchParams): ChosenRow[] {
  const rows = form.getAll('chosen').flatMap((text) => {
    const [given, version = ''] = text.split(' ');
    const id = readUuid(given);
    const seen = new URLSearchParams({ version });
    return id === null ? [] : [{ id, assertSame: assertFresh.bind(null, seen) }];
  });
  if (rows.length === 0) throw badField('chosen', 'Select at least one row.');
  if (rows.length > mostChosen) throw badField('chosen', `Select at most ${mostChosen} rows at a time.`);
  return rows;
}

/**
 * A row, and what changes it.
 * @property unseen what it is called if it is not found, where its name would then tell what the reader may not see.
 */
export type RowChange = { name: string; unseen?: string; act: () => Promise<unknown> };

const gone = 'It is no longer there.';

/** A row that is not there, so nothing knows its name. */
export const goneRow = (id: string): RowChange => ({
  name: id,
  act: async () => {
    throw notFound(gone);
  },
});

/**
 * Changes each row by itself, then goes to the list; or names what could not be changed, and why.
 * @param list its path. @param said the query that says what was done, if anything was.
 */
export async function changeRows(
  { context, viewer }: SentForm,
  rows: RowChange[],
  { list, said }: { list: string; said: () => string },
): Promise<Response> {
  const failed: { name: string; why: string }[] = [];
  const { done, refusals } = await eachByItself(
    rows.map(({ name, unseen = name, act }) => async () => {
      try {
        await act();
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        const isGone = error.code === 'not-found';
        failed.push(isGone ? { name: unseen, why: gone } : { name, why: error.message });
        throw isGone ? conflict(gone) : error;
      }
    }),
  );
  const to = done.length > 0 ? list + said() : list;
  const [first] = refusals;
  if (!first) return context.redirect(to, 303);
  return messagePage(
    context,
    {
      status: refusalStatus[first.code],
      title: done.length > 0 ? 'Some rows were not changed' : 'Nothing was changed',
      text: `${countText(done.length, 'row was', 'rows were')} changed, and ${failed.length} could not be changed:`,
      link: { href: to, text: 'Back to the list' },
      more: html`<ul>
        ${failed.map(
          ({ name, why }) =>
            html`<li>
              <strong><bdi>${name}</bdi></strong
              >: ${why}
            </li>`,
        )}
      </ul>`,
    },
    viewer,
  );
}
