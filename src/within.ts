/**
 * Waits for an answer, but not forever. The work continues, for others who wait for it.
 * @param milliseconds of real time.
 * @returns null where it takes longer.
 * @throws what the answer throws in time.
 */
export async function within<Answer>(milliseconds: number, answer: Promise<Answer>): Promise<Answer | null> {
  const { promise: late, resolve } = Promise.withResolvers<null>();
  const timer = setTimeout(resolve, milliseconds, null);
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}
