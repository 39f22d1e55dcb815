import { Refusal, refusalStatus } from '../errors.ts';
import { countOf } from './freeze-now/plan-preview.ts';
import type { Sent } from './change.ts';
import { messagePage } from './message-page.ts';

/** What was done of several things, and what the others were refused for. */
export type Outcome<Done> = { done: Done[]; refusals: Refusal[] };

/**
 * Does several things with freezes, each by itself, so that one that cannot be changed holds up no other. What somebody
 * else ended meanwhile is as it should be.
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
 * Leads on where everything was changed; else says what was not.
 * @param to where it leads. @param back the page to look at where some could not be changed.
 * @throws Refusal what the first one refused, where nothing was changed.
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
  const text = `${countOf(done.length, 'freeze is', 'freezes are')} changed, and ${refusals.length} not. ${reasons.join(' ')}`;
  const message = {
    status: refusalStatus[first.code],
    title: 'Not everything was changed',
    text,
    link: back,
  };
  return messagePage(context, message, person);
}

const mostReasons = 5;
