import { DoubtfulTime, later, type Moment, readMoment, type Ways } from '../../time/moment.ts';
import { parseDuration } from '../../time/duration.ts';
import { isTimeZone } from '../../time/local-time.ts';

/** What a freeze command names, as the API takes it; empty for merges. */
type Holding = { holds?: ('merges' | 'deployments')[]; environments?: string[] };

/** The words of a freeze command: what it holds, until when, in which zone, and why. */
type FreezeWords = { holding: Holding; end: Moment; zone: string; reason: string };

/** How to resolve an ambiguous time in a comment. */
const ways: Ways = { utc: 'name the zone UTC after it', length: (text) => `${text} without until` };

/** How many words a time may have. */
const mostWords = 4;
const regions =
  /^(?:Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Etc|Europe|Indian|Pacific|US)\//i;
/** Each stands for several zones, or for a zone during half of the year. */
const abbreviations = new Set(
  'GMT BST WET WEST CET CEST EET EEST EST EDT CST CDT MST MDT PST PDT IST JST'.split(' '),
);
const ofTimes = /^(?:\d\S*|today|tomorrow|at|am|pm|(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*)$/i;

/** `deployments`, `both to production,live-*`: no time begins so. */
const what = /^(?:(merges)|(?:(deployments)|both)(?: to (\S+))?) (?=\S)/i;

/** Reads what a freeze holds, and the words after it. */
function readHolding(words: string): { holding: Holding; rest: string } {
  const [all = '', merges, deployments, environments] = what.exec(words) ?? [];
  const rest = words.slice(all.length);
  if (all === '' || merges) return { holding: {}, rest };
  return {
    holding: {
      holds: deployments ? ['deployments'] : ['merges', 'deployments'],
      ...(environments !== undefined && { environments: environments.split(',').filter(Boolean) }),
    },
    rest,
  };
}

/**
 * Reads `2h INC-4711`, `until friday 18:00 Europe/Paris Books are closed` or `deployments to production 2h INC-4711`.
 * @param defaults the current time in milliseconds, and the zone to use if the words name none.
 * @throws DoubtfulTime if the time is past, ambiguous or not understood.
 */
export function readFreezeWords(words: string, defaults: { now: number; zone: string }): FreezeWords {
  const { holding, rest: others } = readHolding(words);
  const { rest: reason, ...time } = readTimeWords(others, defaults);
  if (reason === '') throw new DoubtfulTime('A freeze needs a reason after its time, such as 2h INC-4711.');
  return { ...time, holding, reason };
}

/** The same, with what stands after the time, also nothing. @throws DoubtfulTime like `readFreezeWords`. */
export function readTimeWords(
  words: string,
  defaults: { now: number; zone: string },
): { end: Moment; zone: string; rest: string } {
  const [first = '', ...others] = words.split(/\s+/);
  const isUntil = first.toLowerCase() === 'until';
  const given = isUntil ? others : first.toLowerCase() === 'for' ? others : [first, ...others];
  const { end, zone, length } = isUntil ? readUntil(given, defaults) : readFor(given, defaults);
  return { end, zone, rest: given.slice(length).join(' ') };
}

/** @property length how many words the time and its zone have. */
type ReadTime = { end: Moment; zone: string; length: number };

/** Reads the longest start of the words that is a length of time. */
function readFor(given: string[], { now, zone: otherwise }: { now: number; zone: string }): ReadTime {
  for (let length = Math.min(mostWords, given.length); length > 0; length--) {
    const duration = parseDuration(given.slice(0, length).join(' '));
    if (!duration) continue;
    const { zone, words } = zoneAfter(given, length, otherwise);
    return { end: later(now, duration, { zone, ways }), zone, length: length + words };
  }
  throw new DoubtfulTime(
    `"${given[0] ?? ''}" is not a length of time. Write 2h or 1h30m, or until and a time, and then the reason.`,
  );
}

/** Reads the longest start of the words that is a moment. If there is none, throws about everything that looks like a time. */
function readUntil(given: string[], { now, zone: otherwise }: { now: number; zone: string }): ReadTime {
  if (given.join('') === '')
    throw new DoubtfulTime('Write a time after until, such as until 18:00 INC-4711.');
  const last = given.findIndex((word) => !ofTimes.test(word));
  const most = Math.min(mostWords, last === -1 ? given.length : last);
  let doubt: unknown;
  for (let length = Math.max(1, most); length > 0; length--) {
    const { zone, words } = zoneAfter(given, length, otherwise);
    // `12:30 am` is not `12:30`.
    if (/^\d/.test(given[length - 1]!) && /^[ap]m$/i.test(given[length] ?? '')) continue;
    try {
      const text = given.slice(0, length).join(' ');
      return { end: readMoment(text, { now, zone, isUntil: true, ways }), zone, length: length + words };
    } catch (error) {
      if (!(error instanceof DoubtfulTime)) throw error;
      doubt ??= error;
    }
  }
  throw doubt;
}

/** The zone after a time. @throws DoubtfulTime if it is unknown or ambiguous. */
function zoneAfter(given: string[], length: number, otherwise: string): { zone: string; words: 0 | 1 } {
  const word = given[length] ?? '';
  if (/^UTC$/i.test(word)) return { zone: 'UTC', words: 1 };
  if (word.includes('/') && isTimeZone(word)) return { zone: word, words: 1 };
  if (regions.test(word) || abbreviations.has(word))
    throw new DoubtfulTime(`"${word}" is not a single time zone. Write one such as Europe/Paris or UTC.`);
  return { zone: otherwise, words: 0 };
}
