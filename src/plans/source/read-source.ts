import { parseAhead } from '../../conditions/parse-conditions.ts';
import { nowOf } from '../../time/clock.ts';
import { errorCodeOf } from '../../database/database-errors.ts';
import { invalid } from '../../errors.ts';
import { AddressRefused, fetchPublic, type PublicAnswer } from '../../notices/public-address.ts';
import type { Account } from '../../generated/prisma/client.ts';
import { isTimeZone } from '../../time/local-time.ts';
import { hostOfCalendar, type PlanInput, type ReadInput, type Source, type SourceInput } from '../plan.ts';
import { inTurn } from './owner-turns.ts';
import { readInWorker } from './read-in-worker.ts';
import { SourceUnreadable } from './source-window.ts';
import type { FreezeDeps } from '../../freezes/freeze-deps.ts';

/** Milliseconds for the whole answer. */
const calendarPatience = 10_000;
const mostCalendarBytes = 5 * 1024 * 1024;
/** A calendar that says for so long that nothing changed is read as a whole: its rules yield later events by then. */
const wholeEvery = 7 * 86_400_000;

/**
 * A calendar that was read. @property names the titles of its events, by the keys of their windows. @property warnings in
 *   sentences.
 */
type Read = { source: Source; names: ReadonlyMap<string, string>; warnings: string[] };

const noNames: ReadonlyMap<string, string> = new Map();

/**
 * Reads the calendar that a plan follows: one at a time for an owner.
 * @param known what an earlier reading gave; if nothing changed since, its events stay.
 * @param timezone the plan's.
 * @throws SourceUnreadable with a sentence that names the host of the calendar, and no more of its address.
 */
export const readSource = (
  deps: Pick<FreezeDeps, 'config' | 'clock'>,
  accountId: bigint,
  input: SourceInput,
  timezone: string,
  known: Source | null = null,
): Promise<Read> => inTurn(accountId, () => readNow(deps, input, timezone, known));

async function readNow(
  deps: Pick<FreezeDeps, 'config' | 'clock'>,
  { url, titles }: SourceInput,
  timezone: string,
  known: Source | null,
): Promise<Read> {
  const now = nowOf(deps.clock);
  const isFresh = known && now.getTime() - Date.parse(known.readWholeAt) < wholeEvery;
  const answer = await askForCalendar(deps, url, isFresh ? known : null);
  const readAt = now.toISOString();
  if (answer === 'unchanged')
    return { source: { ...known!, readAt, error: null }, names: noNames, warnings: [] };
  const { bytes, charset, etag, lastModified } = answer;
  const events = await readInWorker({ bytes, charset, titles, timezone, now }).catch((error: Error) => {
    throw new SourceUnreadable(`The calendar of ${hostOfCalendar(url)} ${error.message}.`);
  });
  return {
    source: {
      url,
      titles,
      windows: events.windows,
      readAt,
      readWholeAt: readAt,
      error: null,
      etag,
      lastModified,
    },
    names: events.names,
    warnings: [...warningsOf(events.matchNothing, events.windows.length, url), ...events.warnings],
  };
}

const warningsOf = (matchNothing: string[], count: number, url: string): string[] => [
  ...matchNothing.map(
    (title) => `No event of the calendar of ${hostOfCalendar(url)} has the title \`${title}\`.`,
  ),
  ...(count === 0 && matchNothing.length === 0
    ? [`The calendar of ${hostOfCalendar(url)} has no such events ahead, so this plan freezes nothing.`]
    : []),
];

type CalendarResponse = Record<'charset' | 'etag' | 'lastModified', string | null> & { bytes: Buffer };

async function askForCalendar(
  deps: Pick<FreezeDeps, 'config'>,
  url: string,
  known: Source | null,
): Promise<CalendarResponse | 'unchanged'> {
  const host = hostOfCalendar(url);
  const unreadable = (what: string) => new SourceUnreadable(`${host} ${what}.`);
  try {
    const answer = await fetchPublic(deps, new URL(url), {
      method: 'GET',
      headers: {
        accept: 'text/calendar, */*;q=0.1',
        'user-agent': 'Holdfast (calendar)',
        ...(known?.etag && { 'if-none-match': known.etag }),
        ...(known?.lastModified && { 'if-modified-since': known.lastModified }),
      },
      signal: AbortSignal.timeout(calendarPatience),
    });
    const bytes = answer.status === 200 ? await answer.bytes(mostCalendarBytes) : await answer.drop();
    if (answer.status === 304 && known) return 'unchanged';
    if (answer.status !== 200) throw unreadable(saidBy(answer));
    if (bytes === null) throw unreadable('has a calendar of more than 5 MiB');
    const [, charset = null] = /;\s*charset=([^;]+)/i.exec(answer.header('content-type') ?? '') ?? [];
    return {
      bytes: bytes!,
      charset,
      etag: answer.header('etag'),
      lastModified: answer.header('last-modified'),
    };
  } catch (error) {
    if (error instanceof SourceUnreadable) throw error;
    if (error instanceof AddressRefused) throw new SourceUnreadable(error.message);
    const isLate = error instanceof Error && error.name === 'TimeoutError';
    throw unreadable(
      isLate
        ? `did not answer within ${calendarPatience / 1000} s`
        : `does not answer (${errorCodeOf(error as Error)})`,
    );
  }
}

const saidBy = ({ status }: PublicAnswer): string =>
  status >= 300 && status < 400
    ? `answered ${status}, which leads to another address. Use that address`
    : `answered ${status}`;

/**
 * A plan from a request with its calendar, if it follows one.
 * @throws Refusal invalid if the calendar cannot be read.
 */
export async function readInput(
  deps: Pick<FreezeDeps, 'config' | 'clock'>,
  account: Pick<Account, 'id'>,
  { source, ...input }: PlanInput,
): Promise<{ input: ReadInput } & Pick<Read, 'names' | 'warnings'>> {
  await parseAhead(input.matchingConditions, input.excludeConditions);
  // A zone that does not exist is refused with the other fields.
  if (source === null || !isTimeZone(input.timezone))
    return { input: { ...input, source: null }, names: noNames, warnings: [] };
  const read = await readSource(deps, account.id, source, input.timezone).catch(refuseUnreadable);
  return { input: { ...input, source: read.source }, names: read.names, warnings: read.warnings };
}

/** @throws Refusal invalid for a calendar that cannot be read, and every other error. */
export function refuseUnreadable(error: unknown): never {
  if (!(error instanceof SourceUnreadable)) throw error;
  throw invalid([{ path: ['body', 'source', 'url'], message: error.message, type: 'value_error' }]);
}
