import type { Context } from 'hono';
import { html } from 'hono/html';
import type { Html } from '../layout.ts';

/** What a page says once after a change, by the word in its address: nobody can put words of their own there. */
const sentences = {
  unfrozen: 'Unfrozen. Holdfast lets go of what was held.',
  'plan-deleted': 'The plan is deleted. Holdfast lets go of what it held.',
} as const;

export type Said = keyof typeof sentences;

/** @returns nothing where the address says nothing that is known. */
export function saidBy({ req }: Context): Html | '' {
  const said = req.query('said') as Said | undefined;
  const sentence = said && Object.hasOwn(sentences, said) ? sentences[said] : null;
  return sentence === null ? '' : html`<p class="notice done" role="status">${sentence}</p>`;
}
