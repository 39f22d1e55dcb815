import { day } from '../time/units.ts';
import ical, { ICalEventStatus, ICalEventTransparency } from 'ical-generator';
import { whatIsBlocked } from '../words/describe-fields.ts';
import { holdsMerges } from '../freezes/freeze.ts';
import type { FeedEvent } from './load-events.ts';
import { cutCharacters } from '../cut-text.ts';

/** How often calendar apps should read it again, in seconds. */
const refresh = 3600;
const mostOfTitle = 120;

/** The text of a calendar (RFC 5545). The same events give the same text, so that its `ETag` stays. */
export function writeCalendar(
  events: FeedEvent[],
  { login, publicUrl, now }: { login: string; publicUrl: string; now: Date },
): string {
  const calendar = ical({
    name: `Freezes of ${login}`,
    prodId: { company: 'Holdfast', product: 'Holdfast', language: 'EN' },
    ttl: refresh,
  });
  const { host } = new URL(publicUrl);
  for (const event of events) {
    const { endsAt, changedAt, shown } = spanOf(event, now);
    calendar.createEvent({
      id: `${event.uid}@${host}`,
      sequence: event.sequence + shown,
      stamp: changedAt,
      lastModified: changedAt,
      start: event.startsAt,
      end: endsAt,
      summary: withoutControls(titleOf(event)),
      description: withoutControls(descriptionOf(event, publicUrl)),
      url: publicUrl + event.path,
      status: event.isCancelled ? ICalEventStatus.CANCELLED : ICalEventStatus.CONFIRMED,
      // It must not make people busy.
      transparency: ICalEventTransparency.TRANSPARENT,
    });
  }
  // Each line ends so, the last one too (3.1).
  return `${calendar.toString()}\r\n`;
}

/** Control characters are forbidden in texts, but for line breaks and tabs. */
const withoutControls = (text: string): string =>
  text
    .toWellFormed()
    .replace(/\r\n?/g, '\n')
    .replace(/(?![\n\t])\p{Cc}/gu, ' ');

/**
 * When an event ends in calendars, which know no event without an end: a freeze without one lasts until tomorrow, and
 * each day it changes once more.
 * @property shown how often it has changed so.
 */
function spanOf({ startsAt, endsAt, changedAt }: FeedEvent, now: Date) {
  if (endsAt) return { endsAt, changedAt, shown: 0 };
  const shown = Math.max(0, Math.floor((now.getTime() - startsAt.getTime()) / day));
  const lastShown = startsAt.getTime() + shown * day;
  return {
    endsAt: new Date(lastShown + day),
    changedAt: shown > 0 && lastShown > changedAt.getTime() ? new Date(lastShown) : changedAt,
    shown,
  };
}

function titleOf({ holding, repositories, names, reason }: FeedEvent): string {
  const what = holdsMerges(holding) ? 'Freeze' : 'Deployment freeze';
  const where = repositories === 1 ? names[0]! : `${repositories} repositories`;
  const [line = ''] = reason.trim().split(/\r?\n/);
  return `${what} of ${where}: ${cutCharacters(line, mostOfTitle)}`;
}

const clocks = new Map<string, Intl.DateTimeFormat>();

/** Writes times of a zone such as `2026-03-01 11:00`, a few times quicker than `describeInstant`: there are thousands. */
function clockOf(timeZone: string): Intl.DateTimeFormat {
  const clock =
    clocks.get(timeZone) ??
    new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' });
  clocks.set(timeZone, clock);
  return clock;
}

function descriptionOf(event: FeedEvent, publicUrl: string): string {
  const { reason, repositories, names, endsAt, endsDiffer, timezone, createdBy, plan, path } = event;
  const blocked = whatIsBlocked(event.holding);
  const more = repositories > names.length ? ` and ${repositories - names.length} more` : '';
  const end = endsAt ? `${clockOf(timezone).format(endsAt)} ${timezone}` : 'no end';
  return [
    reason,
    '',
    ...(blocked === null ? [] : [blocked]),
    `Where: ${names.join(', ')}${more}`,
    `Until: ${end}${endsDiffer ? ', in some repositories earlier' : ''}`,
    ...(plan === null ? [] : [`Plan: ${plan}`]),
    ...(createdBy === null ? [] : [`Created by: ${createdBy.name}`]),
    publicUrl + path,
  ].join('\n');
}
