import { beforeEach, expect, test } from 'vitest';
import { SetupCode } from '../../../src/server/setup/admission.ts';
import { TestClock } from '../../support/test-clock.ts';

let clock: TestClock;
let right: string;
let code: SetupCode;
beforeEach(() => {
  clock = new TestClock('2026-03-01T09:00:00Z');
  code = new SetupCode(clock, (text) => (right = text));
  code.announce();
});

const tries = (count: number, address: string) =>
  Array.from({ length: count }, () => code.try('AAAA', address)).at(-1);

test('wrong codes slow down the address that sends them, for a minute, and no other', async () => {
  expect(tries(5, '203.0.113.9')).toBe('wrong');
  expect(tries(1, '203.0.113.9')).toBe('too-many');
  expect(tries(1, '198.51.100.7')).toBe('wrong');
  await clock.setTime(new Date(clock.now() + 60_000));
  expect(tries(1, '203.0.113.9')).toBe('wrong');
});

test('the right code works after any number of wrong ones from the same address', () => {
  tries(100, '203.0.113.9');
  expect(code.try(right, '203.0.113.9')).toBe('right');
});

test('the latest thousand addresses are counted', () => {
  tries(6, '203.0.113.9');
  for (let number = 0; number < 1000; number++) tries(1, `198.51.100.${number}`);
  expect(tries(1, '203.0.113.9')).toBe('wrong');
});
