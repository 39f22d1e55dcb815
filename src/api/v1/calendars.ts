import { z } from '@hono/zod-openapi';
import {
  attributesOfFeed,
  type CalendarFeed,
  createFeed,
  deleteFeed,
  listFeeds,
  type NewFeed,
} from '../../plans/feeds/manage-feeds.ts';
import { endpoint } from '../endpoint.ts';
import { owner, ownerPath, repository, uuid, who } from '../fields.ts';

const mostRepositories = 1000;

export const newCalendar = z
  .object({
    repositories: z
      .array(repository)
      .min(1, 'Name at least one, or send null for all.')
      .max(mostRepositories, `Name at most ${mostRepositories}.`)
      .nullish()
      .openapi({
        description: "Names of the owner's repositories, in any case of letters; null or absent: all",
      }),
    public_text: z.boolean().optional().openapi({
      description: 'Whether events have public reasons and no names of people; true if absent',
    }),
  })
  .openapi('NewCalendar');

const fields = {
  id: z.uuid(),
  repositories: z.array(z.string()).nullable(),
  public_text: z.boolean(),
  created_by: who,
  created_at: z.iso.datetime(),
};
const calendar = z.object(fields).openapi('Calendar');
const calendarWithUrl = z
  .object({
    ...fields,
    url: z.url().openapi({ description: 'Who has it can read the calendar. Only this answer contains it' }),
  })
  .openapi('CalendarWithUrl');

const exampleBody = { repositories: ['web'], public_text: true };
const example = {
  id: '6f1c2f0a-5c1b-4a52-9d0e-0c8a1c1d2e3f',
  ...exampleBody,
  created_by: { type: 'user', id: 1, name: 'ada' },
  created_at: '2026-03-01T09:00:00.000Z',
};

const present = (feed: CalendarFeed) => ({
  id: feed.id,
  ...attributesOfFeed(feed),
  created_by: feed.createdBy,
  created_at: feed.createdAt.toISOString(),
});
const presentNew = ({ feed, url }: NewFeed) => ({ ...present(feed), url });

const tag = 'Calendars';
const path = '/calendars/{owner}';

export const getCalendars = endpoint({
  method: 'get',
  path,
  tag,
  summary: "List an owner's calendars, without their addresses",
  access: { to: 'owner' },
  params: ownerPath,
  success: {
    status: 200,
    description: 'Every calendar, the oldest first',
    schema: z.object({ calendars: z.array(calendar) }).openapi('Calendars'),
    example: { calendars: [example] },
  },
  async handle({ deps, account }) {
    return { calendars: (await listFeeds(deps, account)).map(present) };
  },
});

export const postCalendars = endpoint({
  method: 'post',
  path,
  tag,
  summary: 'Create a calendar of freezes for calendar apps',
  description: 'The `url` answers with an iCalendar file (RFC 5545) to everybody who has it.',
  access: { to: 'owner' },
  params: ownerPath,
  body: { schema: newCalendar, example: exampleBody },
  success: {
    status: 201,
    description: 'The new calendar',
    schema: calendarWithUrl,
    example: { ...example, url: 'https://holdfast.example/calendars/hf_cal_….ics' },
  },
  async handle({ deps, actor, account, body, remember }) {
    const wanted = { repositories: body.repositories ?? null, publicText: body.public_text ?? true };
    const made = await createFeed(deps, actor, account, wanted, (tx, saved) =>
      remember(tx, { status: 201, body: presentNew(saved), hasSecret: true }),
    );
    return presentNew(made);
  },
});

export const deleteCalendar = endpoint({
  method: 'delete',
  path: `${path}/{calendar_id}`,
  tag,
  summary: 'Delete a calendar. Its address stops working immediately',
  access: { to: 'owner' },
  params: z.object({ owner, calendar_id: uuid('calendar_id') }),
  success: { status: 204, description: 'Deleted' },
  async handle({ deps, actor, account, path }) {
    await deleteFeed(deps, actor, account, path.calendar_id);
  },
});
