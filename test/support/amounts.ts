// Thousands of something prove what a tenth of them proves, more often: CI makes all of them (`TEST_AMOUNTS=whole`), a
// developer waits for a tenth.
import { test } from 'vitest';

export const isWhole = process.env['TEST_AMOUNTS'] === 'whole';

/** @returns how many a test makes of something. */
export const amount = (whole: number): number => (isWhole ? whole : Math.ceil(whole / 10));

/** @returns which of generated cases a test tries: a third, and another one in the next turn. */
export const thirdOf = <Case>(cases: Case[], turn: number): Case[] =>
  isWhole ? cases : cases.filter((_, at) => at % 3 === turn % 3);

/** A test whose subject is an amount, such as a limit of GitHub. */
export const testOfAmount = test.runIf(isWhole);
