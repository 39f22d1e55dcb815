// Hundreds of conditions look at thousands of texts, and the event loop turns meanwhile. Counted in texts: how much one
// turn does must not depend on how many conditions there are.
import { afterEach, expect, test, vi } from 'vitest';
import type { ConditionFacts } from '../../src/conditions/attributes.ts';
import { explain } from '../../src/conditions/explain.ts';
import { mostFound, searchAhead } from '../../src/conditions/search-ahead.ts';
import { prepared, somePullRequest } from './some-pull-request.ts';

const [conditions, texts] = [60, 500];
/** Each finds one text. */
const matcher = prepared([
  { or: Array.from({ length: conditions }, (_, at) => `files*=**/page-${at}-*.ts`) },
  'title=another',
]);
const paths = Array.from({ length: texts }, (_, at) => `src/some-folder/page-${at}-${at % 7}.ts`);

let read = 0;
/** Counts how often one of its items is read. */
const counted = (list: string[]): string[] =>
  new Proxy(list, {
    get(target, key, receiver) {
      if (typeof key === 'string' && /^\d+$/.test(key)) read += 1;
      return Reflect.get(target, key, receiver);
    },
  });

/** By a clock on which each look takes a millisecond, so that a slice is as many steps on every machine. */
function countLooksAsTime(): void {
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => (now += 1));
}
afterEach(() => void vi.restoreAllMocks());

/** @returns how many texts were read in one turn of the event loop at most, and how many turns there were. */
async function readInOneTurn(work: () => Promise<unknown>): Promise<{ most: number; turns: number }> {
  let [most, turns] = [0, 0];
  read = 0;
  const count = () => {
    most = Math.max(most, read);
    [read, turns] = [0, turns + 1];
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  await work();
  clearImmediate(next);
  return { most: Math.max(most, read), turns };
}

const searched = (facts: ConditionFacts, search = () => Promise.resolve(false)) =>
  readInOneTurn(() => searchAhead({ matchers: [matcher] }, facts, search));

test('one turn of a search reads the list once, not once for each condition', async () => {
  countLooksAsTime();
  const facts = somePullRequest({ values: { files: counted(paths) } });
  const first = await searched(facts);
  expect(first.most).toBeLessThanOrEqual(2 * texts);
  // Each text for each condition, some in each turn.
  expect(first.turns).toBeGreaterThan((conditions * texts) / 20);
  expect(matcher.judge(facts, 0)).toBe(false);
});

test('a list that got longer is compared with what was searched once', async () => {
  countLooksAsTime();
  const facts = somePullRequest({ values: { files: paths.slice(0, -10) } });
  await searched(facts);
  facts.values = { ...facts.values, files: counted(paths) };
  const { most, turns } = await searched(facts);
  expect(most).toBeLessThanOrEqual(3 * texts);
  expect(turns).toBeGreaterThan((conditions * 10) / 20);
});

test('an explanation reads no more texts than it shows', async () => {
  const files = counted(paths);
  const facts = somePullRequest({ values: { files } });
  await searchAhead({ matchers: [matcher] }, facts);
  read = 0;
  const { reasons } = explain(matcher, facts, 0);
  expect(read).toBeLessThanOrEqual(conditions * (mostFound + 1));
  expect(reasons[3]).toMatchObject({ match: true, more: texts - mostFound });
  expect(reasons[3]!.saw!.slice(0, 3)).toEqual([paths[3], paths[0], paths[1]]);
});
