import { expect, test } from 'vitest';
import { startCommenting } from './support/comments.ts';

const perMinute = 60;

test('the answer to a comment waits until every status is written, and takes a place in the pace', async () => {
  const world = await startCommenting({ statusWritesPerMinute: { least: perMinute, most: perMinute } });
  try {
    // A quarter of a minute's writes goes at once, and the rest one by one.
    const web = await world.repository('web', Array(18).fill({}));
    const after = (seconds: number) => world.advanceTo(new Date(world.clock.now() + seconds * 1000));
    for (let passed = 0; passed < 60; passed += 10) await after(10);
    expect(world.frozen(web)).toEqual([]);
    await world.freeze(web);
    await world.write(web, 1, 'ada', '/holdfast status');
    expect(world.frozen(web).length).toBeLessThan(18);
    for (let passed = 0; passed < 60 && world.frozen(web).length < 18; passed++) {
      expect(world.answers(web, 1)).toEqual([]);
      // The writer comes back every two seconds, and the answer looks in real time whether it is through.
      await after(2);
    }
    expect(world.frozen(web)).toHaveLength(18);
    const pace = () => world.app.deps.db.installation.findFirstOrThrow();
    const before = await pace();
    for (let passed = 0; passed < 10 && world.answers(web, 1).length === 0; passed++) await after(1);
    expect(world.answers(web, 1)).toHaveLength(1);
    const now = await pace();
    const seconds = (now.paceCountedAt!.getTime() - before.paceCountedAt!.getTime()) / 1000;
    const evenly = (0.75 * perMinute) / 60;
    expect(now.paceTokens).toBeCloseTo(before.paceTokens! + seconds * evenly - 1);
  } finally {
    await world.close();
  }
});
