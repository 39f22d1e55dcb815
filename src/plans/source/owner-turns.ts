/** The readings of calendars in this process that an owner waits for: the last one in line, and how many there are. */
const lines = new Map<bigint, { last: Promise<unknown>; length: number }>();

/** How many readings of an owner run or wait. */
export const inLine = (accountId: bigint): number => lines.get(accountId)?.length ?? 0;

/** Does a reading after those of the same owner that came before, so that nobody has many calendars in memory at once. */
export function inTurn<Result>(accountId: bigint, read: () => Promise<Result>): Promise<Result> {
  const line = lines.get(accountId) ?? { last: Promise.resolve(), length: 0 };
  const reading = line.last.then(read).finally(() => {
    line.length -= 1;
    if (line.length === 0) lines.delete(accountId);
  });
  line.last = reading.catch(() => {});
  line.length += 1;
  lines.set(accountId, line);
  return reading;
}
