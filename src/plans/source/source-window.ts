/**
 * An event of a calendar that a plan follows. Its times are wall-clock times in the plan's zone for an event of whole days,
 * and else instants, which end in `Z`.
 * @property key the same when the event is moved or renamed.
 */
export type SourceWindow = { key: string; start: string; end: string };

/** A calendar that a plan cannot follow. The message follows the words "the calendar". */
export class SourceUnreadable extends Error {
  override readonly name = 'SourceUnreadable';
}
