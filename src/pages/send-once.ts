import { randomUUID } from 'node:crypto';
import { type Remember as RememberAnswer, runOnce } from '../api/idempotency.ts';
import type { Sent } from './change.ts';
import { digestOf } from './digest.ts';
import { hidden } from './form.ts';
import type { Html } from './layout.ts';

/** Tells one showing of a form from another. */
export const onceField = (): Html => hidden('key', randomUUID());

/** Saves where the change leads, in its transaction: as that of `runOnce`. */
export type Remember = (tx: Parameters<RememberAnswer>[0], to: string) => Promise<void>;

/**
 * Makes the change of a form that was shown with `onceField`, once, however often it is sent: a second tap is led to
 * where the first one was. A form to which somebody went back, and in which they changed something, is another one.
 * @param fields what the form says. @param change makes it. @returns where it leads.
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
