import { defineTask, NotNow, type Takers } from '../database/queue/define-task.ts';
import type { TaskName, Tasks } from '../database/queue/jobs.ts';
import type { Ground } from '../database/ground.ts';
import { nowOf } from '../time/clock.ts';
import type { Effect, Item, Outcome } from './effect.ts';

/** Milliseconds after which other lanes have their turn. */
const longestTurn = 30_000;

/**
 * Defines the task that works a lane, beside the kind of what it does outside.
 * @param effectOf null: nothing is to do.
 */
export function defineLane<
  Name extends TaskName,
  Due extends Item,
  Result extends Outcome,
  Needs extends Ground,
>(
  maker: { task: Name },
  effectOf: (
    deps: Needs,
    data: Tasks[Name],
    turn: bigint,
  ) => Effect<Due, Result> | Promise<Effect<Due, Result> | null>,
  takers: Partial<Pick<Takers, 'takers' | 'ofOwner'>> = {},
) {
  return defineTask(
    maker,
    async (deps: Needs, data, _all, { turn }) => {
      const effect = await effectOf(deps, data, turn!);
      if (effect) await workLane(deps, effect);
    },
    { ...takers, inLanes: true },
  );
}

/**
 * Does what is due in a lane, until nothing is. The only loop of its kind: nobody else works in this lane, what may have
 * arrived is looked up before it is tried again, and attempts are counted before they begin.
 * @throws NotNow if the lane has to go on later; the error of a place that is down.
 */
async function workLane<Due extends Item, Result extends Outcome>(
  { clock, stopping }: Pick<Ground, 'clock' | 'stopping'>,
  effect: Effect<Due, Result>,
): Promise<void> {
  const ends = performance.now() + longestTurn;
  let room = effect.room.first;
  while (!stopping.aborted && performance.now() < ends) {
    const { items, then } = await effect.take(room);
    const results = await Promise.all(
      items.map(async (item) => ({ item, result: await attempt(effect, item) })),
    );
    if (results.length > 0) await effect.settle(results);
    const outcomes = results.map(({ result }): Outcome => result);
    const pause = pauseAfter(outcomes);
    if (pause) throw new NotNow(pause, { pauses: true });
    for (const outcome of outcomes) if (outcome.kind === 'down' && outcome.error) throw outcome.error;
    if (then === null) return;
    if (then instanceof Date) throw new NotNow(then);
    const isWell = outcomes.every(({ kind }) => kind === 'done');
    room = isWell ? Math.min(effect.room.most, room * 2) : effect.room.first;
  }
  throw new NotNow(nowOf(clock));
}

async function attempt<Due extends Item, Result extends Outcome>(
  effect: Effect<Due, Result>,
  item: Due,
): Promise<Result> {
  try {
    const found = item.attempts > 1 ? ((await effect.look?.(item)) ?? null) : null;
    return found ?? (await effect.act(item));
  } catch (error) {
    return effect.failureOf(error, item);
  }
}

/** Until when the lane pauses; null: it does not. */
function pauseAfter(outcomes: Outcome[]): Date | null {
  const pauses = outcomes.flatMap((outcome) => ('until' in outcome && outcome.until) || []);
  return pauses.length > 0 ? new Date(Math.max(...pauses.map(Number))) : null;
}
