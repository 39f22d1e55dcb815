import { describe, expect, test } from 'vitest';
import type { ConditionInput } from '../../src/conditions/ast.ts';
import type { AttributeValues } from '../../src/conditions/attributes.ts';
import { explain } from '../../src/conditions/explain.ts';
import { neededFacts } from '../../src/conditions/needs.ts';
import { parseConditions } from '../../src/conditions/parse-conditions.ts';
import { prepared, someCommit, somePullRequest } from './some-pull-request.ts';
import { leastCpuTime } from '../support/cpu-time.ts';

const now = Date.parse('2026-03-01T10:00:00Z');

const match = (condition: ConditionInput, changes: Parameters<typeof somePullRequest>[0] = {}) =>
  prepared([condition]).judge(somePullRequest(changes), now);

const given = (condition: ConditionInput, values: AttributeValues) => match(condition, { values });

describe('one condition', () => {
  test.each([
    ['base=main', true],
    ['base=Main', false],
    ['base!=main', false],
    ['base~=^ma', true],
    ['base~=ain', true],
    ['base~=^ain', false],
    ['base*=m*', true],
    ['base*=m', false],
    ['base>=main', true],
    ['base>main', false],
    ['base<naim', true],
    ['-base=main', false],
    ['-base!=main', true],
    ['#base=4', true],
    ['#base>4', false],
    ['head=fix/roof', true],
    ['head*=fix/*', true],
    ['head*=*', false],
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
    ['label>z', false],
    ['label>=risky', true],
    ['#label=2', true],
    ['#label!=2', false],
    ['-#label>2', true],
    ['files~=^docs/', true],
    ['files=docs/roof.md', true],
    ['files=docs', false],
    ['files*=**/*.ts', true],
    ['files*=*.ts', false],
    ['-files~=^infra/', true],
    ['#files<3', true],
    ['scope=api', true],
    ['scope!=api', false],
    ['scope=db', false],
    ['#scope=2', true],
    ['draft', false],
    ['-draft', true],
    ['number=7', true],
    ['number>=8', false],
    ['-number>=8', true],
    ['#added-lines>100', true],
    ['#added-lines<=100', false],
    ['github-review-decision=APPROVED', true],
    ['github-review-decision~=^APP', true],
    ['approved-reviews-by=ci[bot]', true],
    ['check-success=build', true],
    ['check-success=@github-actions/ci/lint', true],
    ['check-success=@github-actions/build', false],
    ['check-success!=@github-actions/build', true],
    ['status-success=build', true],
    ['commits=docs: roof', true],
    ['commits~=^docs', true],
    ['#commits=2', true],
    ['commits[0].author=Mona Lisa', true],
    ['commits[-1].author=Ada', true],
    ['commits[*].author=Ada', true],
    ['commits[*].author!=Ada', false],
    ['commits[*].author!=Bob', true],
    ['-commits[*].author=Bob', true],
    ['commits[5].author=Ada', false],
    ['commits[5].author!=Ada', true],
    ['commits[0].commit_verification_verified', true],
    ['-commits[-1].commit_verification_verified', true],
    ['commits[*].commit_verification_verified', true],
    ['commits[9].commit_verification_verified', false],
    ['commits[0].date_committer>=2026-02-27', true],
    ['commits[*].date_author<2026-02-27', false],
    ['commits[0].date_author<2 days ago', true],
    ['created-at>=2026-02-22', true],
    ['created-at>2026-02-22T10:00', false],
    ['created-at<=2026-02-22T11:00[Europe/Paris]', true],
    ['created-at<7 days ago', false],
    ['created-at<=7 days ago', true],
    ['created-at>7 days 1 minute ago', true],
    ['current-datetime>=2026-03-01T10:00', true],
    ['current-datetime<2026-03-01T10:00', false],
    ['current-datetime=2026-03-01T09:00/2026-03-01T11:00', true],
    ['current-datetime!=2026-03-01T09:00/2026-03-01T11:00', false],
    ['schedule=Sun 09:00-11:00', true],
    ['schedule!=Sun 09:00-11:00', false],
    ['schedule=Mon-Fri', false],
    ['author=@acme/core', true],
    ['author!=@acme/core', false],
    ['-author=@acme/core', false],
    ['approved-reviews-by=@Acme/Core', true],
    ['assignee=@acme/core', false],
    ['review-requested=@core', true],
    ['review-requested=bob', true],
    ['head~=^{{ author }}/', false],
    ['approved-reviews-by={{author}}', false],
    ['author={{ author }}', true],
  ])('%s is %s', (condition, expected) => {
    const values = { assignee: ['zoe'] };
    expect(given(condition, values)).toBe(expected);
    expect(given({ not: condition }, values)).toBe(!expected);
    expect(given({ not: { not: condition } }, values)).toBe(expected);
  });

  test.each([
    ['author=mona', false],
    ['author=', false],
    ['author~=.*', false],
    ['author*=**', false],
    ['author>=a', false],
    ['author!=mona', true],
    ['-author=mona', true],
    ['#author=0', true],
    ['author=@acme/core', false],
  ])('without an author, %s is %s', (condition, expected) => {
    expect(given(condition, { author: null })).toBe(expected);
  });

  test.each([
    ['label=', false],
    ['label~=', false],
    ['label!=x', true],
    ['-label~=.', true],
    ['#label=0', true],
  ])('without labels, %s is %s', (condition, expected) => {
    expect(given(condition, { label: [] })).toBe(expected);
  });

  test.each([
    ['merged-at>=2020-01-01', false],
    ['merged-at<1 day ago', false],
    ['milestone=x', false],
    ['milestone!=x', true],
    ['milestone~=.*', false],
  ])('without a value, %s is %s', (condition, expected) => {
    expect(match(condition)).toBe(expected);
  });

  test('texts are ordered by code points, not by UTF-16 units', () => {
    expect(given('title>\uffee', { title: '😀' })).toBe(true);
    expect(given('title<\uffee', { title: '😀' })).toBe(false);
    expect(given('title>😀', { title: '😁' })).toBe(true);
    expect(given('#title=2', { title: '😀é' })).toBe(true);
  });

  test('the author’s login is text in a pattern, not a pattern', () => {
    const bot = { author: 'dependabot[bot]', head: 'dependabot[bot]/x' };
    expect(given('head~=^{{ author }}/', bot)).toBe(true);
    expect(given('head*={{ author }}/*', bot)).toBe(true);
    expect(given('head~=^{{ author }}/', { ...bot, head: 'dependabotb/x' })).toBe(false);
    expect(given('head~=^{{ author }}/', { author: null })).toBe('unknown');
    expect(given('-head={{ author }}', { author: null })).toBe('unknown');
  });

  test('its own count is GitHub’s, not the length of the list', () => {
    expect(given('#files=1', { files: ['old', 'new'], '#files': 1 })).toBe(true);
    expect(given('#files=1', { files: undefined, '#files': 1 })).toBe(true);
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
    expect(prepared(['base=main', 'label=risky']).judge(facts, now)).toBe(true);
    expect(prepared(['base=main', 'label=x']).judge(facts, now)).toBe(false);
    expect(prepared([]).judge(facts, now)).toBe(true);
  });
});

describe('facts that are not known', () => {
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
    expect(given(condition, { files: undefined })).toBe(expected);
  });

  test.each(['author=@acme/missing', 'author!=@acme/missing', '-author=@acme/missing', '-assignee=@missing'])(
    'a team that cannot be read makes %s unknown, never true',
    (condition) => {
      expect(given(condition, { assignee: [] })).toBe('unknown');
    },
  );

  test('a requested team is known without its members', () => {
    const facts = { values: { 'review-requested': ['@acme/secret'] } };
    expect(match('review-requested=@acme/secret', facts)).toBe(true);
    expect(match('review-requested=@acme/other', facts)).toBe('unknown');
  });
});

describe('a pull request pushed with all_scopes', () => {
  const everything = { hasEveryScope: true, values: { scope: ['docs'] } };

  test.each<[ConditionInput, boolean | 'unknown']>([
    ['scope=api', true],
    ['scope~=^never$', true],
    ['scope*=x', true],
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
    ['#scope>=1', 'unknown'],
    [{ not: '#scope>=1' }, 'unknown'],
  ])('%j is %s', (condition, expected) => {
    expect(match(condition, everything)).toBe(expected);
  });

  test('without scopes, every scope is absent', () => {
    const none = { scope: [] };
    expect([given('scope=api', none), given('scope!=api', none)]).toEqual([false, true]);
  });
});

describe('a pull request in a stack has two bases, and what holds more counts', () => {
  // It is based on `part-1`, and its stack merges into `main`.
  const facts = somePullRequest({
    values: { base: 'part-1' },
    stack: { number: 1, size: 2, position: 2, base: 'main' },
  });
  const unknown = { ...facts, values: {} };

  test.each<[ConditionInput, boolean, boolean]>([
    // The condition, whether it selects, and whether it excludes.
    ['base=main', true, false],
    ['base=part-1', true, false],
    ['base=release', false, false],
    ['base~=^(main|part-1)$', true, true],
    ['base!=main', true, false],
    ['-base=main', true, false],
    ['-base=part-1', true, false],
    ['-base=release', true, true],
    ['#base>5', true, false],
    [{ not: 'base=main' }, true, false],
    [{ not: '-base=main' }, true, false],
    [{ not: 'base~=^(main|part-1)$' }, false, false],
    [{ not: 'base=release' }, true, true],
    [{ not: { not: 'base=main' } }, true, false],
    [{ and: ['base=main', 'base=part-1'] }, true, false],
    [{ or: ['base=main', 'base=part-1'] }, true, false],
    ['label=risky', true, true],
  ])('%j selects it: %s; excludes it: %s', (condition, selects, excludes) => {
    expect(prepared([condition]).judge(facts, now)).toBe(selects);
    expect(prepared([condition], true).judge(facts, now)).toBe(excludes);
  });

  test('a direct base that is not known selects it only by the other', () => {
    expect(prepared(['base=main']).judge(unknown, now)).toBe(true);
    expect(prepared(['base=release']).judge(unknown, now)).toBe('unknown');
    expect(prepared(['base=main'], true).judge(unknown, now)).toBe('unknown');
    expect(prepared(['base=release'], true).judge(unknown, now)).toBe(false);
  });

  test('the reason shows both', () => {
    const [reason] = explain(prepared(['base=main']), facts, now).reasons;
    expect(reason).toMatchObject({ match: true, saw: ['part-1', 'main'] });
  });
});

test('500 conditions of depth 20 are judged at once', () => {
  const deep = (leaf: string) =>
    Array.from({ length: 20 }).reduce<ConditionInput>(
      (inner, _each, level) => (level % 2 ? { or: [inner] } : { not: { not: inner } }),
      leaf,
    );
  const leaf = (index: number) =>
    ['files~=^src/', 'label!=x', '#label<9', 'schedule=Sun', 'title*=Fix*'][index % 5]!;
  const shallow = (condition: ConditionInput) => ({ and: [condition] });
  const matcher = prepared(Array.from({ length: 500 }, (_, index) => shallow(deep(leaf(index)))));
  const facts = somePullRequest({ values: { commits: [someCommit()] } });
  expect(matcher.judge(facts, now)).toBe(true);
  // About 0.1 ms each.
  const took = leastCpuTime(() => {
    for (let round = 0; round < 20; round++) matcher.judge(facts, now + round);
  });
  expect(took / 20).toBeLessThan(20);
});

test.each<[ConditionInput[], string[], string[]]>([
  [[], [], []],
  [
    ['base=main', 'author=a', 'head=x', 'title=x', 'draft', '#files>3', '#commits>3', '#added-lines>9'],
    [],
    [],
  ],
  [['label=x'], ['labels'], []],
  [['base=x', { or: ['draft', { not: { and: ['-files~=x'] } }] }], ['files'], []],
  [['scope=x', { not: '#label=1' }], ['labels', 'scopes'], []],
  [['author=a', 'last-pushed-by=a'], ['last-push'], []],
  [['commits[0].author=x', 'dependabot-update-type=x'], ['commits'], []],
  [
    ['author=@Acme/Core', 'assignee=@core'],
    ['assignees', 'teams'],
    ['@acme/core', '@core'],
  ],
  [['schedule=Mon-Fri', 'created-at<1 day ago'], [], []],
])('%j needs %j', (conditions, facts, teams) => {
  const result = parseConditions(conditions, []);
  const needs = neededFacts(result.ok ? result.conditions : []);
  expect([...needs.facts].sort()).toEqual(facts);
  expect([...needs.teams].sort()).toEqual(teams);
});

describe('a list of which only some values are known', () => {
  const partly = { values: { files: ['docs/a', 'docs/b'] }, partial: new Set(['files']) };
  test.each<[ConditionInput, boolean | 'unknown']>([
    ['files=docs/a', true],
    ['files=src/a', 'unknown'],
    ['files!=docs/a', false],
    ['files!=src/a', 'unknown'],
    ['files~=^docs/', true],
    ['files~=^src/', 'unknown'],
    ['files*=docs/*', true],
    ['-files~=^docs/', false],
    ['-files~=^src/', 'unknown'],
    ['#added-files>0', 'unknown'],
    ['#files=2', true],
    [{ not: 'files~=^docs/' }, false],
    [{ and: ['files~=^src/', 'base=next'] }, false],
    [{ or: ['files~=^src/', 'base=main'] }, true],
  ])('%j: %s', (condition, expected) => {
    const added = { ...partly, values: { ...partly.values, 'added-files': ['docs/a'] } };
    const partial = new Set(['files', 'added-files']);
    expect(match(condition, { ...added, partial })).toBe(expected);
  });

  test('is explained with what was seen, and why the rest is not known', () => {
    const matcher = prepared(['files~=^src/']);
    const facts = somePullRequest({ ...partly, whyNotKnown: { files: 'not all of its files were read' } });
    expect(explain(matcher, facts, now).reasons[0]).toMatchObject({
      match: 'unknown',
      saw: ['docs/a', 'docs/b'],
      why: 'not all of its files were read',
    });
  });
});
