import { Refusal, refusalStatus } from '../errors.ts';
import { countOf } from './freeze-now/plan-preview.ts';
import type { Sent } from './change.ts';
import { messagePage } from './message-page.ts';

/**
 * Changes several freezes, each by itself, so that one that cannot be changed holds up no other. What somebody else ended
 * meanwhile is as it should be.
 * @param to where it leads; @param back the page to look at where some could not be changed.
 * @throws Refusal what the first one refused, where nothing was changed.
 */
export async function eachByItself(
  { context, person }: Sent,
  changes: (() => Promise<unknown>)[],
  to: string,
  back: { href: string; text: string },
): Promise<Response> {
  const refusals: Refusal[] = [];
  let changed = 0;
  for (const change of changes) {
    try {
      await change();
      changed++;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (error.code !== 'not-found') refusals.push(error);
    }
  }
  const [first] = refusals;
  if (!first) return context.redirect(to, 303);
  if (changed === 0) throw first;
  const reasons = [...new Set(refusals.map(({ message }) => message))].slice(0, mostReasons);
  const text = `${countOf(changed, 'freeze is', 'freezes are')} changed, and ${refusals.length} not. ${reasons.join(' ')}`;
  const message = {
    status: refusalStatus[first.code],
    title: 'Not everything was changed',
    text,
    link: back,
  };
  return messagePage(context, message, person);
}

const mostReasons = 5;
