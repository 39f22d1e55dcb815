import { setImmediate as afterTurn } from 'node:timers';
import { setImmediate } from 'node:timers/promises';
import pLimit from 'p-limit';

/** Milliseconds of long work before the process does something else. */
const longestSlice = 10;
/** One slice for each turn of the event loop, however many wait for theirs. */
const oneAtATime = pLimit(1);

/**
 * Does long work in slices, so that others are answered meanwhile.
 * @param step does a small part of it, and returns whether there is more.
 */
export async function inSlices(step: () => boolean): Promise<void> {
  const slice = async () => {
    const end = performance.now() + longestSlice;
    let hasMore = step();
    while (hasMore && performance.now() < end) hasMore = step();
    await setImmediate();
    return hasMore;
  };
  while (await oneAtATime(slice));
}

/** Maps in slices. Each item is a small part. */
export const mapInSlices = <Item, Result>(
  items: readonly Item[],
  map: (item: Item) => Result,
): Promise<Result[]> => mapFrom(-Infinity, items, map);

/**
 * The same for work that is usually short: it begins at once, and often nothing is left. All that begin in one turn of the
 * event loop have one slice together.
 */
export const mapAtOnce = <Item, Result>(
  items: readonly Item[],
  map: (item: Item) => Result,
): Promise<Result[]> => mapFrom(endOfTurn(), items, map);

let turnEndsAt: number | null = null;

function endOfTurn(): number {
  if (turnEndsAt === null) {
    turnEndsAt = performance.now() + longestSlice;
    afterTurn(() => (turnEndsAt = null));
  }
  return turnEndsAt;
}

/** @param until when others have their turn. */
async function mapFrom<Item, Result>(
  until: number,
  items: readonly Item[],
  map: (item: Item) => Result,
): Promise<Result[]> {
  const results: Result[] = [];
  const step = () => {
    results.push(map(items[results.length]!));
    return results.length < items.length;
  };
  let hasMore = items.length > 0;
  while (hasMore && performance.now() < until) hasMore = step();
  if (hasMore) await inSlices(step);
  return results;
}
