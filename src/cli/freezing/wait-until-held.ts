import { atOnce } from '../at-once.ts';
import type { Call } from '../call.ts';
import type { Enforcement } from '../service/shapes.ts';
import { type Service, v1 } from '../service/service.ts';
import { type ExitCode, exitCodes, isPassing } from '../stop.ts';
import type { Repository } from '../target.ts';

/** A freeze, and how far GitHub enforces it. */
export type Held = Repository & { id: string; enforcement: Enforcement };

/** The state of one freeze: GitHub holds it, Holdfast is still writing, GitHub does not hold it, or does not say. */
export type HeldState = 'held' | 'waiting' | 'not enforced' | 'unknown';

export function stateOf({ switched_on, enforced, not_held, ...more }: Enforcement): HeldState {
  if (!switched_on) return 'not enforced';
  const isWaiting = more.waiting_writes > 0 || not_held.some(({ reason }) => reason === 'waiting');
  if (isWaiting || more.look_due || more.pull_requests.to_hold === null) return 'waiting';
  if (enforced === false || more.leaking.length > 0 || not_held.length > 0) return 'not enforced';
  return enforced === 'unknown' ? 'unknown' : 'held';
}

/** How often to ask again if GitHub does not say. */
const mostUnknown = 10;

/**
 * Waits until GitHub holds everything that these freezes hold, or cannot, and says how far it is.
 * @param longest milliseconds.
 * @param stop ends the waiting, with its reason.
 */
export async function waitUntilHeld(
  { world, output }: Pick<Call, 'world' | 'output'>,
  service: Service,
  freezes: (Repository & { id: string })[],
  longest: number,
  stop?: AbortSignal,
): Promise<Held[]> {
  const until = world.now() + longest;
  let held: Held[] = [];
  let looks = 0;
  // GitHub may say a moment later what it did not say in time.
  const isOpen = ({ enforcement }: Held) =>
    stateOf(enforcement) === 'waiting' || (stateOf(enforcement) === 'unknown' && looks < mostUnknown);
  for (let said = ''; ;) {
    const settled = new Map(held.filter((each) => !isOpen(each)).map((each) => [each.id, each]));
    looks++;
    const isLate = world.now() >= until;
    let progress: string;
    try {
      held = await atOnce(freezes, 6, async (freeze) => settled.get(freeze.id) ?? ask(service, freeze));
      const waiting = held.filter(isOpen).length;
      if (waiting === 0 || isLate) return held;
      progress = `Writing to GitHub: ${held.length - waiting} of ${held.length} repositories are done.`;
    } catch (error) {
      if (isLate || !isPassing(error)) throw error;
      progress = `${error.message} Trying again.`;
    }
    if (progress !== said) output.note((said = progress));
    await world.delay(1000, stop);
  }
}

const ask = async (
  service: Service,
  { owner, repository, id }: Repository & { id: string },
): Promise<Held> => {
  const path = v1('repos', owner, repository, 'scheduled_freeze', id, 'enforcement');
  return { owner, repository, id, enforcement: await service.get<Enforcement>(path) };
};

/** The exit code for all of them. */
export function exitCodeOf(held: Held[]): ExitCode {
  const states = new Set(held.map(({ enforcement }) => stateOf(enforcement)));
  if (states.has('not enforced')) return exitCodes.refused;
  return states.has('waiting') || states.has('unknown') ? exitCodes.notKnown : exitCodes.done;
}

/** A row for each, and what to do about those that GitHub does not hold. */
export function showHeld({ output }: Pick<Call, 'output'>, held: Held[]): void {
  output.table(
    ['REPOSITORY', 'STATE', 'HELD'],
    held.map(({ owner, repository, enforcement }) => {
      const state = stateOf(enforcement);
      const { held, to_hold } = enforcement.pull_requests;
      const tone = state === 'held' ? 'held' : state === 'not enforced' ? 'wrong' : 'quiet';
      return [
        `${owner}/${repository}`,
        { text: state, tone },
        to_hold === null ? 'not judged yet' : `${held} of ${to_hold}`,
      ];
    }),
  );
  sayHeld({ output }, held);
}

/** What to do about those that GitHub does not hold. */
export function sayHeld({ output }: Pick<Call, 'output'>, held: Held[]): void {
  for (const { owner, repository, enforcement } of held) {
    const state = stateOf(enforcement);
    const name = `${owner}/${repository}`;
    if (state !== 'held') output.note(`${name} is ${state}. What to do in ${name}: holdfast doctor ${name}`);
  }
}
