/** How many writes of an installation may go at once, as counted at an instant. Kept in the database. */
export type Pace = { tokens: number; countedAt: Date };

/**
 * Takes a write's place, if one is free. Writes are spaced so that no minute holds more than `perMinute` of them: a
 * quarter may go at once, for a freeze that must hold now, and the rest follows evenly. GitHub stops installations
 * that write faster.
 * @param last null before the first write.
 * @returns what to keep; and, where no place is free, the milliseconds until one is.
 */
export function takePlace(last: Pace | null, perMinute: number, now: Date): { wait: number; pace: Pace } {
  const burst = Math.max(1, Math.floor(perMinute / 4));
  const perMillisecond = Math.max(1, perMinute - burst) / 60_000;
  const passed = last ? Math.max(0, now.getTime() - last.countedAt.getTime()) : 0;
  const tokens = Math.min(burst, last ? last.tokens + passed * perMillisecond : burst);
  // A clock of another replica may be behind: the time until it catches up is not counted twice.
  const countedAt = last && last.countedAt > now ? last.countedAt : now;
  if (tokens >= 1) return { wait: 0, pace: { tokens: tokens - 1, countedAt } };
  return { wait: Math.ceil((1 - tokens) / perMillisecond), pace: { tokens, countedAt } };
}
