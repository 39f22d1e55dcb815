import type { World } from '../world.ts';

/** The state that a colour shows, in addition to the word. */
export type Tone = 'held' | 'free' | 'scheduled' | 'wrong' | 'quiet';

const codes: Record<Tone, string> = { held: '33', free: '32', scheduled: '36', wrong: '31', quiet: '2' };

export type Paint = (text: string, tone: Tone) => string;

/** Colours, if the output is a terminal that has them and the person did not turn them off (https://no-color.org). */
export function paintFor({ env, out }: Pick<World, 'env' | 'out'>): Paint {
  const isPainted = out.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb';
  return (text, tone) => (isPainted ? `\u001b[${codes[tone]}m${text}\u001b[0m` : text);
}
