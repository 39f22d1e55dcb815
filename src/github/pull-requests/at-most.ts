/**
 * Runs `work` for every item, at most `limit` at a time. The results have the order of the items. After a failure, this
 * starts no more.
 * @throws the first failure.
 */
export async function atMost<Item, Result>(
  limit: number,
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  async function workOn(): Promise<void> {
    while (next < items.length) {
      const index = next++;
      try {
        results[index] = await work(items[index]!);
      } catch (error) {
        next = items.length;
        throw error;
      }
    }
  }
  await Promise.all(Array.from({ length: limit }, workOn));
  return results;
}
