// The stories of a plan that follows the calendar of public holidays: its world, and verbs for them.
import { afterEach, beforeEach, expect, vi } from 'vitest';
import { startCalendarFile } from '../../sandbox/calendar-file.ts';
import { acmeForAll } from '../api/acme.ts';
import { forAll } from './for-all.ts';

export const easter = ['UID:easter', 'SUMMARY:Easter Monday (public holiday)', 'DTSTART;VALUE=DATE:20260406'];
export const labour = ['UID:labour', 'SUMMARY:Labour Day (Public Holiday)', 'DTSTART;VALUE=DATE:20260501'];
export const party = ['UID:party', 'SUMMARY:Summer party', 'DTSTART:20260407T150000Z', 'DURATION:PT2H'];

/** The world of a file. Before each test the calendar has three events, and after it there are no plans. */
export function holidaysForAll() {
  const acme = acmeForAll();
  const calendar = forAll(startCalendarFile);

  const path = '/v1/freeze_plans/acme';
  const as = () => ({ as: acme.keys.admin });
  const timed = (uid: string, start: string, length = 'PT2H') => [
    `UID:${uid}`,
    'SUMMARY:Audit (public holiday)',
    `DTSTART:${start}`,
    `DURATION:${length}`,
  ];

  const plan = (more: object = {}) => ({
    name: 'Holidays',
    reason: 'Public holiday',
    repositories: { include: ['web'] },
    timezone: 'Europe/Paris',
    source: { url: calendar.url, titles: ['*public holiday*'] },
    ...more,
  });
  const create = async (more: object = {}) => {
    const answer = await acme.call('POST', path, { ...as(), body: plan(more) });
    expect(answer.status, answer.text).toBe(201);
    return answer.body;
  };
  const show = async (id: string) => (await acme.call('GET', `${path}/${id}`, as())).body;
  const change = (id: string, body: object) => acme.call('PATCH', `${path}/${id}`, { ...as(), body });
  const freezes = async () =>
    (await acme.call('GET', '/v1/repos/acme/web/scheduled_freeze', as())).body.scheduled_freezes as Record<
      string,
      string
    >[];
  const times = async () => (await freezes()).map(({ start, end }) => `${start} ${end}`);
  /** @param from the present when the story began. */
  const daysAhead = (from: number, days: number) =>
    new Date(from + days * 86_400_000).toISOString().replace(/[-:]|\.\d+/g, '');
  const in20Minutes = () => acme.advanceTo(new Date(acme.clock.now() + 20 * 60_000));
  const failures = async (plan: string) => {
    const log = await acme.call(
      'GET',
      '/v1/logs/acme?event_type=freeze_plan.source_failed&per_page=100',
      as(),
    );
    const events = log.body.events as { metadata: Record<string, unknown>; outcome: string }[];
    return events.filter(({ metadata }) => metadata.freeze_plan_id === plan);
  };

  beforeEach(() => {
    calendar.trouble(null);
    calendar.publish(easter, labour, party);
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    for (const { id } of (await acme.call('GET', path, as())).body.freeze_plans)
      await acme.call('DELETE', `${path}/${id}`, as());
  });

  return {
    acme,
    calendar,
    path,
    as,
    timed,
    plan,
    create,
    show,
    change,
    freezes,
    times,
    daysAhead,
    in20Minutes,
    failures,
  };
}
