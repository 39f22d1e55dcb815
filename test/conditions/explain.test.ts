import { describe, expect, test } from 'vitest';
import type { ConditionInput } from '../../src/conditions/ast.ts';
import { explain } from '../../src/conditions/explain.ts';
import { prepared, somePullRequest } from './some-pull-request.ts';

const now = Date.parse('2026-03-01T10:00:00Z');
const reasonsOf = (conditions: ConditionInput[], changes: Parameters<typeof somePullRequest>[0] = {}) =>
  explain(prepared(conditions), somePullRequest(changes), now).reasons;

test('each leaf says where it stands, what it saw and whether it matched', () => {
  const changes = { values: { files: undefined, author: null }, whyNotKnown: { files: 'too many' } };
  const conditions = [
    'base=main',
    { or: ['label=x', '-draft'] },
    'files~=x',
    'author=a',
    'created-at<1 day ago',
  ];
  expect(reasonsOf(conditions, changes)).toEqual([
    { path: [0], condition: 'base=main', match: true, saw: ['main'], more: 0, why: null, decides: false },
    {
      path: [1, 'or', 0],
      condition: 'label=x',
      match: false,
      saw: ['risky', 'house'],
      more: 0,
      why: null,
      decides: false,
    },
    {
      path: [1, 'or', 1],
      condition: '-draft',
      match: true,
      saw: [false],
      more: 0,
      why: null,
      decides: false,
    },
    {
      path: [2],
      condition: 'files~=x',
      match: 'unknown',
      saw: null,
      more: 0,
      why: 'too many',
      decides: false,
    },
    { path: [3], condition: 'author=a', match: false, saw: [], more: 0, why: null, decides: true },
    {
      path: [4],
      condition: 'created-at<1 day ago',
      match: true,
      saw: ['2026-02-22T10:00:00.000Z'],
      more: 0,
      why: null,
      decides: false,
    },
  ]);
});

describe('the leaves that decide', () => {
  test.each<[ConditionInput[], string[]]>([
    [
      ['base=main', 'label=risky'],
      ['base=main', 'label=risky'],
    ],
    [
      ['base=main', 'label=x', 'draft'],
      ['label=x', 'draft'],
    ],
    [[{ or: ['base=main', 'label=x'] }], ['base=main']],
    [[{ or: ['draft', 'label=x'] }], ['draft', 'label=x']],
    [[{ not: { and: ['base=main', 'draft'] } }], ['draft']],
    [['base=main', 'files=x'], ['files=x']],
    [[{ or: ['draft', 'files=x'] }, 'base=main'], ['files=x']],
  ])('of %j are %j', (conditions, expected) => {
    const reasons = reasonsOf(conditions, { values: { files: undefined } });
    expect(reasons.filter(({ decides }) => decides).map(({ condition }) => condition)).toEqual(expected);
  });
});

test('if there are many values, matching ones come first, and the rest is counted', () => {
  const files = [...Array.from({ length: 50 }, (_, index) => `src/${index}`), 'infra/a', 'infra/b'];
  const [reason] = reasonsOf(['files~=^infra/'], { values: { files } });
  expect(reason!.saw).toHaveLength(20);
  expect(reason!.saw!.slice(0, 3)).toEqual(['infra/a', 'infra/b', 'src/0']);
  expect(reason!.more).toBe(32);
});

test.each<[string, Parameters<typeof somePullRequest>[0], unknown]>([
  ['#files>1', {}, { saw: [2] }],
  ['#label>1', {}, { saw: [2] }],
  ['#title>1', { values: { title: '😀é' } }, { saw: [2] }],
  ['commits[*].author=Ada', {}, { saw: ['Mona Lisa', 'Ada'] }],
  ['commits[-1].date_author<2027-01-01', {}, { saw: ['2026-02-27T08:00:00.000Z'] }],
  ['commits~=docs', {}, { saw: ['Fix the roof', 'docs: roof'] }],
  ['commits[9].author=Ada', {}, { saw: [] }],
  ['schedule=Sun', {}, { saw: ['2026-03-01T10:00:00.000Z'] }],
  ['check-success=@github-actions/ci/lint', {}, { saw: ['@github-actions/ci/lint'] }],
  ['scope!=x', { hasEveryScope: true }, { saw: ['(all)'], why: 'CI says that it touches every scope' }],
  ['author=@nobody', {}, { saw: ['mona'], match: 'unknown', why: 'the members of @nobody are not known' }],
  ['author=@x', { whyNotKnown: { '@x': 'there is no team @x' } }, { why: 'there is no team @x' }],
  ['head={{ author }}', { values: { author: null } }, { why: 'its author’s account was deleted' }],
  ['label=x', { values: { label: undefined } }, { saw: null, why: 'its `label` was not loaded' }],
])('%s shows what it asked of', (condition, changes, expected) => {
  expect(reasonsOf([condition], changes)[0]).toMatchObject(expected as object);
});
