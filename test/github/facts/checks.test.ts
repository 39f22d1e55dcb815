import { describe, expect, test } from 'vitest';
import { attributeOf } from '../../../src/conditions/attributes.ts';
import { checkAttributes } from '../../../src/conditions/attributes/rows.ts';
import { readChecks, reportedAttributes, type ContextAnswer } from '../../../src/github/facts/checks.ts';

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString();

const run = (name: string, conclusion: string | null, more: object = {}): ContextAnswer => ({
  __typename: 'CheckRun',
  name,
  status: conclusion === null ? 'IN_PROGRESS' : 'COMPLETED',
  conclusion,
  startedAt: at(0),
  completedAt: conclusion === null ? null : at(1),
  checkSuite: { app: { slug: 'actions' } },
  ...more,
});
const status = (context: string, state: string, minute = 0): ContextAnswer => ({
  __typename: 'StatusContext',
  context,
  state,
  createdAt: at(minute),
});

/** The lists that have something in them. */
const filled = (contexts: ContextAnswer[], required: string[] | null = []) =>
  Object.fromEntries(
    Object.entries(readChecks(contexts, 'holdfast/freeze', required)).filter(
      ([, names]) => (names as []).length > 0,
    ),
  );
/** Of one name only the bare lists. */
const bare = (contexts: ContextAnswer[], required: string[] | null = []) =>
  Object.keys(filled(contexts, required)).filter((name) => !name.startsWith('@'));

test.each([
  ['SUCCESS', ['check-success', 'check-success-or-neutral']],
  ['FAILURE', ['check-failure']],
  ['ACTION_REQUIRED', ['check-failure']],
  ['STARTUP_FAILURE', ['check-failure']],
  ['CANCELLED', ['check-failure', 'check-cancelled']],
  ['TIMED_OUT', ['check-failure', 'check-timed-out']],
  ['NEUTRAL', ['check-neutral', 'check-success-or-neutral']],
  ['SKIPPED', ['check-skipped']],
  ['STALE', ['check-stale']],
  [null, ['check-pending']],
  ['SOMETHING_NEW', ['check-pending']],
])('a run that ended %s is in %o, and so by its App', (conclusion, names) => {
  const expected = names.flatMap((name) => [
    [name, ['lint']],
    [`@${name}`, ['@actions/lint']],
  ]);
  expect(filled([run('lint', conclusion)])).toEqual(Object.fromEntries(expected));
});

test.each(['QUEUED', 'WAITING', 'REQUESTED', 'PENDING', 'IN_PROGRESS'])(
  'a run that is %s is pending',
  (state) => {
    expect(bare([run('lint', null, { status: state })])).toEqual(['check-pending']);
  },
);

test.each([
  ['SUCCESS', ['check-success', 'check-success-or-neutral']],
  ['FAILURE', ['check-failure']],
  ['ERROR', ['check-failure']],
  ['PENDING', ['check-pending']],
  ['EXPECTED', ['check-pending']],
])('a commit status %s is in %o, and of no App', (state, names) => {
  expect(filled([status('ci', state)])).toEqual(Object.fromEntries(names.map((name) => [name, ['ci']])));
});

test('an App can be unknown, and a name can contain a slash', () => {
  const lists = filled([run('ci/lint', 'SUCCESS'), run('x', 'SUCCESS', { checkSuite: { app: null } })]);
  expect(lists['check-success']).toEqual(['ci/lint', 'x']);
  expect(lists['@check-success']).toEqual(['@actions/ci/lint']);
});

describe('of one name', () => {
  const both = (one: ContextAnswer, other: ContextAnswer) => {
    const lists = bare([one, other]);
    // In any order of GitHub's list.
    expect(bare([other, one])).toEqual(lists);
    return lists[0];
  };
  const failed = run('lint', 'FAILURE', { startedAt: at(0), completedAt: at(10) });

  test('the run that ended last counts', () => {
    expect(both(failed, run('lint', 'SUCCESS', { startedAt: at(5), completedAt: at(20) }))).toBe(
      'check-success',
    );
    expect(both(failed, run('lint', 'SUCCESS', { startedAt: at(5), completedAt: at(6) }))).toBe(
      'check-failure',
    );
  });

  test('of two that ended at once the one that GitHub lists last counts', () => {
    const passed = run('lint', 'SUCCESS', { startedAt: at(5), completedAt: at(10) });
    expect(bare([failed, passed])[0]).toBe('check-success');
    expect(bare([passed, failed])[0]).toBe('check-failure');
  });

  test('a running one counts if it began later', () => {
    expect(both(failed, run('lint', null, { startedAt: at(11) }))).toBe('check-pending');
    expect(both(failed, run('lint', null, { startedAt: at(5) }))).toBe('check-pending');
    expect(both(run('lint', 'FAILURE', { startedAt: at(3) }), run('lint', null, { startedAt: at(2) }))).toBe(
      'check-failure',
    );
  });

  test('one that waits has not begun, so it is the newest', () => {
    expect(both(failed, run('lint', null, { status: 'QUEUED', startedAt: null }))).toBe('check-pending');
  });

  test('a status and a run are the same check', () => {
    expect(both(failed, status('lint', 'SUCCESS', 11))).toBe('check-success');
    expect(both(failed, status('lint', 'SUCCESS', 9))).toBe('check-failure');
    expect(both(failed, status('lint', 'PENDING', 11))).toBe('check-pending');
    expect(both(status('lint', 'SUCCESS', 3), run('lint', null, { startedAt: at(2) }))).toBe('check-success');
  });

  test('three that overlap have one newest, in any order', () => {
    const reports = [
      run('lint', 'FAILURE', { startedAt: at(1), completedAt: at(10) }),
      run('lint', 'SUCCESS', { startedAt: at(5), completedAt: at(6) }),
      run('lint', null, { startedAt: at(3) }),
    ];
    const [a, b, c] = reports as [ContextAnswer, ContextAnswer, ContextAnswer];
    for (const order of [
      [a, b, c],
      [a, c, b],
      [b, a, c],
      [b, c, a],
      [c, a, b],
      [c, b, a],
    ]) {
      expect(bare(order)[0]).toBe('check-pending');
    }
  });

  test('each App has its own newest', () => {
    const other = { checkSuite: { app: { slug: 'circle' } }, startedAt: at(20), completedAt: at(21) };
    expect(filled([failed, run('lint', 'SUCCESS', other)])).toEqual({
      'check-success': ['lint'],
      'check-success-or-neutral': ['lint'],
      '@check-success': ['@circle/lint'],
      '@check-success-or-neutral': ['@circle/lint'],
      '@check-failure': ['@actions/lint'],
    });
  });
});

test('our own context is left out, in any case and from any source', () => {
  const own = [status('Holdfast/Freeze', 'PENDING'), run('holdfast/freeze', 'FAILURE')];
  expect(filled(own, ['HOLDFAST/FREEZE'])).toEqual({});
});

test('required checks without any report are pending, each once', () => {
  const contexts = [run('lint', 'SUCCESS'), status('Build', 'FAILURE'), run('e2e', null)];
  const { 'check-pending': pending } = filled(contexts, ['LINT', 'build', 'e2e', 'deploy', 'deploy']);
  expect(pending).toEqual(['e2e', 'deploy']);
});

test('without the required checks it is not known what is pending', () => {
  const values = readChecks([run('e2e', null)], 'holdfast/freeze', null);
  expect(values).not.toHaveProperty('check-pending');
  expect(values['@check-pending']).toEqual(['@actions/e2e']);
});

test('every attribute of checks is given', () => {
  const names = Object.keys(checkAttributes).filter((name) => name.startsWith('check-'));
  const values = readChecks([], 'holdfast/freeze', []);
  expect(Object.keys(values).sort()).toEqual([...names, ...names.map((name) => `@${name}`)].sort());
  expect(reportedAttributes.toSorted()).toEqual(names.filter((name) => name !== 'check-pending').sort());
  expect(reportedAttributes.map((name) => attributeOf(name).needs)).toEqual(
    names.slice(1).map(() => 'checks'),
  );
});
