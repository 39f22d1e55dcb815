// The calendar of a large owner: how long a calendar app waits for 5,000 events.
import ical, { ICalEventStatus, ICalEventTransparency } from 'ical-generator';
import pg from 'pg';
import type { Bench } from './bench.ts';
import { compare, type Figure, upTo } from './figure.ts';
import { makeKey, startGitHub, startService } from './service.ts';
import { median } from './statistics.ts';
import { fill } from './store/fill.ts';

/** The freezes that the database is filled with begin and end at instants of their own, within the past 90 days, and nothing is to do for them. */
const spread = `
  WITH numbered AS (SELECT id, row_number() OVER (ORDER BY id) AS number FROM freezes)
  UPDATE freezes SET starts_at = now() - interval '2 days' - interval '15 minutes' * number,
    ends_at = now() - interval '2 days' - interval '15 minutes' * number + interval '2 hours', deleted_at = NULL
  FROM numbered WHERE numbered.id = freezes.id;
  ANALYZE`;

/** The least that the events cost: one statement for their texts, and the library that writes them. */
const least = `SELECT json_agg(json_build_object('id', f.id, 'start', starts_at, 'end', ends_at, 'reason', reason, 'name', r.name))
  AS events FROM freezes f JOIN repositories r ON r.id = f.repository_id`;

/** Milliseconds of the floor on the machine where the budget was set. */
const usualFloor = 160;
const address = 'https://holdfast.example/repos/acme/web/freezes/';

export const benchCalendar: Bench = {
  name: 'calendar',
  title: 'A calendar of 5,000 freezes',
  async run({ isQuick, postgres }) {
    if (!postgres) return { figures: [], notes: ['No PostgreSQL is installed: skipped.'] };
    const repositories = isQuick ? 50 : 500;
    const { github, token } = await startGitHub();
    github.addRepository('acme/web');
    const connectionString = await postgres.createDatabase('calendar');
    const service = await startService(github, { connectionString });
    const database = new pg.Client({ connectionString });
    const failures: string[] = [];
    const took = async (deed: () => Promise<unknown>): Promise<number> => {
      const began = performance.now();
      await deed();
      return performance.now() - began;
    };
    try {
      await database.connect();
      github.install('acme');
      const key = await makeKey(service, token, 'admin');
      await fill(connectionString, { repositories, freezesEach: 10, scopesEach: 0, headsEach: 0 });
      await database.query(spread);
      const { body } = await service.call('POST', '/v1/calendars/acme', key, {});
      const { pathname } = new URL((body as { url: string }).url);
      let text = '';
      const read = async () => (text = await (await fetch(service.url + pathname)).text());
      const floor = async () => {
        const calendar = ical();
        const { events } = (await database.query<{ events: Record<string, string>[] }>(least)).rows[0]!;
        for (const { id, start, end, reason, name } of events)
          calendar.createEvent({
            ...{ id: `${id}@holdfast.example`, sequence: 0, url: `${address}${id}` },
            ...{ start: new Date(start!), end: new Date(end!) },
            ...{ stamp: new Date(start!), lastModified: new Date(start!) },
            ...{ status: ICalEventStatus.CONFIRMED, transparency: ICalEventTransparency.TRANSPARENT },
            summary: `Freeze of ${name}: ${reason}`,
            description: `${reason}\n\nWhere: ${name}\nUntil: ${end}\n${address}${id}`,
          });
        calendar.toString();
      };
      const rounds: { ours: number; floor: number }[] = [];
      for (let round = 0; round < 9; round++)
        rounds.push({ floor: await took(floor), ours: await took(read) });
      const [ours, floored] = (['ours', 'floor'] as const).map((side) =>
        median(rounds.map((each) => each[side])),
      );
      const events = text.split('BEGIN:VEVENT').length - 1;
      if (events !== repositories * 10) failures.push(`the calendar has ${events} events`);
      const figures: Figure[] = [compare('calendar', 'events', 'ms', ours!, floored!, upTo(300, usualFloor))];
      const notes = [
        'An app reads the calendar of an owner over HTTP, on PostgreSQL. The floor is one statement for the texts of the freezes, and the same library.',
      ];
      return { figures, notes, failures };
    } finally {
      await database.end();
      await service.stop();
      await github.close();
    }
  },
};
