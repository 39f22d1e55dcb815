import { requestsAtOnce } from './items.ts';
import pLimit from 'p-limit';
import type { CommandCall } from '../command.ts';
import type { Schemas, ServiceClient } from '../service/service.ts';
import { type ExitCode, exitCodes, isPassing } from '../stop.ts';
import { nameOfTarget, type RepositoryTarget } from '../target.ts';
import type { Output } from '../terminal.ts';
import { whatGitHubRefuses } from '../../words/describe-fields.ts';

type FreezeId = RepositoryTarget & { id: string };
type Enforcement = Schemas['FreezeEnforcement'];

export type Held = FreezeId & { enforcement: Enforcement };

/** The state of one freeze: GitHub holds it, Holdfast is still writing, GitHub does not hold it, or does not say. */
type HeldState = 'held' | 'waiting' | 'not enforced' | 'unknown';

function holdState({ switched_on, enforced, not_held, ...more }: Enforcement): HeldState {
  if (!switched_on) return 'not enforced';
  // A ruleset blocks what waits for its status.
  const isAtOnce = more.seconds_until_held === 0 && more.instant.state === 'on';
  const isWaiting = more.waiting_writes > 0 || not_held.some(({ reason }) => reason === 'waiting');
  if ((isWaiting && !isAtOnce) || more.look_due || more.pull_requests.to_hold === null) return 'waiting';
  const isFree = not_held.some(({ reason }) => reason !== 'waiting');
  if (enforced === false || more.leaking.length > 0 || isFree) return 'not enforced';
  return enforced === 'unknown' ? 'unknown' : 'held';
}

/** How often to ask again if GitHub does not say. */
const mostUnknownAnswers = 10;

/**
 * Waits until GitHub holds everything that these freezes hold, or cannot, and says how far it is.
 * @param longest milliseconds.
 * @param stop ends the waiting, with its reason.
 */
export async function waitUntilHeld(
  { world, output }: CommandCall,
  service: ServiceClient,
  freezes: FreezeId[],
  longest: number,
  stop?: AbortSignal,
): Promise<Held[]> {
  const until = world.now() + longest;
  let held: Held[] = [];
  let tries = 0;
  // GitHub may say a moment later what it did not say in time.
  const isOpen = ({ enforcement }: Held) =>
    holdState(enforcement) === 'waiting' ||
    (holdState(enforcement) === 'unknown' && tries < mostUnknownAnswers);
  for (let shown = ''; ;) {
    const settled = new Map(held.filter((each) => !isOpen(each)).map((each) => [each.id, each]));
    tries++;
    const isLate = world.now() >= until;
    let progress: string;
    try {
      held = await pLimit(requestsAtOnce).map(
        freezes,
        (freeze) => settled.get(freeze.id) ?? askProgress(service, freeze),
      );
      const waiting = held.filter(isOpen).length;
      if (waiting === 0 || isLate) return held;
      const left = Math.max(...held.map(({ enforcement }) => enforcement.seconds_until_held ?? 0));
      progress = `Writing to GitHub: ${held.length - waiting} of ${held.length} repositories are done${left > 0 ? `, ${timeLeft(left)}` : ''}.`;
    } catch (error) {
      if (isLate || !isPassing(error)) throw error;
      progress = `${error.message} Trying again.`;
    }
    if (progress !== shown) output.note((shown = progress));
    await world.delay(1000, stop);
  }
}

/** `about 8 min left`, in steps that do not change each second. */
const timeLeft = (seconds: number): string =>
  seconds < 60
    ? `about ${Math.ceil(seconds / 10) * 10} s left`
    : `about ${Math.round(seconds / 60)} min left`;

async function askProgress(service: ServiceClient, { owner, repository, id }: FreezeId): Promise<Held> {
  const path = '/repos/{owner}/{repository}/scheduled_freeze/{freeze_id}/enforcement';
  const enforcement = await service.get(path, { owner, repository, freeze_id: id });
  return { owner, repository, id, enforcement };
}

/** The exit code for all of them. */
export function exitCodeOf(held: Held[]): ExitCode {
  const states = new Set(held.map(({ enforcement }) => holdState(enforcement)));
  if (states.has('not enforced')) return exitCodes.refused;
  return states.has('waiting') || states.has('unknown') ? exitCodes.notKnown : exitCodes.done;
}

/** A row for each, and what to do about those that GitHub does not hold. */
export function showHeld(call: CommandCall, all: Held[]): void {
  call.output.table(
    ['REPOSITORY', 'STATE', 'HELD'],
    all.map(({ enforcement, ...repository }) => {
      const state = holdState(enforcement);
      const { held, to_hold } = enforcement.pull_requests;
      const tone = state === 'held' ? 'held' : state === 'not enforced' ? 'wrong' : 'quiet';
      return [
        nameOfTarget(repository),
        { text: state, tone },
        to_hold === null
          ? 'not judged yet'
          : `${held} of ${to_hold}${state === 'held' && held < to_hold ? ', the rest by a ruleset' : ''}`,
      ];
    }),
  );
  noteNotHeld(call, all);
}

/** What to do about those that GitHub does not hold. */
export function noteNotHeld({ output }: CommandCall, all: Held[]): void {
  for (const { enforcement, ...repository } of all) {
    const state = holdState(enforcement);
    const name = nameOfTarget(repository);
    if (state !== 'held') output.note(`${name} is ${state}. What to do in ${name}: holdfast doctor ${name}`);
  }
}

/** Prints how much of a plan of an owner is enforced. @returns 1 if something is not. */
export function showPlanProgress(
  output: Output,
  owner: string,
  progress: Schemas['FreezePlanEnforcement'],
): ExitCode {
  const { held, to_hold: toHold, to_refuse: toRefuse = null, repositories, waiting } = progress;
  // A status that is not written yet blocks nothing, and neither does one that GitHub does not require.
  const done =
    toRefuse === null
      ? `${held} of ${toHold} pull requests have their status`
      : `${Math.min(held, toRefuse)} of ${toHold} pull requests are blocked`;
  const left = progress.seconds_until_held ? `, ${timeLeft(progress.seconds_until_held)}` : '';
  output.line(`${done} in ${repositories} repositories; ${waiting} statuses wait to be written${left}.`);
  for (const note of whatGitHubRefuses([{ name: owner, toHold, toRefuse }]).notes) output.line(note);
  if (waiting > 0 && progress.seconds_until_held === 0) output.line('Rulesets block all of them already.');
  for (const name of progress.not_enforced) output.note(`Not enforced: ${name}. See holdfast doctor ${name}`);
  output.json(progress);
  const isEnforced = progress.not_enforced.length === 0 && (toRefuse === null || toRefuse === toHold);
  return isEnforced ? exitCodes.done : exitCodes.refused;
}
