import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ConditionInput } from '../../src/conditions/ast.ts';
import type { AttributeValues } from '../../src/conditions/attributes.ts';
import { decideHead, nextChangeAmong, weighTogether } from '../../src/statuses/judge.ts';
import { fit, freeText } from '../../src/statuses/status.ts';
import { parseFreeze, type ParsedFreeze } from '../../src/freezes/judge-freeze.ts';
import type { PullRequestFacts } from '../../src/github/pull-requests/pull-request.ts';

const now = new Date('2026-03-01T10:00:00Z');

type Given = {
  matching?: unknown[];
  exclude?: unknown[];
  reason?: string;
  endsAt?: Date | null;
  broken?: boolean;
};
let ids = 0;

function freeze({
  matching = [],
  exclude = [],
  reason = 'Release',
  endsAt = null,
  broken,
}: Given): ParsedFreeze {
  const window = { start: '2026-03-01T09:00:00', end: null, timezone: 'UTC', startsAt: now, endsAt };
  const parsed = parseFreeze({
    id: `freeze-${ids++}`,
    repositoryId: 1n,
    reason,
    matchingConditions: matching as ConditionInput[],
    excludeConditions: exclude as ConditionInput[],
    ...window,
  });
  if (!parsed.conditions)
    throw new Error(`bad conditions in the test: ${JSON.stringify([matching, exclude])}`);
  return broken ? { ...parsed, conditions: null } : parsed;
}

type GivenFacts = { number?: number; values?: AttributeValues };

const pullRequest = ({ number = 1, values }: GivenFacts = {}): PullRequestFacts => ({
  number,
  nodeId: `PR_${number}`,
  headSha: 'a'.repeat(40),
  values: {
    draft: false,
    author: 'ada',
    base: 'main',
    label: ['risky'],
    files: ['src/a.ts'],
    ...values,
  },
  whyNotKnown: { files: 'GitHub did not give its files', label: 'GitHub did not give its labels' },
  hasEveryScope: false,
  teams: new Map(),
});
const unread = { values: { files: undefined } };
const at = (time: string) => new Date(`2026-03-01T${time}:00Z`);

const decideStatus = (freezes: ParsedFreeze[], pullRequests: PullRequestFacts[], observedAt: Date) =>
  decideHead(weighTogether({ freezes, exemptions: [], hiding: [], observedAt }, pullRequests));

describe('the status of a head', () => {
  test.each<[string, Given[], GivenFacts[], 'pending' | 'success', string?]>([
    ['no freeze', [], [{}], 'success', freeText],
    ['a freeze of everything', [{}], [{}], 'pending', 'Frozen until removed: Release'],
    ['one that does not match', [{ matching: ['label=docs'] }], [{}], 'success'],
    ['one that excludes it', [{ exclude: ['label=risky'] }], [{}], 'success'],
    ['excluded by one, held by another', [{ exclude: ['label=risky'] }, {}], [{}], 'pending'],
    ...['🧊🧊', '👩\u200d💻', '\u202e\u200d', '\u3164'].map(
      (reason): [string, Given[], GivenFacts[], 'pending', string] => [
        `a reason of which a description shows nothing: ${JSON.stringify(reason)}`,
        [{ reason }],
        [{}],
        'pending',
        'Frozen until removed',
      ],
    ),
    ['a reason with an emoji', [{ reason: '🧊 Ice' }], [{}], 'pending', 'Frozen until removed: Ice'],
    ['an end', [{ endsAt: at('12:00') }], [{}], 'pending', 'Frozen until 2026-03-01 12:00 UTC: Release'],
    [
      'two ends: the later is named',
      [{ endsAt: at('12:00') }, { endsAt: at('13:00'), reason: 'Audit' }],
      [{}],
      'pending',
      'Frozen until 2026-03-01 13:00 UTC (+1 more): Audit',
    ],
    [
      'no end is later than any',
      [{ endsAt: at('12:00') }, {}],
      [{}],
      'pending',
      'Frozen until removed (+1 more): Release',
    ],
    [
      'files not known, matching',
      [{ matching: ['files=b'] }],
      [unread],
      'pending',
      'Frozen until removed: could not be judged: GitHub did not give its files',
    ],
    [
      'files not known, excluding',
      [{ exclude: ['files=b'] }],
      [unread],
      'pending',
      'Frozen until removed: could not be judged: GitHub did not give its files',
    ],
    ['files not known, decided otherwise', [{ matching: ['files=b', 'label=docs'] }], [unread], 'success'],
    [
      'files not known, excluded otherwise',
      [{ exclude: [{ or: ['files=b', 'label=risky'] }] }],
      [unread],
      'success',
    ],
    [
      'conditions that cannot be read',
      [{ broken: true }],
      [{}],
      'pending',
      'Frozen until removed: could not be judged: its conditions cannot be read any more',
    ],
    [
      'one head, one of two held',
      [{ matching: ['base=release'] }],
      [{}, { number: 2, values: { base: 'release' } }],
      'pending',
      '#2 is frozen until removed: Release',
    ],
    ['one head, none held', [{ matching: ['base=other'] }], [{}, { number: 2 }], 'success', freeText],
  ])('%s', (_name, freezes, pullRequests, state, description) => {
    const status = decideStatus(freezes.map(freeze), pullRequests.map(pullRequest), now);
    expect(status.state).toBe(state);
    if (description) expect(status.description).toBe(description);
  });

  const conditions = fc.subarray(['label=risky', 'base=main', 'draft', 'files~=^src/', '-author=ada'], {
    maxLength: 2,
  });
  const freezes = fc.array(
    fc.record({
      matching: conditions,
      exclude: conditions,
      endsAt: fc.option(fc.date({ min: now, noInvalidDate: true, max: at('20:00') })),
    }),
    { maxLength: 4 },
  );
  const facts = fc.array(
    fc.record({
      number: fc.integer({ min: 1, max: 99 }),
      values: fc.record({
        draft: fc.boolean(),
        base: fc.constantFrom('main', 'release'),
        author: fc.constantFrom('ada', 'bob', null),
        label: fc.constantFrom(['risky'], [], undefined),
      }),
    }),
    { minLength: 1, maxLength: 3 },
  );

  test('the strictest of all pull requests and of all freezes wins, in any order', () => {
    fc.assert(
      fc.property(freezes, facts, (given, some) => {
        const parsed = given.map(freeze);
        const sharing = some.map(pullRequest);
        const { state } = decideStatus(parsed, sharing, now);
        const each = sharing.flatMap((one) =>
          parsed.map((single) => decideStatus([single], [one], now).state),
        );
        expect(state).toBe(each.includes('pending') ? 'pending' : 'success');
        expect(decideStatus(parsed.toReversed(), sharing.toReversed(), now).state).toBe(state);
      }),
    );
  });
});

test('the next change is the earliest of all that are within their freeze', async () => {
  const noon = at('12:00');
  const given = (matching: string[], endsAt: Date | null = null) => freeze({ matching, endsAt });
  const timed = given(['current-datetime>=2026-03-01T12:00']);
  const facts = [pullRequest(), pullRequest({ values: { base: 'release' } })];
  expect(await nextChangeAmong([given([]), timed], facts, now)).toEqual(noon);
  expect(await nextChangeAmong([given([])], facts, now)).toBeNull();
  expect(
    await nextChangeAmong([given(['current-datetime>=2026-03-01T12:00'], at('11:00'))], facts, now),
  ).toBeNull();
  expect(
    await nextChangeAmong([given(['base=none', 'current-datetime>=2026-03-01T12:00'])], facts, now),
  ).toBeNull();
  const excluding = freeze({ exclude: ['base=release', 'schedule=Sun 11:00-13:00'] });
  expect(await nextChangeAmong([excluding], facts, now)).toEqual(at('11:00'));
});

describe('fit', () => {
  test('leaves a plain line as it is, and cuts at 140 characters', () => {
    expect(fit('Frozen: Über-Release ❄ “4.2”')).toBe('Frozen: Über-Release ❄ “4.2”');
    expect(fit('x'.repeat(140))).toBe('x'.repeat(140));
    expect(fit('x'.repeat(141))).toBe(`${'x'.repeat(139)}…`);
  });

  test('always gives a text that GitHub accepts', () => {
    const any = fc.string({
      unit: fc.oneof(fc.constantFrom('🚀', '\n', '\0', '\u2028', '\ud800', 'é', ' '), fc.string()),
      maxLength: 300,
    });
    fc.assert(
      fc.property(any, (text) => {
        const fitted = fit(text);
        expect(fitted.length).toBeLessThanOrEqual(140);
        expect(fitted).toBe(fitted.trim());
        // eslint-disable-next-line no-control-regex -- these are what must not be there
        expect(fitted).not.toMatch(/[\u0000-\u001f\u007f]|[\ud800-\udfff]/);
      }),
    );
  });
});
