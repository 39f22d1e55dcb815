import { Refusal, refusalStatus } from '../errors.ts';
import { countOf } from './freeze-now/plan-preview.ts';
import type { Sent } from './change.ts';
import { messagePage } from './message-page.ts';

/** What succeeded, and why the rest was refused. */
export type Outcome<Done> = { done: Done[]; refusals: Refusal[] };

/**
 * Changes several freezes, each on its own, so that one refusal does not stop the others. A freeze that somebody else
 * ended meanwhile counts as done.
 */
export async function eachByItself<Done>(acts: (() => Promise<Done>)[]): Promise<Outcome<Done>> {
  const done: Done[] = [];
  const refusals: Refusal[] = [];
  for (const act of acts) {
    try {
      done.push(await act());
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (error.code !== 'not-found') refusals.push(error);
    }
  }
  return { done, refusals };
}

/**
 * Redirects if everything changed; else says what did not change.
 * @param to where it redirects. @param back the page to show if some freezes could not be changed.
 * @throws Refusal the first one, if nothing changed.
 */
export function answerOutcome(
  { context, person }: Sent,
  { done, refusals }: Outcome<unknown>,
  to: string,
  back: { href: string; text: string },
): Response | Promise<Response> {
  const [first] = refusals;
  if (!first) return context.redirect(to, 303);
  if (done.length === 0) throw first;
  const reasons = [...new Set(refusals.map(({ message }) => message))].slice(0, mostReasons);
  const text = `${countOf(done.length, 'freeze was', 'freezes were')} changed, and ${refusals.length} could not be changed. ${reasons.join(' ')}`;
  const message = {
    status: refusalStatus[first.code],
    title: 'Some freezes were not changed',
    text,
    link: back,
  };
  return messagePage(context, message, person);
}

const mostReasons = 5;
