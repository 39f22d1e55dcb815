import { Temporal } from 'temporal-polyfill';
import { findIana } from 'windows-iana';
import { isTimeZone, toInstant, toLocalTime } from '../../time/local-time.ts';
import { type Component, shownLine, unreadable } from './calendar-objects.ts';
import { day } from '../../time/units.ts';
import { readRule, datesOf } from './event-rule.ts';
import { type EventTime, type WrittenTime, type Zone, wallOf, writeWall, writtenTime } from './wall-clock.ts';

/** The zones of a calendar, and what was odd about them. */
export type Zones = {
  /** The plan's, where days begin. */
  plan: Zone;
  /** @param beside the time that it stands beside, whose zone it has if it has none of its own. */
  timeOf(time: WrittenTime, calendar: Component, beside?: EventTime): EventTime;
  warnings(): string[];
};

/** The years before and after today for which the rules of a zone are computed. */
const years = 3;

/** @param timezone the plan's. */
export function zonesOf(components: Component[], timezone: string, now: Date): Zones {
  const plan = namedZone(timezone, now);
  const known = new Map<string, Zone | null>();
  const warnings = new Set<string>();
  const rulesOf = new Map(components.map((each) => [zoneText(each, 'TZID') ?? '', each]));
  const find = (name: string): Zone | null => {
    if (!known.has(name)) known.set(name, findZone(name, rulesOf.get(name), now));
    return known.get(name)!;
  };
  const floating = (calendar: Component): Zone => {
    const name = zoneText(calendar, 'X-WR-TIMEZONE');
    if (name === null) return plan;
    const zone = find(name);
    if (!zone) warnings.add(unknownZone(name, timezone));
    else if (name.toLowerCase() !== timezone.toLowerCase())
      warnings.add(
        `The calendar has times without a time zone. They are in its own, ${shownLine(name)}, and not in ${timezone}.`,
      );
    return zone ?? plan;
  };
  return {
    plan,
    warnings: () => [...warnings],
    timeOf({ wall, kind, zone }, calendar, beside) {
      if (kind === 'day') return { wall, zone: null };
      if (kind === 'utc') return { wall, zone: utc };
      if (zone === undefined || (zone === '' && !rulesOf.has('')))
        return { wall, zone: beside?.zone ?? floating(calendar) };
      const found = find(zone);
      if (!found) warnings.add(unknownZone(zone, timezone));
      return { wall, zone: found ?? plan };
    },
  };
}

const unknownZone = (name: string, timezone: string): string =>
  `Nobody here knows the time zone \`${shownLine(name)}\` of the calendar. Its times are in ${timezone}.`;

const zoneText = ({ properties }: Component, name: string): string | null => {
  const text = properties.get(name)?.[0]?.values[0];
  return text === undefined ? null : String(text);
};

function findZone(name: string, rules: Component | undefined, now: Date): Zone | null {
  const id = idOf(name) ?? idOf((rules && zoneText(rules, 'X-LIC-LOCATION')) ?? '');
  if (id !== null) return namedZone(id, now);
  if (rules) return rulesZone(rules, now);
  const said = saidId(name, now);
  return said === null ? null : namedZone(said, now);
}

/** The IANA name of a zone, or its offset, such as `+05:30`. Null for a name that tells neither. */
function idOf(name: string): string | null {
  // Such as /freeassociation.sourceforge.net/Europe/Paris.
  const parts = name.split('/');
  const ends = parts.length > 2 ? [1, 2, 3].map((count) => parts.slice(-count).join('/')) : [];
  const offset = offsetIn(/^(?:UTC|GMT)?([+-])(\d\d?)(?::?(\d\d))?$/i.exec(name));
  if (/^(?:Z|tzone:\/\/Microsoft\/Utc)$/i.test(name)) return 'UTC';
  return (
    [name, ...ends, name.replaceAll(' ', '_')].find(isTimeZone) ??
    offset ??
    findIana(name as Parameters<typeof findIana>[0]).find(isTimeZone) ??
    null
  );
}

function offsetIn(match: RegExpExecArray | null): string | null {
  const [, sign, hours = '', minutes = '00'] = match ?? [];
  const isOffset = sign && Number(hours) <= 14 && Number(minutes) < 60;
  return isOffset ? `${sign}${hours.padStart(2, '0')}:${minutes}` : null;
}

/**
 * The zone that Windows shows to people under such a name: `(UTC-05:00) Eastern Time (US & Canada)`, or
 * `(UTC+01:00) Brussels, Copenhagen, Madrid, Paris`.
 */
function saidId(name: string, now: Date): string | null {
  const [, offset = null, text] = /^(?:\((?:UTC|GMT)([+-]\d\d:\d\d)?\) )?(.*)$/.exec(name)!;
  const [, region] = /^(\w+) Time \([\w &]+\)$/.exec(text!) ?? [];
  const byRegion = region ? findIana(`${region} Standard Time` as Parameters<typeof findIana>[0])[0] : null;
  if (byRegion && isTimeZone(byRegion)) return byRegion;
  if (!/^\((?:UTC|GMT)/.test(name)) return null;
  const cities = text!.split(/, | and /).map((city) => `/${city.replaceAll(' ', '_')}`);
  const standard = offset ?? '+00:00';
  return (
    Intl.supportedValuesOf('timeZone').find(
      (id) => cities.some((city) => id.endsWith(city)) && standardOffset(id, now) === standard,
    ) ?? standard
  );
}

/** The offset that a zone has outside of summer. */
function standardOffset(id: string, now: Date): string {
  const offsets = [0, 183].map((days) => {
    const at = now.getTime() + days * day;
    return namedZone(id, now).wallAt(at) - at;
  });
  const minutes = Math.min(...offsets) / 60_000;
  const two = (part: number) => String(Math.floor(Math.abs(part))).padStart(2, '0');
  return `${minutes < 0 ? '-' : '+'}${two(minutes / 60)}:${two(minutes % 60)}`;
}

/** A zone that the time zone database has, or an offset. */
function namedZone(id: string, now: Date): Zone {
  const [from, to] = [-years, years].map((count) => now.getTime() + count * 366 * day) as [number, number];
  const offsetAt = (instant: number) => (wallOf(toLocalTime(new Date(instant), id)) ?? instant) - instant;
  const transitions: Transition[] = [];
  for (let at: number | null = from; (at = nextTransition(at, id)) !== null && at < to;)
    transitions.push({ at, offset: offsetAt(at) });
  const near = zoneOf(transitions, offsetAt(from));
  const isNear = (time: number) => time > from + day && time < to - day;
  return {
    instantOf(wall, edge) {
      if (isNear(wall)) return near.instantOf(wall, edge);
      return toInstant(writeWall(wall), id, 'start').getTime();
    },
    wallAt: (instant) => (isNear(instant) ? near.wallAt(instant) : instant + offsetAt(instant)),
  };
}

const nextTransition = (at: number, id: string): number | null =>
  Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(id).getTimeZoneTransition('next')
    ?.epochMilliseconds ?? null;

const utc: Zone = { instantOf: (wall) => wall, wallAt: (instant) => instant };

/** From an instant on, the clock is ahead of UTC by so much. */
type Transition = { at: number; offset: number };

/** A zone by the rules that a calendar has for it. Null if it has none. */
function rulesZone({ inner }: Component, now: Date): Zone | null {
  const observances = inner.map((each) => transitionsOf(each, now));
  const transitions = observances.flatMap(({ changes }) => changes);
  if (transitions.length === 0) return null;
  return zoneOf(transitions, observances.toSorted((one, other) => one.first - other.first)[0]!.from);
}

/** @param before the offset before the first change. */
function zoneOf(changes: Transition[], before: number): Zone {
  const transitions = changes.toSorted((one, other) => one.at - other.at);
  const offsets = [...new Set([before, ...transitions.map(({ offset }) => offset)])];
  const offsetAt = (instant: number): number =>
    transitions.findLast(({ at }) => at <= instant)?.offset ?? before;
  return {
    instantOf(wall, edge) {
      const instants = offsets.map((offset) => wall - offset);
      const real = instants.filter((instant) => instant + offsetAt(instant) === wall);
      if (real.length > 0) return Math.min(...real);
      const gap = transitions.find(({ at, offset }) => wall >= at + offsetAt(at - 1) && wall < at + offset);
      if (!gap) return wall - before;
      return edge === 'start' ? gap.at : wall - offsetAt(gap.at - 1);
    },
    wallAt: (instant) => instant + offsetAt(instant),
  };
}

/** The changes of the clock that one part of a zone's rules makes. @property from the offset before the first one. */
function transitionsOf(part: Component, now: Date): { changes: Transition[]; from: number; first: number } {
  const start = part.properties.get('DTSTART')?.[0];
  const [from, offset] = [offsetOf(part, 'TZOFFSETFROM'), offsetOf(part, 'TZOFFSETTO')];
  if (!start || from === null || offset === null || part.properties.get('DTSTART')!.length > 1)
    return { changes: [], from: from ?? 0, first: Infinity };
  const first = writtenTime(start, start.values[0]).wall;
  const dates = (part.properties.get('RDATE') ?? []).flatMap((property) =>
    property.values.flat().map((text) => writtenTime(property, text).wall),
  );
  const rule = part.properties.get('RRULE')?.[0];
  const wanted = rule && readRule(rule);
  const span = years * 366 * day;
  const until = Math.min(now.getTime() + span, (wanted?.until?.wall ?? Infinity) + day);
  // Of rules that ended long ago only the last change matters.
  const since = Math.max(first, Math.min(now.getTime() - span, until - 366 * day));
  const walls = [first, ...dates, ...(wanted ? datesOf(wanted, first, since, until) : [])];
  const changes = walls.map((wall) => ({ at: wall - from, offset }));
  return { changes, from, first };
}

/** In milliseconds. */
function offsetOf(part: Component, name: string): number | null {
  const property = part.properties.get(name)?.[0];
  if (!property) return null;
  const match = /^([+-])(\d\d):(\d\d)(?::(\d\d))?$/.exec(String(property.values[0]));
  if (!match) throw unreadable(property.line);
  const [, sign, hours, minutes, seconds = '0'] = match;
  return Number(`${sign}1`) * 1000 * (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds));
}
