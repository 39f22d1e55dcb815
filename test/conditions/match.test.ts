import { describe, expect, test } from 'vitest';
import type { ConditionInput } from '../../src/conditions/ast.ts';
import { matchAll } from '../../src/conditions/match.ts';
import { neededFacts } from '../../src/conditions/needed-facts.ts';
import { parseConditions } from '../../src/conditions/parse-conditions.ts';
import type { PullRequestFacts } from '../../src/pull-requests/pull-request.ts';
import { notKnown, somePullRequest } from './some-pull-request.ts';

const now = new Date('2026-03-01T10:00:00Z');

function parsed(conditions: ConditionInput[]) {
  const result = parseConditions(conditions, []);
  if (!result.ok) throw new Error(result.problems[0]!.message);
  return result.conditions;
}

const match = (condition: ConditionInput, facts: Partial<PullRequestFacts> = {}) =>
  matchAll(parsed([condition]), somePullRequest(facts), now).match;

describe('one condition', () => {
  test.each([
    ['base=main', true],
    ['base=Main', false],
    ['base!=main', false],
    ['base~=^ma', true],
    ['base~=ain', true],
    ['base~=^ain', false],
    ['-base=main', false],
    ['-base!=main', true],
    ['head=fix/roof', true],
    ['author=mona', true],
    ['author=Mona', false],
    ['title="Fix the Roof"', true],
    ['title~=roof', false],
    ['title~=(?i)roof', true],
    ['title~=(?P<what>Roof|Wall)$', true],
    ['title~="^Fix the"', true],
    ['label=risky', true],
    ['label=other', false],
    ['label!=risky', false],
    ['label!=other', true],
    ['-label=risky', false],
    ['label~=^ho', true],
    ['files~=^docs/', true],
    ['files=docs/roof.md', true],
    ['files=docs', false],
    ['-files~=^infra/', true],
    ['scope=api', true],
    ['scope!=api', false],
    ['scope=db', false],
    ['draft', false],
    ['-draft', true],
  ])('%s is %s', (condition, expected) => {
    expect(match(condition)).toBe(expected);
    expect(match({ not: condition })).toBe(!expected);
    expect(match({ not: { not: condition } })).toBe(expected);
  });

  test.each([
    ['author=mona', false],
    ['author=', false],
    ['author~=.*', false],
    ['author!=mona', true],
    ['-author=mona', true],
  ])('without an author, %s is %s', (condition, expected) => {
    expect(match(condition, { author: null })).toBe(expected);
  });

  test.each([
    ['label=', false],
    ['label~=', false],
    ['label!=x', true],
    ['-label~=.', true],
  ])('without labels, %s is %s', (condition, expected) => {
    expect(match(condition, { labels: { known: true, value: [] } })).toBe(expected);
  });
});

describe('groups', () => {
  test.each<[ConditionInput, boolean]>([
    [{ and: ['base=main', 'label=risky'] }, true],
    [{ and: ['base=main', 'label=x'] }, false],
    [{ or: ['base=x', 'label=risky'] }, true],
    [{ or: ['base=x', 'label=x'] }, false],
    [{ or: ['draft'] }, false],
    [{ not: { and: ['base=main', 'draft'] } }, true],
    [{ and: [{ or: ['draft', 'base=main'] }, { not: 'label=x' }] }, true],
  ])('%j is %s', (condition, expected) => {
    expect(match(condition)).toBe(expected);
  });

  test('a list is all of its items, and an empty one matches', () => {
    const facts = somePullRequest();
    expect(matchAll(parsed(['base=main', 'label=risky']), facts, now).match).toBe(true);
    expect(matchAll(parsed(['base=main', 'label=x']), facts, now).match).toBe(false);
    expect(matchAll([], facts, now)).toEqual({ match: true, reasons: [], nextChangeAt: null });
  });
});

describe('facts that are not known', () => {
  const files = notKnown('GitHub did not give its files');

  test.each<[ConditionInput, boolean | 'unknown']>([
    ['files~=x', 'unknown'],
    ['-files~=x', 'unknown'],
    ['files!=x', 'unknown'],
    ['base=main', true],
    [{ and: ['base=x', 'files~=x'] }, false],
    [{ and: ['base=main', 'files~=x'] }, 'unknown'],
    [{ or: ['base=main', 'files~=x'] }, true],
    [{ or: ['base=x', 'files~=x'] }, 'unknown'],
    [{ not: 'files~=x' }, 'unknown'],
  ])('%j is %s', (condition, expected) => {
    expect(match(condition, { files })).toBe(expected);
  });
});

describe('a pull request pushed with all_scopes', () => {
  const scopes = { names: ['docs'], all: true };

  test.each<[ConditionInput, boolean | 'unknown']>([
    ['scope=api', true],
    ['scope~=^never$', true],
    [{ not: { not: 'scope=api' } }, true],
    ['-scope!=api', true],
    [{ not: '-scope=api' }, true],
    [{ not: 'scope!=api' }, true],
    ['scope!=api', 'unknown'],
    ['-scope=api', 'unknown'],
    ['-scope~=api', 'unknown'],
    [{ not: 'scope=api' }, 'unknown'],
    [{ not: { or: ['scope=api', 'scope=web'] } }, 'unknown'],
    [{ and: ['scope!=api', 'draft'] }, false],
  ])('%j is %s', (condition, expected) => {
    expect(match(condition, { scopes })).toBe(expected);
  });

  test('without scopes, every scope is absent', () => {
    const none = { scopes: { names: [], all: false } };
    expect([match('scope=api', none), match('scope!=api', none)]).toEqual([false, true]);
  });
});

test('the reasons tell of each leaf what it saw, whether it matched and why not', () => {
  const conditions = parsed(['base=main', { or: ['label=x', '-draft'] }, 'files~=x', 'author=a']);
  const facts = somePullRequest({ files: notKnown('too many'), author: null });
  expect(matchAll(conditions, facts, now)).toEqual({
    match: false,
    nextChangeAt: null,
    reasons: [
      { condition: 'base=main', match: true, saw: ['main'], why: null },
      { condition: 'label=x', match: false, saw: ['risky', 'house'], why: null },
      { condition: '-draft', match: true, saw: false, why: null },
      { condition: 'files~=x', match: 'unknown', saw: null, why: 'too many' },
      { condition: 'author=a', match: false, saw: [], why: null },
    ],
  });
});

test.each<[ConditionInput[], string[]]>([
  [[], []],
  [['base=main', 'author=a', 'head=x', 'title=x', 'draft'], []],
  [['label=x'], ['labels']],
  [['base=x', { or: ['draft', { not: { and: ['-files~=x'] } }] }], ['files']],
  [
    ['scope=x', { not: 'label=x' }],
    ['labels', 'scopes'],
  ],
])('%j needs %j', (conditions, expected) => {
  const needs = Object.entries(neededFacts(parsed(conditions)));
  expect(needs.flatMap(([fact, isNeeded]) => (isNeeded ? [fact] : []))).toEqual(expected);
});
