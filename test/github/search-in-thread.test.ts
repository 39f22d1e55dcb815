import { expect, test } from 'vitest';
import type { ConditionFacts } from '../../src/conditions/attributes.ts';
import { prepareFacts } from '../../src/conditions/match.ts';
import { parseConditions } from '../../src/conditions/parse-conditions.ts';
import { type LongSearch, searchAhead } from '../../src/conditions/search-ahead.ts';
import { searchInThread } from '../../src/github/pull-requests/search-in-thread.ts';

const words = 'Line about a change, and more\n'.repeat(2000);
const large = String.raw`(?:\w+\W+){60}`;

function factsOf(body: string, author: string | null = 'ada'): ConditionFacts {
  const values = { body, author: author as string };
  return { values, whyNotKnown: {}, hasEveryScope: false, teams: new Map() };
}

/** The verdict with what a search ahead noted, and the conditions that it searched apart. */
async function ahead(condition: string, facts: ConditionFacts) {
  const parsed = parseConditions([condition], []);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  const matcher = prepareFacts(parsed.conditions);
  const apart: LongSearch[] = [];
  const alone = matcher.judge(facts, 0);
  await searchAhead({ matchers: [matcher] }, facts, (search) => {
    apart.push(search);
    return searchInThread(search);
  });
  return { alone, noted: matcher.judge(facts, 0), apart };
}

test.each<[string, string, boolean]>([
  [`body~=${large}[A-K]`, words, false],
  [`body~=${large}[A-K]`, `${words}K`, true],
  [`-body~=${large}[A-K]`, words, true],
  [String.raw`body~={{author}}(?:\W+\w+){60}`, `${words} ada ${words}`, true],
  [String.raw`body~={{author}}(?:\W+\w+){60}`, `${words} bob ${words}`, false],
])('%s is searched apart, with the same verdict', async (condition, body, verdict) => {
  const { alone, noted, apart } = await ahead(condition, factsOf(body));
  expect([alone, noted]).toEqual([verdict, verdict]);
  expect(apart).toHaveLength(1);
});

test('what is short stays here', async () => {
  const { noted, apart } = await ahead(`body~=${large}[A-K]`, factsOf(words.slice(0, 5_000)));
  expect([noted, apart]).toEqual([false, []]);
});

test('if the thread fails, the text is searched here', async () => {
  const facts = factsOf(`${words}K`);
  const parsed = parseConditions([`body~=${large}[A-K]`], []);
  const matcher = prepareFacts(parsed.ok ? parsed.conditions : []);
  await searchAhead({ matchers: [matcher] }, facts, () => Promise.reject(new Error('no memory')));
  expect(matcher.judge(facts, 0)).toBe(true);
});
