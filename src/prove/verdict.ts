// The verdict of a step. Only what a step is about can be "not held": all else that goes wrong makes it unknown.
import type { Exchange } from './ask.ts';

export type Verdict = 'held' | 'not held' | 'unknown';

/** GitHub does not do what the step is about. The message says what it does instead. */
export class NotHeld extends Error {}

/** The step cannot tell. The message says why. */
export class Unclear extends Error {}

/** What the step is about. @throws NotHeld */
export function claim(isSo: boolean, otherwise: string): asserts isSo {
  if (!isSo) throw new NotHeld(otherwise);
}

/** What the step only needs, in order to ask. @throws Unclear */
export function given(isSo: boolean, otherwise: string): asserts isSo {
  if (!isSo) throw new Unclear(otherwise);
}

/** The body of an answer that the step needs. @throws Unclear for another status. */
export function needed(exchange: Exchange, ...statuses: number[]): Exchange['answer'] {
  given(statuses.includes(exchange.status), said(exchange));
  return exchange.answer;
}

/** An answer in a sentence. */
export const said = ({ method, path, status, answer }: Exchange): string =>
  `GitHub answered ${method} ${path} with ${status}${typeof answer?.message === 'string' ? ` “${answer.message}”` : ''}.`;
