import type { Context } from 'hono';
import { html } from 'hono/html';
import type { Html } from '../layout.ts';

/** The message of a page after a change. The URL only names it, so that nobody can inject a message. */
const sentences = {
  unfrozen: 'Unfrozen. The pull requests that were held can merge within seconds.',
  'plan-deleted': 'The plan was deleted. The pull requests that it held can merge within seconds.',
} as const;

export type Said = keyof typeof sentences;

/** @returns nothing if the URL names no known message. */
export function saidBy({ req }: Context): Html | '' {
  const said = req.query('said') as Said | undefined;
  const sentence = said && Object.hasOwn(sentences, said) ? sentences[said] : null;
  return sentence === null ? '' : html`<p class="notice done" role="status">${sentence}</p>`;
}
