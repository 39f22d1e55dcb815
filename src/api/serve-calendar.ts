import { createHash } from 'node:crypto';
import type { OpenAPIHono } from '@hono/zod-openapi';
import { loadEvents } from '../plans/feeds/load-events.ts';
import { findFeed } from '../plans/feeds/manage-feeds.ts';
import { nowOf } from '../time/clock.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../errors.ts';
import { isKnown } from './serve-endpoint.ts';

/** `GET /calendars/{token}.ics`: the freezes of an owner for calendar apps. The token in the address is the credential. */
export function mountCalendars(api: OpenAPIHono, deps: Deps): void {
  api.get('/calendars/:calendar', async (context) => {
    const [, token] = /^([\w-]{1,100})\.ics$/.exec(context.req.param('calendar')) ?? [];
    const feed = token === undefined ? null : await findFeed(deps, token);
    if (!feed)
      throw notFound(
        'There is no such calendar, or it was deleted. Ask who gave you its address for a new one.',
      );
    // Loads a library that services without subscribers never need.
    const { writeCalendar } = await import('../plans/feeds/write-calendar.ts');
    const now = nowOf(deps.clock);
    const { login } = feed.account;
    const { publicUrl } = deps.config;
    const text = writeCalendar(await loadEvents(deps, feed, now), { login, publicUrl, now });
    const etag = `"${createHash('sha256').update(text).digest('base64url')}"`;
    context.header('ETag', etag);
    context.header('Cache-Control', 'private, max-age=60');
    context.header('X-Content-Type-Options', 'nosniff');
    context.header('Referrer-Policy', 'no-referrer');
    if (isKnown(etag, context.req.header('If-None-Match'))) return context.body(null, 304);
    context.header('Content-Type', 'text/calendar; charset=utf-8');
    context.header('Content-Disposition', 'inline; filename="freezes.ics"');
    return context.body(text);
  });
}
