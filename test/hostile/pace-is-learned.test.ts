// GitHub does not say how many statuses a minute it bears: the pace finds out, with few refusals, and remembers.
import { afterEach, describe, expect, test } from 'vitest';
import type { PaceRange } from '../../src/config-values.ts';
import { WriteLimit } from '../../sandbox/http/write-limit.ts';
import { takeLease } from '../../src/statuses/lease.ts';
import {
  afterAccepted,
  afterRefusal,
  firstPace,
  isPressed,
  paceAt,
  waitFor,
} from '../../src/statuses/plan-write.ts';
import { type Acme, startAcme } from '../support/acme.ts';

const minute = 60_000;

/** Hours of freezes that begin and end, without the service: writes press for ten minutes, and rest for five. */
function liveUnder(perMinute: number, range: PaceRange, minutes: number) {
  let now = 0;
  const limit = new WriteLimit(() => new Date(now));
  limit.perMinute = perMinute;
  let pace = firstPace(range, new Date(now));
  let written = 0;
  while (now < minutes * minute) {
    if (now % (15 * minute) >= 10 * minute) now = Math.ceil(now / (15 * minute)) * 15 * minute;
    pace = paceAt(pace, range, new Date(now));
    const wait = waitFor(pace);
    if (wait > 0) {
      now += wait;
      continue;
    }
    const presses = isPressed(pace);
    try {
      limit.take('acme');
      written++;
      pace = { ...pace, tokens: pace.tokens - 1 };
      if (presses) pace = afterAccepted(pace, 1, range, new Date(now));
      // A call takes its time.
      now += 200;
    } catch {
      pace = afterRefusal(pace, range, new Date(now));
      now += minute;
    }
  }
  return { pace: pace.perMinute, refusals: limit.refusals, written };
}

describe('the pace alone, over hours', () => {
  const range = { least: 10, most: 170 };

  test.each([30, 60, 80, 100, 120, 150])('settles just below a limit of %i a minute', (limit) => {
    const { pace, refusals } = liveUnder(limit, range, 55);
    expect(pace).toBeGreaterThan(0.65 * limit);
    expect(pace).toBeLessThanOrEqual(limit);
    expect(refusals).toBeLessThanOrEqual(3);
    // Once an hour it is tried whether GitHub bears more.
    expect(liveUnder(limit, range, 8 * 60).refusals).toBeLessThanOrEqual(3 + 8);
  });

  test('without a limit it rises to the ceiling', () => {
    expect(liveUnder(Infinity, range, 60)).toMatchObject({ pace: 170, refusals: 0 });
  });
});

describe('a service that writes', () => {
  let acme: Acme;
  const start = async (statusWritesPerMinute: PaceRange) =>
    (acme = await startAcme({ statusWritesPerMinute }));
  const pass = async (seconds: number, step = 10) => {
    for (let passed = 0; passed < seconds; passed += step)
      await acme.advanceTo(new Date(acme.clock.now() + step * 1000));
  };
  const installation = () =>
    acme.app.deps.db.installation.findFirstOrThrow({ where: { account: { loginKey: 'acme' } } });
  afterEach(() => acme.close());

  test('settles below what GitHub accepts, with few refusals, and remembers it', async () => {
    const limit = 20;
    await start({ least: 4, most: 40 });
    acme.github.writeLimit.perMinute = limit;
    const web = await acme.repository('web', Array(50).fill({}));
    await pass(360);
    const { refusals } = acme.github.writeLimit;
    expect(refusals).toBeGreaterThan(0);
    expect(refusals).toBeLessThanOrEqual(3);
    expect(acme.frozen(web)).toEqual([]);
    const learned = await installation();
    expect(learned.pacePerMinute).toBeGreaterThan(limit / 2);
    expect(learned.pacePerMinute).toBeLessThan(1.5 * limit);
    // Nothing of it is in memory: whoever writes next, in this process or in another one, begins with the row.
    const lease = (await takeLease(acme.app.deps, learned.id))!;
    await lease.release();
    expect((await installation()).pacePerMinute).toBe(learned.pacePerMinute);
    await acme.freeze(web);
    await pass(300);
    expect(acme.frozen(web)).toHaveLength(50);
    expect(acme.github.writeLimit.refusals).toBeLessThanOrEqual(refusals + 1);
    // What goes on for long stays below it.
    const { pacePerMinute } = await installation();
    expect(0.75 * pacePerMinute!).toBeLessThanOrEqual(limit);
  });

  test('a fixed pace never moves, no matter what GitHub answers', async () => {
    await start({ least: 20, most: 20 });
    acme.github.writeLimit.perMinute = 10;
    await acme.repository('web', Array(40).fill({}));
    await pass(120);
    expect(acme.github.writeLimit.refusals).toBeGreaterThan(0);
    expect((await installation()).pacePerMinute).toBe(20);
  });
});
