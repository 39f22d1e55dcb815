import type { Schemas, ServiceClient } from '../service/service.ts';
import { isPassing, misused, unknownThing, CommandStop } from '../stop.ts';
import type { RepositoryTarget } from '../target.ts';
import type { World } from '../world.ts';

/** What a gate is about: deployments to an environment, or merges into a branch; if neither, merges into any. */
export type GateOptions = { environment?: string; base?: string };

export type GateState = Schemas['FreezeState'];

/** Seconds until the gate asks again, at least and at most: somebody may end a freeze at any time. */
const [soonest, latest] = [1, 30];

/**
 * Asks whether a repository is frozen; with a wait, again and again until it is not.
 * @param wait milliseconds to wait for the end; 0: not; Infinity: as long as it takes.
 * @param onFrozen called once, with the first answer that says so.
 * @returns the last answer. @throws Stop, with the exit code for what is not known.
 */
export async function passGate(
  { now, delay }: Pick<World, 'now' | 'delay'>,
  service: ServiceClient,
  repository: RepositoryTarget,
  { environment, base }: GateOptions,
  wait: number,
  onFrozen: (state: GateState) => void,
): Promise<GateState> {
  if (environment !== undefined && base !== undefined)
    throw misused('Write --environment or --base, not both: deployments have no base branch.');
  const ask = () =>
    service.get('/repos/{owner}/{repository}/freeze_state', repository, { environment, base });
  const until = now() + wait;
  let state = await ask().catch((error: unknown) => {
    throw cannotTell(error);
  });
  if (state.frozen) onFrozen(state);
  while (state.frozen && now() < until) {
    await delay(Math.min(pauseAfter(state) * 1000, until - now()));
    // It answered before, so it is restarting or overloaded. The freeze counts until it says otherwise.
    state = await ask().catch((error: unknown) => {
      if (isPassing(error) && now() < until) return state;
      throw cannotTell(error);
    });
  }
  return state;
}

/** By the clock of the service. */
function pauseAfter({ at, next_transition_at: next }: GateState): number {
  const seconds = next === null ? latest : Math.ceil((Date.parse(next) - Date.parse(at)) / 1000);
  return Math.min(latest, Math.max(soonest, seconds));
}

/** A refusal says nothing about a freeze. */
const cannotTell = (error: unknown): unknown =>
  error instanceof CommandStop ? unknownThing(error.message, error.status) : error;

/** `acme/web, deployments to production`. @param name of the repository. */
export function describeGate(name: string, { environment, base }: GateOptions): string {
  if (environment !== undefined) return `${name}, deployments to ${environment}`;
  return base === undefined ? name : `${name}, merges into ${base}`;
}
