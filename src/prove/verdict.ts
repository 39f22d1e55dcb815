// The verdict of a step. Only what a step is about can be "not held": all else that goes wrong makes it unknown.
import type { Exchange } from './ask.ts';

export type ProveVerdict = 'held' | 'not held' | 'unknown';

/** GitHub does not do what the step is about. The message says what it does instead. */
export class NotHeld extends Error {}

/** The step cannot tell. The message says why. */
export class Unclear extends Error {}

/** What the step is about. @throws NotHeld */
export function claimProved(isSo: unknown, otherwise: string): asserts isSo {
  if (!isSo) throw new NotHeld(otherwise);
}

/** What the step only needs, in order to ask. @throws Unclear */
export function given(isSo: unknown, otherwise: string): asserts isSo {
  if (!isSo) throw new Unclear(otherwise);
}

/** Either of them: whether the step is about it, or only needs it. */
export type Must = (isSo: unknown, otherwise: string) => void;

const answerThat =
  (must: Must) =>
  (exchange: Exchange, ...statuses: number[]): Exchange['answer'] => {
    const { status, answer } = exchange;
    must(statuses.length === 0 ? status < 300 : statuses.includes(status), said(exchange));
    return answer;
  };
/** The body of an answer that the step needs: with one of these statuses, or with one of success. @throws Unclear */
export const needed = answerThat(given);
/** The same where the status is what the step is about. @throws NotHeld */
export const claimed = answerThat(claimProved);

/** An answer in a sentence. */
export const said = ({ method, path, status, answer }: Exchange): string =>
  `GitHub answered ${method} ${path} with ${status}${typeof answer?.message === 'string' ? ` “${answer.message}”` : ''}.`;
