import { day } from '../../time/units.ts';
import type { Property } from './calendar-objects.ts';
import { unreadable } from './calendar-objects.ts';

// Times of a wall clock are numbers here: the milliseconds that UTC would have.

/** Tells the instants of one zone, in milliseconds. */
export type Zone = {
  /**
   * The instant of a wall-clock time: the first one of a time that the clock shows twice. In an hour that the clock skips,
   * a start is the end of the gap, and anything else as far past the gap as it is in it.
   */
  instantOf(wall: number, edge: 'start' | 'other'): number;
  wallAt(instant: number): number;
};

/** A time as an event has it. @property zone null for a day. */
export type EventTime = { wall: number; zone: Zone | null };

/** A time before its zone is known. @property zone what the file says; undefined if nothing. */
export type WrittenTime = { wall: number; kind: 'day' | 'zoned' | 'utc'; zone: string | undefined };

/** Reads a time as jCal has it. @throws SourceUnreadable for one that does not exist. */
export function writtenTime({ line, params }: Property, text: unknown): WrittenTime {
  const wall = wallOf(String(text));
  if (wall === null) throw unreadable(line, 'there is no such time');
  const kind = String(text).endsWith('Z') ? 'utc' : String(text).includes('T') ? 'zoned' : 'day';
  return { wall, kind, zone: params.tzid };
}

/** Null for a time that does not exist. */
export function wallOf(text: string): number | null {
  const [, date, time = '00:00:00'] = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d:\d\d)Z?)?$/.exec(text) ?? [];
  // A leap second is the second before it.
  const whole = `${date}T${time.replace(/:60$/, ':59')}.000Z`;
  const wall = Date.parse(whole);
  return Number.isNaN(wall) || new Date(wall).toISOString() !== whole ? null : wall;
}

/** `2026-12-24T18:00:00` */
export const writeWall = (wall: number): string => new Date(wall).toISOString().slice(0, 19);
export const dateOf = (wall: number): string => writeWall(wall).slice(0, 10);
export const midnight = (wall: number): number => Math.floor(wall / day) * day;
