import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BothEnds } from '../src/database/both-ends.ts';

const nextTurn = () => new Promise(setImmediate);

test('what comes while others wait takes turns with what waited longest', async () => {
  const line = new BothEnds();
  const done: string[] = [];
  const run = (name: string) => line.run(async () => void done.push(name));
  await Promise.all(['1', '2', '3', '4', '5', '6'].map(run));
  expect(done).toEqual(['1', '2', '6', '3', '5', '4']);
});

test('a request of ten statements does not wait for the thousand that wait before it', async () => {
  const line = new BothEnds();
  let others = 0;
  const work = async () => {
    await nextTurn();
    others++;
  };
  const waiting = Array.from({ length: 1000 }, () => line.run(work));
  for (let statement = 0; statement < 10; statement++) await line.run(nextTurn);
  expect(others).toBeLessThanOrEqual(21);
  await Promise.all(waiting);
  expect(others).toBe(1000);
});

test('one works at a time, each once, and an error is its own caller’s', async () => {
  const works = fc.array(fc.record({ fails: fc.boolean(), after: fc.nat(3) }), { maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(works, async (given) => {
      const line = new BothEnds();
      let running = 0;
      const begun: number[] = [];
      const asked = given.map(async ({ fails, after }, index) => {
        for (let turn = 0; turn < after; turn++) await nextTurn();
        return line.run(async () => {
          expect(++running).toBe(1);
          begun.push(index);
          await nextTurn();
          running--;
          if (fails) throw new Error(String(index));
          return index;
        });
      });
      const ends = await Promise.allSettled(asked);
      for (const [index, end] of ends.entries())
        if (given[index]!.fails) expect(end).toMatchObject({ reason: new Error(String(index)) });
        else expect(end).toMatchObject({ value: index });
      expect(begun.toSorted((one, other) => one - other)).toEqual(given.map((_, index) => index));
    }),
  );
});
