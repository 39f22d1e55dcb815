/**
 * Waits for an answer for a limited time. The work continues, for others who wait for it.
 * @param milliseconds of real time.
 * @returns null if it takes longer.
 * @throws the error of the answer, if it comes in time.
 */
export async function within<Answer>(milliseconds: number, answer: Promise<Answer>): Promise<Answer | null> {
  const { promise: late, resolve } = Promise.withResolvers<null>();
  const timer = setTimeout(resolve, milliseconds, null);
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}
