import { expect, test } from 'vitest';
import {
  type BranchFacts,
  type Requirement,
  judgeBranch,
} from '../../../src/explanations/enforcement/judge-branch.ts';
import { type Finding, isEnforced, states } from '../../../src/explanations/enforcement/finding.ts';
import { known, unknownFact } from '../../../src/github/pull-requests/pull-request.ts';

// Answers that the sandbox cannot give: an Enterprise's rulesets, older servers, partial answers.

const place = {
  web: 'https://github.com',
  api: 'https://api.github.com',
  repository: 'acme/web',
  context: 'holdfast/freeze',
  appId: 7,
};
const grants = known({ permissions: { statuses: 'write', merge_queues: 'read' }, events: ['merge_group'] });
const ruleset: Requirement = {
  by: { kind: 'ruleset', id: 3, level: 'Enterprise', source: 'globex', name: 'All' },
  appId: 7,
  bypass: known(['organization owners']),
};
const protection: Requirement = { by: { kind: 'protection' }, appId: 7, bypass: known([]) };

const judge = (more: Partial<BranchFacts>) =>
  judgeBranch(
    {
      name: 'main',
      reason: 'default',
      exists: known(true),
      leadsTo: null,
      upgrade: null,
      requirements: [],
      notRead: [],
      hasQueue: known(false),
      ...more,
    },
    place,
    grants,
    [],
  );

test('an Enterprise names itself', () => {
  const [required, bypass] = judge({ requirements: [ruleset] });
  expect(required!.message).toContain('by the ruleset "All" of the enterprise globex');
  expect(bypass!.remedy).toContain('https://github.com/enterprises/globex/settings/policies');
});

test('an unread part makes a missing rule unknown, and a found rule no less sure', () => {
  const notRead = ['GitHub did not answer'];
  expect(judge({ notRead })[0]).toMatchObject({ state: 'unknown' });
  expect(judge({ notRead, requirements: [protection] })[0]).toMatchObject({ state: 'ok' });
  const elsewhere = { ...protection, appId: 8 };
  expect(judge({ notRead, requirements: [elsewhere] })[0]).toMatchObject({ state: 'failed' });
});

test('the bypass list is known from one rule that nobody can bypass, or else only from all rules', () => {
  const bypassOf = (...requirements: Requirement[]) =>
    judge({ requirements }).find(({ check }) => check === 'bypass')!;
  const hidden = { ...ruleset, bypass: unknownFact('GitHub hides it') };
  expect(bypassOf(hidden, protection)).toMatchObject({ state: 'ok' });
  expect(bypassOf(hidden, ruleset)).toMatchObject({ state: 'unknown' });
  expect(bypassOf(ruleset, ruleset).message).toMatch(/^Organization owners can bypass/);
});

test('a queue whose branch requires nothing merges groups; an unknown one is not fine', () => {
  const queueOf = (facts: Partial<BranchFacts>) =>
    judge(facts).find(({ check }) => check === 'merge_queue')?.state;
  const requirements = [protection];
  expect(queueOf({ hasQueue: known(false) })).toBeUndefined();
  expect(queueOf({ hasQueue: known(true) })).toBe('failed');
  expect(queueOf({ hasQueue: known(true), requirements })).toBe('ok');
  expect(queueOf({ hasQueue: unknownFact('x'), requirements })).toBe('unknown');
  expect(queueOf({ hasQueue: known(true), notRead: ['x'] })).toBe('unknown');
});

test('enforced follows the decisive findings, the worst first', () => {
  const finding = (check: Finding['check'], state: Finding['state']): Finding => ({
    check,
    state,
    message: '',
    remedy: null,
  });
  const all = (...given: Finding['state'][]) => given.map((state) => finding('required_check', state));
  expect(isEnforced(all('ok', 'warning'))).toBe(true);
  expect(isEnforced(all('ok', 'unknown'))).toBe('unknown');
  expect(isEnforced(all('unknown', 'failed', 'ok'))).toBe(false);
  for (const state of states) {
    const others = [finding('clock', state), finding('bypass', state), finding('webhooks', state)];
    expect(isEnforced([...all('ok'), ...others])).toBe(true);
  }
});
