// The order in which the writer takes what waits, in the database: no tier before a more urgent one, and turns within it.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { takeLease } from '../../src/statuses/lease.ts';
import type { SqlTx } from '../../src/database/sql.ts';
import { turnsAfter, turnsAfterBatch } from '../../src/statuses/write-turns.ts';
import { openTestDatabase } from '../support/database.ts';

/** More repositories than turns are remembered of. */
const many = 230;
const seenAt = new Date('2026-03-01T09:00:00Z');
let now = seenAt.getTime();
let database: Database;
beforeAll(async () => {
  database = await openTestDatabase();
  const { prisma } = database;
  await prisma.account.create({ data: { id: 1n, login: 'a', loginKey: 'a', type: 'User', seenAt } });
  await prisma.installation.create({ data: { id: 1n, accountId: 1n, permissions: {} } });
  const repository = (_: unknown, index: number) => ({ id: BigInt(index + 1), name: `web${index + 1}` });
  const more = { accountId: 1n, private: false, archived: false, seenAt };
  await prisma.repository.createMany({
    data: Array.from({ length: many }, repository).map((each) => ({ ...each, nameKey: each.name, ...more })),
  });
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

/** @param first how many writes the pace allows at once. */
async function lease(first: number, sql: SqlTx = database.sql, perMinute = 6000) {
  const range = { least: perMinute, most: perMinute };
  await database.prisma.installation.update({
    where: { id: 1n },
    data: { pacePerMinute: perMinute, paceTokens: first, paceCountedAt: new Date(now) },
  });
  const deps = { sql, clock: { now: () => now }, config: { statusWritesPerMinute: range } };
  return (await takeLease(deps as Parameters<typeof takeLease>[0], 1n))!;
}

/** Takes as a writer does, in one turn: so many at first, and so many when the pace allows more. */
async function take(first: number, then: number, perMinute?: number): Promise<string[]> {
  const leased = await lease(first, database.sql, perMinute);
  const taken: string[] = [];
  const takeSome = async () => {
    const state = await leased.take();
    const shas = state.is === 'writing' ? state.writes.map(({ sha }) => sha) : [];
    const text = 'UPDATE head_statuses SET is_waiting = false WHERE sha = ANY ($1::text[])';
    await database.sql.query('turns-written', text, [shas]);
    taken.push(...shas);
  };
  await takeSome();
  // 75 in a second.
  now += Math.ceil((then * 1000) / 75);
  await takeSome();
  await leased.release();
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

/** A step of a plan that PostgreSQL carried out. */
type Step = {
  Plans?: Step[];
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
};

/** How many rows of waiting statuses the steps read, those included that they leave out. */
const readBy = (step: Step): number =>
  (step.Plans ?? []).reduce((sum, each) => sum + readBy(each), 0) +
  (step['Relation Name'] === 'head_statuses'
    ? (step['Actual Rows'] + (step['Rows Removed by Filter'] ?? 0)) * step['Actual Loops']
    : 0);

/** How many rows a writer reads that takes 25 writes. */
async function rowsRead(): Promise<number> {
  let read = 0;
  const explained: SqlTx = {
    async query(name, text, values) {
      type Explained = { 'QUERY PLAN': { Plan: Step }[] };
      const [plan] = await database.sql.query<Explained>(
        `explain ${name}`,
        `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
        values,
      );
      read += readBy(plan!['QUERY PLAN'][0]!.Plan);
      // Of the same form as the rows of a taken lease.
      return [{ sha: null, turns: [], isOff: false, passes: null }] as never;
    },
  };
  await (await lease(25, explained)).release();
  return read;
}

const shares = (count: number, of: (index: number) => Partial<Waiting>): Waiting[] =>
  Array.from({ length: count }, (_, index) => ({
    ...{ repository: 1, owner: '', tier: 1, urgency: index % 4 },
    ...of(index),
  }));

test.each<[string, (index: number) => Partial<Waiting>]>([
  ['repositories', (index) => ({ repository: 1 + (index % many) })],
  ['owners of heads', (index) => ({ owner: `fork-${index}` })],
  ['commits', () => ({})],
])('a batch reads no more rows the more %s wait', async (_name, of) => {
  await database.sql.query('forget turns', 'DELETE FROM head_statuses', []);
  await wait(shares(500, of));
  await database.sql.query('analyze', 'ANALYZE head_statuses', []);
  expect(await rowsRead()).toBeLessThan(300);
});

test('nobody is forgotten where more take turns than are remembered', async () => {
  await database.sql.query('forget turns', 'DELETE FROM head_statuses', []);
  const [last] = await wait([{ repository: many, owner: '', tier: 1, urgency: 3 }]);
  const others = shares(many - 1, (index) => ({ repository: 1 + index, urgency: 0 }));
  const written = new Set<string>();
  // Each of the others always waits again. A burst is 25 at this pace, so all of it may go.
  for (let batches = 0; !written.has(last!.sha) && batches < (2 * many) / 25; batches++) {
    await wait(others);
    for (const sha of await take(25, 0, 4 * 25)) written.add(sha);
  }
  expect(written).toContain(last!.sha);
});

const full = Array.from({ length: 200 }, (_, index) => [`1/${1000 + index}`, `1/${1000 + index}/`]).flat();

test.each<[string, string[], { repositoryId: bigint; urgency: number }[], boolean, string | null]>([
  ['few have turns', [], [{ repositoryId: 1n, urgency: 0 }], false, null],
  [
    'more than are remembered',
    full,
    [
      { repositoryId: 9n, urgency: 1 },
      { repositoryId: 3n, urgency: 2 },
    ],
    false,
    'on/1/2/3',
  ],
  ['after one that went on', ['on/1/0/5', ...full], [{ repositoryId: 7n, urgency: 0 }], false, 'then/1/0/7'],
  ['after one that did not', ['then/1/0/7', ...full], [{ repositoryId: 1n, urgency: 0 }], false, 'on/1/0/7'],
  ['nobody waits behind', ['on/1/0/5', ...full], [], true, null],
])('from where the next batch goes on: %s', (_name, before, batch, isEnd, note) => {
  const [first] = turnsAfterBatch(
    before,
    batch.map((each) => ({ ...each, tier: 1, headOwner: '' })),
    isEnd,
  );
  expect(/^(on|then)/.test(first ?? '') ? first : null).toBe(note);
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

test('after GitHub answered slowly, a large freeze leaves places for what cannot wait', async () => {
  await database.sql.query('forget all', 'DELETE FROM head_statuses', []);
  const range = { least: 60, most: 60 };
  const pace = { pacePerMinute: 60, paceTokens: 15, paceCountedAt: new Date(now), writeTurns: [] };
  await database.prisma.installation.update({ where: { id: 1n }, data: pace });
  const deps = { sql: database.sql, clock: { now: () => now }, config: { statusWritesPerMinute: range } };
  const large = { owner: '', tier: 1, urgency: 0 };
  await wait(Array.from({ length: 160 }, (_, index) => ({ ...large, repository: index + 1 })));
  /** One turn of a writer, as long as a turn may last. @param lasting milliseconds that a write takes. */
  const write = async (lasting: number) => {
    const ends = now + 5_000;
    const leased = (await takeLease(deps as Parameters<typeof takeLease>[0], 1n))!;
    const written: number[] = [];
    for (let state; now < ends && (state = await leased.take()).is === 'writing';) {
      const done = lasting > 0 ? state.writes.slice(0, 1) : state.writes;
      const text = 'UPDATE head_statuses SET is_waiting = false WHERE sha = ANY ($1::text[])';
      await database.sql.query('slow-written', text, [done.map(({ sha }) => sha)]);
      leased.learn({ posted: done.length, returned: state.writes.length - done.length, isRefused: false });
      written.push(...done.map(({ tier }) => tier));
      now += lasting;
    }
    await leased.release();
    return written;
  };
  const slowTurns = 20;
  for (let turn = 0; turn < slowTurns; turn++) expect((await write(800)).length).toBeLessThan(8);
  // Now GitHub is fast again, and the pace alone makes them wait.
  for (let turn = 0; turn < 12; turn++) {
    now += 2_000;
    await write(0);
  }
  await wait(Array.from({ length: 5 }, () => ({ repository: 200, owner: '', tier: 0, urgency: 0 })));
  expect(await write(0)).toEqual([0, 0, 0, 0, 0]);
});
