import { Temporal } from 'temporal-polyfill';
import type { Sandbox } from '../sandbox/github.ts';
import type { Past } from './demo-past.ts';
import { asked, letThrough, requireStatus, type Tokens } from './demo-seed.ts';

const zone = 'Europe/Paris';
const weekdays = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'];

/** A wall-clock time in the zone of acme, as the API takes it, and its instant. */
type Time = { local: string; instant: Date };

const timeOf = (time: Temporal.ZonedDateTime): Time => ({
  local: time.toPlainDateTime().round('second').toString(),
  instant: new Date(time.epochMilliseconds),
});

/** When the life of acme begins. */
export const beginOf = (now: Date): Date => daysFrom(now)(-14, '09:00').instant;

/** Times on days before and after today. */
function daysFrom(now: Date): (days: number, time: string) => Time {
  const today = Temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO(zone).toPlainDate();
  return (days, time) => timeOf(today.add({ days }).toZonedDateTime({ timeZone: zone, plainTime: time }));
}

/**
 * Two weeks of acme, up to now: freezes that have ended, two plans that continue, an ongoing freeze, and two requests
 * that wait for a decision. The people of acme make all of it with the public API.
 */
export async function liveTwoWeeks(github: Sandbox, tokens: Tokens, past: Past, now: Date): Promise<void> {
  const day = daysFrom(now);
  const ago = (minutes: number) => new Date((Math.floor(now.getTime() / 60_000) - minutes) * 60_000);
  const as = caller(past.url, tokens);
  const freeze = (by: keyof Tokens, repository: string, reason: string, end: Time) =>
    as(by, `/v1/repos/acme/${repository}/scheduled_freeze`, {
      reason,
      start: null,
      end: end.local,
      timezone: zone,
      exclude_conditions: ['label=hotfix'],
      matching_conditions: [],
    });
  const plan = (by: keyof Tokens, body: { name: string; repositories: string[]; [field: string]: unknown }) =>
    as(by, '/v1/freeze_plans/acme', {
      reason: body.name,
      timezone: zone,
      start: null,
      end: null,
      exclude_conditions: ['label=hotfix'],
      ...body,
      repositories: { include: body.repositories, exclude: [] },
    });
  const ask = (by: keyof Tokens, repository: string, number: number, body: object) =>
    as(by, `/v1/repos/acme/${repository}/pulls/${number}/exemptions`, body);

  github.install('acme');
  requireStatus(github);
  await past.advanceTo(day(-14, '09:30').instant);
  // So it was on twice, and comes again in two days.
  const train = { start: day(-12, '14:00'), end: day(-12, '18:00') };
  await plan('ada', {
    name: 'Release train',
    reason: 'The release train leaves',
    repositories: ['billing', 'mobile'],
    start: train.start.local,
    end: train.end.local,
    recurrence: {
      rule: `FREQ=WEEKLY;BYDAY=${weekdays[Temporal.PlainDate.from(train.start.local).dayOfWeek - 1]}`,
    },
  });

  // A freeze with an exempt pull request.
  await past.advanceTo(day(-13, '09:30').instant);
  await freeze('ada', 'api', 'Orders move to the new database', day(-12, '08:00'));
  await past.advanceTo(day(-13, '11:00').instant);
  const request = await ask('bob', 'api', letThrough, { reason: 'The move itself needs it' });
  await past.advanceTo(day(-13, '11:20').instant);
  await as('ada', `/v1/repos/acme/api/exemptions/${request.id}/approve`, {});
  await past.advanceTo(day(-13, '11:30').instant);
  merge(github, 'acme/api', letThrough);
  await past.advanceTo(day(-12, '08:00').instant);
  await past.advanceTo(train.start.instant);
  await past.advanceTo(train.end.instant);

  await past.advanceTo(day(-10, '15:00').instant);
  const yearEnd = yearEndAfter(day(2, '00:00').local);
  await plan('grace', {
    name: 'Year end',
    reason: 'Books are closed',
    repositories: ['*'],
    ...yearEnd,
    recurrence: { rule: 'FREQ=YEARLY' },
  });

  // An incident, at night.
  await past.advanceTo(day(-9, '02:10').instant);
  const incident = await plan('grace', { name: 'INC-4698: the shop is down', repositories: ['*'] });
  await past.advanceTo(day(-9, '03:25').instant);
  await as('grace', `/v1/freeze_plans/acme/${incident.id}/delete`, { delete_reason: 'The shop is back' });

  // Nothing requires the check here, so the freeze holds nothing.
  await past.advanceTo(day(-6, '10:00').instant);
  await freeze('ada', 'infra', 'Certificates are renewed', day(-6, '16:00'));
  await past.advanceTo(day(-6, '11:30').instant);
  merge(github, 'acme/infra', 1);
  await past.advanceTo(day(-6, '16:00').instant);
  await past.advanceTo(day(-5, '14:00').instant);
  await past.advanceTo(day(-5, '18:00').instant);

  await past.advanceTo(day(-2, '13:00').instant);
  await freeze('grace', 'web', 'Release 4.1', day(-2, '17:00'));
  await as('ada', '/v1/repos/acme/billing/settings', { two_person_exemptions: true }, 'PATCH');
  await past.advanceTo(day(-2, '17:00').instant);

  await past.advanceTo(ago(180));
  await plan('ada', {
    name: 'Checkout moves to another region',
    repositories: ['api', 'mobile', 'infra'],
    end: day(1, '20:00').local,
  });
  await past.advanceTo(ago(40));
  await ask('bob', 'api', asked, { reason: 'INC-4711: refunds fail since this morning' });
  await past.advanceTo(ago(20));
  const expires_at = day(3, '00:00').instant.toISOString();
  await ask('ada', 'billing', 1, { reason: 'Totals are wrong by a cent', expires_at });
  await past.advanceTo(now);
}

/** The first end of a year after a day. */
function yearEndAfter(local: string): { start: string; end: string } {
  const { year } = Temporal.PlainDate.from(local);
  const of = (each: number) => ({ start: `${each}-12-23T18:00:00`, end: `${each + 1}-01-02T08:00:00` });
  return of(year).start > local ? of(year) : of(year + 1);
}

function merge(github: Sandbox, repository: string, number: number): void {
  const { merged, message } = github.merge(repository, number, 'bob');
  if (!merged) throw new Error(`${repository}#${number} was not merged: ${message}`);
}

/** Sends a request as one of the people. @throws unless it succeeds. */
const caller =
  (url: string, tokens: Tokens) =>
  async (by: keyof Tokens, path: string, body: object, method = 'POST'): Promise<{ id: string }> => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${tokens[by]}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} was answered with ${response.status}: ${text}`);
    return text === '' ? { id: '' } : (JSON.parse(text) as { id: string });
  };
