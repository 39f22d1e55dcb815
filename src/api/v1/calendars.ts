import { createHash } from 'node:crypto';
import { type OpenAPIHono, z } from '@hono/zod-openapi';
import type { Deps } from '../../deps.ts';
import { notFound } from '../../errors.ts';
import { loadEvents } from '../../calendars/load-events.ts';
import {
  type CalendarFeed,
  createFeed,
  deleteFeed,
  findFeed,
  listFeeds,
} from '../../calendars/manage-feeds.ts';
import { nowOf } from '../../time/clock.ts';
import { fieldsOfSchema } from '../answers.ts';
import { deletionOf, endpoint, ofOwner } from '../endpoint.ts';
import { repository, who } from '../fields.ts';
import { isKnown } from '../serve-endpoint.ts';

const mostCalendarRepositories = 1000;

export const newCalendar = z
  .object({
    repositories: z
      .array(repository)
      .min(1, 'Name at least one, or send null for all.')
      .max(mostCalendarRepositories, `Name at most ${mostCalendarRepositories}.`)
      .nullish()
      .openapi({
        description: "Names of the owner's repositories, in any case of letters; null or absent: all",
      }),
    public_text: z.boolean().optional().openapi({
      description: 'Whether events have public reasons and no names of people; true if absent',
    }),
  })
  .openapi('NewCalendar');

const calendar = z
  .object({
    id: z.uuid(),
    repositories: z.array(z.string()).nullable(),
    public_text: z.boolean(),
    created_by: who,
    created_at: z.iso.datetime(),
  })
  .openapi('Calendar');
const calendarWithUrl = z
  .object({
    ...calendar.shape,
    url: z.url().openapi({ description: 'Who has it can read the calendar. Only this answer contains it' }),
  })
  .openapi('CalendarWithUrl');

const exampleBody = { repositories: ['web'], public_text: true };
const exampleCalendar = {
  id: '6f1c2f0a-5c1b-4a52-9d0e-0c8a1c1d2e3f',
  ...exampleBody,
  created_by: { type: 'user', id: 1, name: 'ada' },
  created_at: '2026-03-01T09:00:00.000Z',
};

const presentCalendar = (feed: CalendarFeed) => fieldsOfSchema(calendar, feed);

const calendarsOf = ofOwner('Calendars', '/calendars/{owner}');

export const getCalendars = endpoint({
  ...calendarsOf,
  method: 'get',
  summary: "List an owner's calendars, without their addresses",
  success: {
    status: 200,
    description: 'Every calendar, the oldest first',
    schema: z.object({ calendars: z.array(calendar) }).openapi('Calendars'),
    example: { calendars: [exampleCalendar] },
  },
  async handle({ deps, account }) {
    return { calendars: (await listFeeds(deps, account)).map(presentCalendar) };
  },
});

export const postCalendars = endpoint({
  ...calendarsOf,
  method: 'post',
  summary: 'Create a calendar of freezes for calendar apps',
  description: 'The `url` answers with an iCalendar file (RFC 5545) to everybody who has it.',
  body: { schema: newCalendar, example: exampleBody },
  success: {
    status: 201,
    description: 'The new calendar',
    schema: calendarWithUrl,
    example: { ...exampleCalendar, url: 'https://holdfast.example/calendars/hf_cal_….ics' },
    hasSecret: true,
  },
  async handle({ deps, actor, account, body, remember }) {
    const wanted = { repositories: body.repositories ?? null, publicText: body.public_text ?? true };
    return createFeed(deps, actor, account, wanted, remember);
  },
  present: ({ feed, url }) => ({ ...presentCalendar(feed), url }),
});

export const deleteCalendar = deletionOf({
  ...calendarsOf,
  id: 'calendar_id',
  summary: 'Delete a calendar. Its address stops working immediately',
  remove: deleteFeed,
});

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
    const { writeCalendar } = await import('../../calendars/write-calendar.ts');
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
