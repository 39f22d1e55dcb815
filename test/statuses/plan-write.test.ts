import { describe, expect, test } from 'vitest';
import {
  foreignIn,
  type KnownStatus,
  mustWrite,
  rankOf,
  type WriteSubject,
  tiers,
} from '../../src/statuses/plan-write.ts';
import { lastText } from '../../src/statuses/status.ts';

const held = { state: 'pending', description: 'Frozen' } as const;
const other = { state: 'pending', description: 'Frozen until removed' } as const;
const free = { state: 'success', description: 'Free' } as const;
const at = (second: number) => new Date(second * 1000);
const shown = (status: { state: string; description: string }, second: number) => ({
  ...status,
  at: at(second),
});
/** What we wrote at second 100, while reading 5 was the last. */
const known = (
  status: { state: string; description: string },
  more: Partial<KnownStatus> = {},
): KnownStatus => ({
  writtenState: status.state,
  writtenDescription: status.description,
  writtenAt: at(100),
  writtenDuring: 5n,
  writes: 1,
  overwrites: 0,
  attempts: 0,
  isFinal: false,
  isMergeGroup: false,
  notHeld: null,
  ...more,
});

describe('a verdict must be written', () => {
  test.each([
    ['where nothing stands yet', held, null, null, true],
    ['where something else stands', held, shown(free, 90), null, true],
    ['not where it stands already', held, shown(held, 90), null, false],
    ['where another text stands', held, shown(other, 90), null, true],
    ['where somebody overwrote ours', held, shown(free, 101), known(held), true],
    [
      'not where the answer is of the same second and says otherwise',
      held,
      shown(free, 100),
      known(held),
      false,
    ],
    ['not where the answer is older than what we wrote', held, shown(free, 99), known(held), false],
    ['not where the answer knows of no status, and we wrote one', held, null, known(held), false],
    [
      'where an old answer agrees, and what we wrote since does not',
      free,
      shown(free, 99),
      known(held),
      true,
    ],
  ])('%s', (_name, verdict, present, written, expected) => {
    expect(mustWrite(verdict, present, written, 6n, at(160))).toBe(expected);
  });

  test('if that lasts for minutes: somebody overwrote ours in that second', () => {
    expect(mustWrite(held, shown(free, 100), known(held), 6n, at(100 + 301))).toBe(true);
  });

  test('if GitHub has shown none for minutes: the name of our context may have changed', () => {
    expect(mustWrite(held, null, known(held), 6n, at(100 + 301))).toBe(true);
  });

  test('if a write may have arrived without an answer: the next attempt looks', () => {
    expect(mustWrite(held, shown(held, 100), known(held, { attempts: 1 }), 6n, at(160))).toBe(true);
  });

  test('not if we wrote it during the reading', () => {
    expect(mustWrite(held, shown(free, 100), known(held), 5n, at(160))).toBe(false);
    expect(mustWrite(held, shown(free, 100), known(held), 4n, at(160))).toBe(false);
  });
});

describe('GitHub takes 1,000 statuses of a SHA and context', () => {
  test.each([
    [899, 0, true],
    [900, 0, false],
    [800, 100, false],
    [800, 99, true],
  ])('after %i writes and %i overwritten ones a new text is written: %s', (writes, overwrites, expected) => {
    const written = known(other, { writes, overwrites });
    expect(mustWrite(held, shown(other, 100), written, 6n, at(160))).toBe(expected);
  });

  test('a new state is still written', () => {
    expect(mustWrite(free, shown(held, 100), known(held, { writes: 990 }), 6n, at(160))).toBe(true);
  });
});

describe('what a write changes', () => {
  const usual = { isUnanswered: false, isOfEvent: false };
  type Given = typeof usual & { subject: WriteSubject; urgency: number };
  const rank = (
    wanted: typeof held | typeof free,
    state: string | null,
    { subject = 'open', urgency = 3, ...more }: Partial<Given> = {},
  ) => rankOf({ subject, status: wanted, urgency }, state === null ? null : { state }, { ...usual, ...more });

  test.each([
    ['GitHub shows success, and a freeze holds it', held, 'success', 'closesHole'],
    ['GitHub shows pending, and nothing holds it', free, 'pending', 'letsGo'],
    ['GitHub shows a failure of somebody else, and nothing holds it', free, 'failure', 'letsGo'],
    ['GitHub shows nothing, and a freeze holds it', held, null, 'holdsAlready'],
    ['GitHub shows an error of somebody else, and a freeze holds it', held, 'error', 'holdsAlready'],
    ['GitHub shows nothing, and nothing holds it', free, null, 'isFirst'],
    ['only the text of a hold changes', held, 'pending', 'changesText'],
    ['only the text of a release changes', free, 'success', 'changesText'],
  ] as const)('%s', (_name, wanted, state, tier) => {
    expect(rank(wanted, state)).toEqual({ tier: tiers[tier], urgency: 3 });
    expect(rank(wanted, state, { isOfEvent: true }).tier).toBe(tiers[tier]);
  });

  test('GitHub may show a success whose answer was lost', () => {
    expect(rank(held, null, { isUnanswered: true }).tier).toBe(tiers.closesHole);
    expect(rank(free, null, { isUnanswered: true }).tier).toBe(tiers.isFirst);
  });

  test('a hole that an event opens comes before those of a freeze, a merge group before both', () => {
    const draft = rank(held, 'success', { isOfEvent: true });
    expect(draft.urgency).toBeLessThan(rank(held, 'success', { urgency: 0 }).urgency);
    const group = rank(held, 'pending', { subject: 'group', urgency: 1 });
    expect(group.tier).toBeLessThan(draft.tier);
    const returning = rank(held, 'success', { subject: 'returning', urgency: 0 });
    expect(returning).toEqual({ tier: group.tier, urgency: expect.any(Number) });
    expect(returning.urgency).toBeLessThan(group.urgency);
    expect(rank(held, null, { subject: 'returning' }).tier).toBe(tiers.holdsAlready);
  });
});

describe('if the last status is written', () => {
  const last = { state: 'pending', description: lastText };
  const full = { isFinal: true, writes: 10, overwrites: 990 };
  test.each([
    ['it stands, whatever freezes say', free, shown(last, 100), known(last, { isFinal: true }), false],
    ['it stands, and a freeze begins', held, shown(last, 100), known(last, { isFinal: true }), false],
    ['somebody overwrote it', free, shown(free, 120), known(last, { isFinal: true }), true],
    ['GitHub takes no more, and a freeze begins', held, shown(free, 120), known(last, full), true],
    [
      'GitHub takes no more, and that was told',
      held,
      shown(free, 120),
      known(last, { ...full, notHeld: 'refused' }),
      false,
    ],
    ['GitHub takes no more, and nothing holds', free, shown(free, 120), known(last, full), false],
    ['GitHub takes no more, and what stands holds', held, shown(other, 120), known(last, full), false],
  ])('%s', (_name, verdict, present, written, expected) => {
    expect(mustWrite(verdict, present, written, 6n, at(160))).toBe(expected);
  });
});

describe('somebody else must have written', () => {
  test.each([
    ['none stands', null, null, false],
    ['one stands on a commit that we never wrote on', shown(free, 90), null, true],
    ['ours stands', shown(held, 100), known(held), false],
    ['what says the same came later', shown(held, 101), known(held), true],
    ['another came later', shown(free, 101), known(held), true],
    ['the answer is older than ours', shown(free, 99), known(held), false],
    ['a write of ours may have arrived', shown(held, 101), known(held, { attempts: 1 }), false],
  ])('%s', (_name, present, written, expected) => {
    expect(foreignIn(present, written, 6n, at(160)) !== null).toBe(expected);
  });
});
