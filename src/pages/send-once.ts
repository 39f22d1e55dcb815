import { randomUUID } from 'node:crypto';
import { type Remember as RememberAnswer, runOnce } from '../api/idempotency.ts';
import type { Sent } from './change.ts';
import { digestOf } from './digest.ts';
import { hidden } from './form.ts';
import type { Html } from './layout.ts';

/** Identifies one display of a form. */
export const onceField = (): Html => hidden('key', randomUUID());

/** Saves the target of the redirect in the transaction of the change, like `runOnce`. */
export type Remember = (tx: Parameters<RememberAnswer>[0], to: string) => Promise<void>;

/**
 * Makes the change of a form with `onceField` once, even if the form is sent several times: a second tap redirects to
 * the same page as the first one. If a person goes back and changes a field, that counts as a new form.
 * @param fields the content of the form. @param change makes the change and returns the target of the redirect.
 */
export async function sendOnce(
  { deps, context, person, form }: Sent,
  fields: unknown,
  change: (remember: Remember) => Promise<string>,
): Promise<Response> {
  const key = digestOf([form.get('key') ?? randomUUID(), fields]);
  const where = { caller: `user:${person.id}`, request: `POST ${context.req.path}`, key };
  const answer = await runOnce(deps, where, fields, async (remember) => ({
    status: 303,
    body: await change((tx, to) => remember(tx, { status: 303, body: to })),
  }));
  return context.redirect(answer.body as string, 303);
}
