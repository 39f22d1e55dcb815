import { cursorBeside } from '../../database/newest-first.ts';
import { isOfMany, isSameAct } from './acts.ts';
import type { EventPage, ListedEvent } from '../../events/list-events.ts';

/** Reads a page of a log. */
export type ReadPage = (cursor: string | null, perPage: number) => Promise<EventPage>;

/** How many events are read for the rest of an act, at first and then. */
const [readAtFirst, readThen] = [20, 200];
/** The most events of a page with them. */
const mostWithActs = 5000;

/** The page with the rest of the acts at its ends, so that no act is on two pages. */
export async function withWholeActs(page: EventPage, read: ReadPage): Promise<EventPage> {
  let { events, next, previous } = page;
  const isWanted = (cursor: string | null, event: ListedEvent | undefined): cursor is string =>
    cursor !== null && event !== undefined && isOfMany(event) && events.length < mostWithActs;
  for (let size = readAtFirst; isWanted(next, events.at(-1)); size = readThen) {
    const { events: more, next: after } = await read(next, size);
    const last = events.at(-1)!;
    const its = more.findIndex((each, at) => !isSameAct(more[at - 1] ?? last, each));
    events = [...events, ...(its < 0 ? more : more.slice(0, its))];
    next = its < 0 ? after : cursorBeside('older', events.at(-1)!.id);
    if (its >= 0) break;
  }
  for (let size = readAtFirst; isWanted(previous, events[0]); size = readThen) {
    const { events: more, previous: before } = await read(previous, size);
    const first = events[0]!;
    const other = more.findLastIndex((each, at) => !isSameAct(each, more[at + 1] ?? first));
    events = [...more.slice(other + 1), ...events];
    previous = other < 0 ? before : cursorBeside('newer', events[0]!.id);
    if (other >= 0) break;
  }
  return { events, next, previous };
}
