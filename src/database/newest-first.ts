import { invalid } from '../errors.ts';

// Pages of a growing list, newest first, ordered by a growing number, or by a time and then by that number.

/** Where a page begins: after or before the row with this number. `at`: milliseconds, if a time orders the list. */
type Beside = { direction: 'older' | 'newer'; number: bigint; at: number | null };

/**
 * Reads a cursor of an earlier page.
 * @param newest the first item of the list, in words. @param isByTime whether a time orders the list.
 * @returns null without a cursor: the first page.
 * @throws Refusal invalid for a cursor that we did not make.
 */
export function besideOf(cursor: string | undefined, newest: string, isByTime = false): Beside | null {
  if (cursor === undefined) return null;
  const match = /^(older|newer):(\d{1,18})(?:@(\d{1,15}))?$/.exec(
    Buffer.from(cursor, 'base64url').toString(),
  );
  if (match && isByTime === (match[3] !== undefined)) {
    const [, direction, number, at] = match;
    return {
      direction: direction as Beside['direction'],
      number: BigInt(number!),
      at: at ? Number(at) : null,
    };
  }
  const message = `This cursor was not made by this service. Leave it out to start at the newest ${newest}.`;
  throw invalid([{ path: ['query', 'cursor'], message, type: 'value_error' }]);
}

/** The query of a page, for Prisma: one row more than the page shows, from its beginning. */
export const rowsBeside = (beside: Beside | null, size: number) => ({
  number: beside ? { [past(beside)]: beside.number } : undefined,
  order: beside?.direction === 'newer' ? ('asc' as const) : ('desc' as const),
  take: size + 1,
});

const past = ({ direction }: Beside) => (direction === 'newer' ? 'gt' : 'lt');

/** The time that a row of the page has: past the one where it begins, or the same with another number. */
export const timeBeside = (beside: Beside | null) =>
  !beside || beside.at === null
    ? null
    : { past: { [past(beside)]: new Date(beside.at) }, same: new Date(beside.at) };

/** The cursor of what is before or after a number, in a list that no time orders. */
export const cursorBeside = (direction: Beside['direction'], number: bigint): string =>
  Buffer.from(`${direction}:${number}`).toString('base64url');

/** A page, with the cursors of the pages after and before it, or null. */
export type NewestPage<Row> = { rows: Row[]; older: string | null; newer: string | null };

/** Makes a page of what `rowsBeside` asked for. @param timeOf the time of a row, if it orders the list. */
export function newestPageOf<Row>(
  found: Row[],
  size: number,
  beside: Beside | null,
  numberOf: (row: Row) => bigint,
  timeOf?: (row: Row) => Date,
): NewestPage<Row> {
  const isNewer = beside?.direction === 'newer';
  const hasMore = found.length > size;
  const rows = found.slice(0, size);
  if (isNewer) rows.reverse();
  const cursor = (direction: Beside['direction'], row: Row | undefined) =>
    row === undefined
      ? null
      : Buffer.from(`${direction}:${numberOf(row)}${timeOf ? `@${timeOf(row).getTime()}` : ''}`).toString(
          'base64url',
        );
  return {
    rows,
    older: isNewer || hasMore ? cursor('older', rows.at(-1)) : null,
    newer: (isNewer ? hasMore : beside !== null) ? cursor('newer', rows[0]) : null,
  };
}
