import { expect, test } from 'vitest';
import { Witnesses } from '../../src/time/witnesses.ts';
import { TestClock } from '../support/test-clock.ts';

const start = Date.parse('2026-03-01T09:00:00Z');
const hour = 3_600_000;

/** A clock, its witnesses, and what they said of it. */
function watched() {
  const clock = new TestClock(new Date(start));
  const said: [string, string, number][] = [];
  const witnesses = new Witnesses(clock, (...all) => void said.push(all));
  const hearDate = (at: number, more: Record<string, string> = {}) =>
    witnesses.hearDate(new Headers({ date: new Date(at).toUTCString(), ...more }), clock.elapsed());
  return { clock, witnesses, said, hearDate, off: () => witnesses.clock.now() - clock.elapsed() };
}

test('a clock that nobody contradicts counts', () => {
  const { witnesses, clock, off } = watched();
  expect([witnesses.ahead('github'), witnesses.timeOf('github'), off()]).toEqual([null, null, 0]);
  witnesses.hearDate(new Headers(), clock.elapsed());
  witnesses.hearDate(new Headers({ date: 'soon' }), clock.elapsed());
  expect(witnesses.ahead('github')).toBeNull();
});

test.each([
  [0, 0, 0],
  [1_900, 0, 1_900],
  [30_000, 29_500, 30_000],
  [-59_000, -59_500, -59_000],
  // Judged by GitHub's time, whose fraction of a second nobody knows.
  [61_000, 60_500, 500],
  [-8 * hour, -8 * hour - 500, 500],
])('a clock that is %i ms ahead is told as %i, and judges with %i', async (wrong, told, judges) => {
  const { clock, witnesses, hearDate, off } = watched();
  await clock.setWrong(wrong);
  hearDate(start);
  expect([witnesses.ahead('github'), off()]).toEqual([told, judges]);
});

test('a clock that is set is noticed before the next answer, and each change is told once', async () => {
  const { clock, hearDate, said, off } = watched();
  hearDate(start);
  await clock.setWrong(8 * hour);
  expect(Math.abs(off())).toBeLessThan(1_000);
  await clock.tick(600_000);
  for (let count = 0; count < 3; count++) hearDate(clock.elapsed());
  await clock.setWrong(0);
  hearDate(clock.elapsed());
  await clock.setWrong(10_000);
  hearDate(clock.elapsed());
  expect(said).toEqual([
    ['wrong', 'github', 8 * hour - 500],
    ['agrees', 'github', 0],
    ['differs', 'github', 9_500],
  ]);
});

test('an answer that a proxy kept, or that took long, says nothing', async () => {
  const { clock, witnesses, hearDate } = watched();
  hearDate(start - hour, { age: '3600' });
  expect(witnesses.ahead('github')).toBeNull();
  const askedAt = clock.elapsed();
  await clock.tick(11_000);
  witnesses.hear('github', start - hour, askedAt);
  expect(witnesses.ahead('github')).toBeNull();
});

test('a witness that contradicts itself has to do so again and again', () => {
  const { witnesses, hearDate, said } = watched();
  hearDate(start);
  for (const at of [start - hour, start - hour, start, start - hour]) hearDate(at);
  expect([witnesses.ahead('github'), said]).toEqual([0, []]);
  for (let count = 0; count < 2; count++) hearDate(start - hour);
  expect(witnesses.ahead('github')).toBe(hour - 500);
});

test('after a machine slept, its clock and GitHub are right at once', async () => {
  const { clock, hearDate, off } = watched();
  hearDate(start);
  // The stopwatch stood still for three hours.
  await clock.setWrong(3 * hour);
  hearDate(start + 3 * hour);
  expect(off()).toBe(3 * hour);
});

test('the database counts only until GitHub has told its time', async () => {
  const { clock, witnesses, hearDate, off } = watched();
  await clock.setWrong(hour);
  witnesses.hear('database', start, clock.elapsed());
  expect(Math.abs(off())).toBeLessThan(1_000);
  hearDate(start + 2 * hour);
  expect(off()).toBe(2 * hour + 500);
  expect(witnesses.differing().map(({ witness }) => witness)).toEqual(['github', 'database']);
});
