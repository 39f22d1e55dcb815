import { describe, expect, test } from 'vitest';
import { nameFromReasons, shownName } from '../../src/plans/plan-name.ts';

const long = 'x'.repeat(100);
const family = '👨‍👩‍👧';

describe('the name of a plan', () => {
  test.each<[string, { reason: string; publicReason?: string | null }, string]>([
    ['that has no public reason is its reason', { reason: 'Books', publicReason: null }, 'Books'],
    ['that has one is made of that', { reason: 'Secret', publicReason: 'Maintenance' }, 'Maintenance'],
    ['is a line', { reason: '\n Weekend \r\nQuiet' }, 'Weekend'],
    ['has at most 80 characters', { reason: long }, `${'x'.repeat(79)}…`],
    ['is cut between characters', { reason: `${'x'.repeat(77)}${family}${family}` }, `${'x'.repeat(77)}…`],
    ['is never made of a reason beside an empty public one', { reason: 'S', publicReason: ' ' }, 'Freeze'],
    ['is a word if there is nothing', { reason: '' }, 'Freeze'],
  ])('%s', (_, plan, name) => expect(nameFromReasons(plan)).toBe(name));
});

describe('people who may not read the reason of a plan', () => {
  test.each<[string, string | null, string]>([
    ['read its name, if nothing is secret', null, 'Initech'],
    ['read the public reason in the place of its name', 'Maintenance', 'Maintenance'],
    ['read all lines of it', 'Maintenance\nof the books', 'Maintenance of the books'],
    ['read 80 characters of it', long, `${'x'.repeat(79)}…`],
    ['read a word if it is empty', '', 'Freeze'],
  ])('%s', (_, publicReason, shown) => {
    const plan = { name: 'Initech', publicReason };
    expect([shownName(plan, false), shownName(plan, true)]).toEqual([shown, 'Initech']);
  });
});
