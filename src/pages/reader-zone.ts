import type { Context } from 'hono';
import { getCookie } from 'hono/cookie';
import { isTimeZone } from '../time/local-time.ts';

/** The cookie with the zone in which somebody reads times. local-times.js sets it to the browser's zone at first. */
export const zoneCookie = 'zone';

/** The time zone of a page: the one that its URL asks for, else the reader's, else UTC. */
export function readerZone(context: Context): string {
  const zones = [context.req.query('zone'), getCookie(context, zoneCookie)];
  return zones.find((zone) => zone !== undefined && isTimeZone(zone)) ?? 'UTC';
}
