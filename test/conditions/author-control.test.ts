import { expect, test } from 'vitest';
import { attributeNames } from '../../src/conditions/attributes.ts';
import {
  escapedByAuthor,
  excludedByAuthor,
  excludedForPushers,
} from '../../src/conditions/author-control.ts';
import type { ConditionInput } from '../../src/conditions/ast.ts';
import { prepareFacts } from '../../src/conditions/match.ts';
import { parseConditions } from '../../src/conditions/parse-conditions.ts';

function prepared(...conditions: ConditionInput[]) {
  const parsed = parseConditions(conditions, []);
  if (!parsed.ok) throw new Error(parsed.problems[0]!.message);
  return prepareFacts(parsed.conditions);
}

const warns = (...conditions: ConditionInput[]) => ({
  exclude: excludedByAuthor(prepared(...conditions)).length > 0,
  match: escapedByAuthor(prepared(...conditions)).length > 0,
});

/**
 * By attribute, a condition; whether the author alone gets a pull request excluded by it, and out of what it selects;
 * and the same of the condition reversed, where it can be.
 */
const table: Record<string, [condition: string, says: string, reversed: string]> = {
  'added-files': ['added-files~=^docs/', 'exclude', 'match'],
  'added-lines': ['#added-lines<10', 'exclude match', 'exclude'],
  'approved-reviews-by': ['approved-reviews-by=ada', '', ''],
  assignee: ['assignee=ada', '', ''],
  author: ['author=ada', '', ''],
  base: ['base=main', '', ''],
  body: ['body~=hotfix', 'exclude match', 'exclude match'],
  'body-raw': ['body-raw~=hotfix', 'exclude match', 'exclude match'],
  'changes-requested-reviews-by': ['changes-requested-reviews-by=ada', '', ''],
  'check-cancelled': ['check-cancelled=e2e', 'exclude match', 'exclude match'],
  'check-failure': ['check-failure=e2e', 'exclude match', 'exclude match'],
  'check-neutral': ['check-neutral=e2e', 'exclude match', 'exclude match'],
  'check-pending': ['check-pending=e2e', 'exclude match', 'exclude match'],
  'check-skipped': ['check-skipped=e2e', 'exclude match', 'exclude match'],
  'check-stale': ['check-stale=e2e', 'exclude match', 'exclude match'],
  'check-success': ['check-success=@github-actions/e2e', 'exclude match', 'exclude match'],
  'check-success-or-neutral': ['check-success-or-neutral=e2e', 'exclude match', 'exclude match'],
  'check-timed-out': ['check-timed-out=e2e', 'exclude match', 'exclude match'],
  closed: ['closed', '', ''],
  'closed-at': ['closed-at>2026-03-01', '', 'cannot'],
  'commented-reviews-by': ['commented-reviews-by=ada', '', ''],
  commits: ['commits~=hotfix', 'exclude match', 'exclude match'],
  'commits-behind': ['#commits-behind>10', 'exclude match', 'exclude match'],
  'commits-unverified': ['#commits-unverified>0', 'exclude match', 'exclude match'],
  // A draft does not merge, so becoming one is no way out.
  conflict: ['conflict', 'match', 'exclude'],
  'created-at': ['created-at>2026-03-01', 'exclude', 'cannot'],
  'current-datetime': ['current-datetime>2026-03-01', '', 'cannot'],
  'deleted-lines': ['#deleted-lines>100', 'exclude', 'exclude match'],
  'dependabot-dependency-name': ['dependabot-dependency-name=zod', '', ''],
  'dependabot-dependency-type': ['dependabot-dependency-type=direct:production', '', ''],
  'dependabot-update-type': ['dependabot-update-type=version-update:semver-patch', '', ''],
  'depends-on': ['depends-on=acme/web#1', 'exclude match', 'exclude match'],
  'deployment-failure': ['deployment-failure=production', 'exclude match', 'exclude match'],
  'deployment-success': ['deployment-success=production', 'exclude match', 'exclude match'],
  'dismissed-reviews-by': ['dismissed-reviews-by=ada', '', ''],
  draft: ['draft', 'match', 'exclude'],
  files: ['files~=^docs/', 'exclude', 'match'],
  'from-fork': ['from-fork', 'exclude', 'match'],
  'github-review-decision': ['github-review-decision=APPROVED', '', ''],
  head: ['head~=^hotfix/', 'exclude match', 'exclude match'],
  'head-repo-full-name': ['head-repo-full-name=mona/web', 'exclude match', 'exclude match'],
  label: ['label=hotfix', '', ''],
  'last-pushed-by': ['last-pushed-by=ada', '', ''],
  'linear-history': ['linear-history', 'exclude match', 'exclude match'],
  locked: ['locked', '', ''],
  'merge-commit-sha': ['merge-commit-sha=abc', '', ''],
  merged: ['merged', '', ''],
  'merged-at': ['merged-at>2026-03-01', '', 'cannot'],
  'merged-by': ['merged-by=ada', '', ''],
  'mergify-configuration-changed': ['mergify-configuration-changed', 'exclude', 'match'],
  milestone: ['milestone=2.0', '', ''],
  'modified-files': ['modified-files~=^docs/', 'exclude', 'match'],
  'modified-lines': ['#modified-lines>500', 'exclude', 'exclude match'],
  number: ['number=3', '', ''],
  'removed-files': ['removed-files~=^docs/', 'exclude', 'match'],
  'repository-full-name': ['repository-full-name=acme/web', '', ''],
  'repository-name': ['repository-name=web', '', ''],
  'review-requested': ['review-requested=ada', '', ''],
  'review-threads-resolved': ['#review-threads-resolved>0', 'exclude match', 'exclude match'],
  'review-threads-unresolved': ['#review-threads-unresolved=0', 'exclude match', 'exclude match'],
  schedule: ['schedule=Mon-Fri', '', 'cannot'],
  scope: ['scope=docs', '', ''],
  title: ['title~=hotfix', 'exclude match', 'exclude match'],
  'updated-at': ['updated-at<7 days ago', 'match', 'cannot'],
};

test('the table has every attribute', () => {
  expect(Object.keys(table).sort()).toEqual(attributeNames);
});

const said = ({ exclude, match }: ReturnType<typeof warns>) =>
  [exclude ? 'exclude' : '', match ? 'match' : ''].filter(Boolean).join(' ');

test.each(Object.values(table))('%s warns of: %j; reversed, of: %j', (condition, says, reversed) => {
  expect(said(warns(condition))).toBe(says);
  if (reversed === 'cannot') return;
  expect(said(warns(`-${condition}`))).toBe(reversed);
  expect(said(warns({ not: condition }))).toBe(reversed);
});

test.each<[ConditionInput, string]>([
  ['files=README.md', 'exclude'],
  ['files!=README.md', 'match'],
  ['#files<3', 'exclude match'],
  ['#files>50', 'exclude'],
  ['#files=3', 'exclude match'],
  ['created-at<30 days ago', 'match'],
  // The items of a list all count.
  [{ and: ['title~=hotfix', 'label=hotfix'] }, 'match'],
  [{ or: ['title~=hotfix', 'label=hotfix'] }, 'exclude'],
  [{ and: ['title~=hotfix', 'head~=^hotfix/'] }, 'exclude match'],
  [{ or: ['title~=hotfix', 'head~=^hotfix/'] }, 'exclude match'],
  [{ not: { or: ['-title~=hotfix', 'label=frozen'] } }, 'match'],
  [{ not: { and: ['-title~=hotfix', 'label=frozen'] } }, 'exclude'],
  // A condition that nobody decides is no guard, and no way out.
  [{ and: ['base=main', 'title~=hotfix'] }, 'exclude match'],
  [{ and: ['schedule=Mon-Fri', 'title~=hotfix'] }, 'exclude match'],
  [{ and: ['base=main', '-closed', 'schedule=Mon-Fri'] }, ''],
  [{ and: ['base=main', 'files~=^payments/'] }, 'exclude'],
  [{ or: ['from-fork', '#commits-unverified>0'] }, 'exclude'],
  // A name that an admin chose is a guard.
  [{ and: ['author=dependabot[bot]', 'head~=^dependabot/'] }, 'match'],
  [{ and: ['number=3', 'title~=hotfix'] }, 'match'],
])('%j warns of: %j', (condition, says) => {
  expect(said(warns(condition))).toBe(says);
});

test('the conditions that decide are named', () => {
  const either = prepared('base=main', { or: ['title~=hotfix', 'label=hotfix', 'head~=^hotfix/'] });
  expect(excludedByAuthor(either)).toEqual(['title~=hotfix', 'head~=^hotfix/']);
  expect(escapedByAuthor(prepared('base=main', '-title~=hotfix', 'label=x'))).toEqual(['-title~=hotfix']);
});

const dependabot = 'author=dependabot[bot]';
const pushed = 'last-pushed-by=dependabot[bot]';
const patch = 'dependabot-update-type=version-update:semver-patch';

test.each<[ConditionInput[], string[]]>([
  [[dependabot], [dependabot]],
  [['-author=mona'], ['-author=mona']],
  [['author~=\\[bot\\]$', 'base=main'], ['author~=\\[bot\\]$']],
  [['author*=*-bot', 'label=safe'], ['author*=*-bot']],
  [[{ not: { not: { or: ['label=x', 'author=@acme/core'] } } }], ['author=@acme/core']],
  [[{ not: { and: ['author!=mona', '-label=x'] } }], ['author!=mona']],
  [['label=hotfix', 'head~=^{{ author }}/'], []],
  // Who pushed last is asked as well, or the commits are.
  [[dependabot, pushed], []],
  [[dependabot, patch], []],
  [[{ not: { or: ['author!=dependabot[bot]', 'last-pushed-by!=dependabot[bot]'] } }], []],
  [[{ or: ['label=hotfix', { and: [dependabot, pushed] }] }], []],
  // That is no question about the pusher.
  [[{ or: [dependabot, pushed] }], [dependabot]],
  [[dependabot, 'last-pushed-by!=mona'], [dependabot]],
  [[dependabot, '#last-pushed-by>3'], [dependabot]],
  [['author=mona', '-dependabot-update-type=version-update:semver-major'], ['author=mona']],
  [[{ or: ['author=mona', { and: [dependabot, pushed] }] }], ['author=mona']],
])('%j excludes for everybody who pushes: %j', (conditions, says) => {
  expect(excludedForPushers(prepared(...conditions))).toEqual(says);
});
