// The order in which the writer takes what waits, in the database: no tier before a more urgent one, and turns within it.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { takeLease } from '../../src/statuses/lease.ts';
import { turnsAfter } from '../../src/statuses/write-turns.ts';
import { openTestDatabase } from '../support/database.ts';

const seenAt = new Date('2026-03-01T09:00:00Z');
let now = seenAt.getTime();
let database: Database;
beforeAll(async () => {
  database = await openTestDatabase();
  const { prisma } = database;
  await prisma.account.create({ data: { id: 1n, login: 'a', loginKey: 'a', type: 'User', seenAt } });
  await prisma.installation.create({ data: { id: 1n, accountId: 1n, permissions: {} } });
  for (const id of [1n, 2n, 3n]) {
    const name = `web${id}`;
    const more = { private: false, archived: false, seenAt };
    await prisma.repository.create({ data: { id, accountId: 1n, name, nameKey: name, ...more } });
  }
});
afterAll(() => database.close());

type Waiting = { repository: number; owner: string; tier: number; urgency: number };
type Row = Waiting & { sha: string };

let made = 0;
async function wait(some: Waiting[]): Promise<Row[]> {
  const rows = some.map((each) => ({ ...each, sha: `sha-${++made}` }));
  await database.sql.query(
    'let wait',
    `INSERT INTO head_statuses (repository_id, installation_id, sha, state, description, observation, is_waiting,
      waiting_since, not_before, tier, head_owner, urgency)
    SELECT repository, 1, sha, 'pending', '', 1, true, $2, $2, tier, owner, urgency
    FROM jsonb_to_recordset($1::jsonb) AS r(repository int, sha text, tier int, owner text, urgency int)`,
    [JSON.stringify(rows), seenAt],
  );
  return rows;
}

/** Takes as a writer does, in one turn: so many at first, and so many when the pace allows more. */
async function take(first: number, then: number): Promise<string[]> {
  const range = { least: 6000, most: 6000 };
  await database.prisma.installation.update({
    where: { id: 1n },
    data: { pacePerMinute: 6000, paceTokens: first, paceCountedAt: new Date(now) },
  });
  const deps = { sql: database.sql, clock: { now: () => now }, config: { statusWritesPerMinute: range } };
  const lease = (await takeLease(deps as Parameters<typeof takeLease>[0], 1n))!;
  const taken: string[] = [];
  const takeSome = async () => {
    const state = await lease.take();
    const shas = state.is === 'writing' ? state.writes.map(({ sha }) => sha) : [];
    const text = 'UPDATE head_statuses SET is_waiting = false WHERE sha = ANY ($1::text[])';
    await database.sql.query('turns-written', text, [shas]);
    taken.push(...shas);
  };
  await takeSome();
  // 75 in a second.
  now += Math.ceil((then * 1000) / 75);
  await takeSome();
  await lease.release();
  return taken;
}

/** How far the writes of two who both wait all the time may be apart: at most half, and who begins. */
const mostApart = 2;

/** Counts the writes of those that go on waiting, and says how far they are apart. */
class Counts {
  #counts = new Map<string, number>();

  /** @param who has the write. @param waiting who waits, with those who have it. */
  count(who: string, waiting: Set<string>): void {
    for (const each of this.#counts.keys()) if (!waiting.has(each)) this.#counts.delete(each);
    const least = Math.min(...this.#counts.values());
    // Somebody who comes starts where the others are.
    for (const each of waiting)
      if (!this.#counts.has(each)) this.#counts.set(each, Number.isFinite(least) ? least : 0);
    this.#counts.set(who, this.#counts.get(who)! + 1);
    const counts = [...this.#counts.values()];
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(mostApart);
  }
}

const some = fc.record({
  repository: fc.integer({ min: 1, max: 3 }),
  owner: fc.constantFrom('', 'bob', 'eve'),
  tier: fc.constantFrom(1, 1, 2, 3),
  urgency: fc.integer({ min: -4, max: 3 }),
});
const runs = fc.record({
  waiting: fc.array(some, { minLength: 6, maxLength: 24 }),
  /** What comes again and again, with the greatest urgency. */
  again: fc.array(fc.record({ which: some, count: fc.integer({ min: 1, max: 4 }) }), {
    maxLength: 2,
  }),
  batches: fc.array(fc.tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 0, max: 3 })), {
    minLength: 5,
    maxLength: 8,
  }),
});

test('nobody has more than half while somebody else waits, and no tier comes before a more urgent one', async () => {
  await fc.assert(
    fc.asyncProperty(runs, async ({ waiting, again, batches }) => {
      await database.sql.query('forget turns', 'DELETE FROM head_statuses', []);
      let left = await wait(waiting);
      const counts = new Map<string, Counts>();
      const countsOf = (of: string) => counts.get(of) ?? counts.set(of, new Counts()).get(of)!;
      for (const [first, then] of batches) {
        const refill = again.flatMap(({ which, count }) => Array(count).fill({ ...which, urgency: -4 }));
        left = [...left, ...(await wait(refill))];
        for (const sha of await take(first, then)) {
          const row = left.find((each) => each.sha === sha)!;
          expect(Math.min(...left.map(({ tier }) => tier))).toBe(row.tier);
          const ofTier = left.filter(({ tier }) => tier === row.tier);
          const ofRepository = ofTier.filter(({ repository }) => repository === row.repository);
          countsOf(`${row.tier}`).count(
            `${row.repository}`,
            new Set(ofTier.map(({ repository }) => `${repository}`)),
          );
          countsOf(`${row.tier}/${row.repository}`).count(
            row.owner,
            new Set(ofRepository.map(({ owner }) => owner)),
          );
          const ofOwner = ofRepository.filter(({ owner }) => owner === row.owner);
          expect(Math.min(...ofOwner.map(({ urgency }) => urgency))).toBe(row.urgency);
          left = left.filter((each) => each !== row);
        }
      }
    }),
    // A smaller example is not worth the minutes.
    { numRuns: 25, endOnFailure: true },
  );
});

test.each([
  ['the first one', [], ['1/1', '1/1/eve']],
  ['others follow', ['1/2', '1/2/'], ['1/2', '1/2/', '1/1', '1/1/eve']],
  ['a new round', ['1/1', '1/1/eve', '1/2', '1/2/'], ['1/2/', '1/1', '1/1/eve']],
  ['a new round of repositories alone', ['1/1', '1/1/'], ['1/1/', '1/1', '1/1/eve']],
  ['another tier', ['2/1', '2/1/eve', 'pass'], ['2/1', '2/1/eve', 'pass', '1/1', '1/1/eve']],
])('the turns after a write: %s', (_name, before, after) => {
  expect(turnsAfter(before, '1', { repositoryId: 1n, headOwner: 'eve' })).toEqual(after);
});
