import { invalid, type Problem } from '../errors.ts';
import { problemsOfFreeze } from '../freezes/check-freeze.ts';
import { planWindow } from '../freezes/freeze-window.ts';
import { isDateText } from '../time/local-time.ts';
import { withoutSkips } from './changed-occurrences.ts';
import {
  firstOccurrence,
  occurrencesFrom,
  overlapsItself,
  type Recurrence,
  type Schedule,
  yearsAhead,
} from './occurrences.ts';
import type { Plan, ReadInput } from './plan.ts';
import { parseRule } from './rule.ts';

const beforeEverything = new Date('0001-01-01T00:00:00Z');

/**
 * A validated plan to store. Its globs are already valid, because the request schema parses them.
 * @param now the meaning of `start: null`.
 * @throws Refusal invalid, which names every bad field.
 */
export function checkPlan(input: ReadInput, now: Date): Omit<Plan, 'id' | 'accountId'> {
  // The occurrences decide whether the plan is over. The first window is one of them.
  const window = planWindow(input, input.start === null ? now : beforeEverything);
  const problems = [
    ...problemsOfFreeze(window, input),
    ...(input.recurrence ? recurrenceProblems(input.recurrence, input.end) : []),
  ];
  if (!window.ok || problems.length > 0) throw invalid(problems);
  const { start, end: given, timezone } = window.value;
  // Of a plan that follows a calendar, they mean nothing.
  const end = input.source ? start : given;
  const checked = { ...(input as Omit<Plan, 'id' | 'accountId'>), start, end, timezone };
  const wrong = occurrenceProblem(checked);
  if (wrong) throw invalid([wrong]);
  return checked;
}

/**
 * Checks that a plan has occurrences that are not over.
 * @throws Refusal invalid.
 */
export function assertNotOver(schedule: Schedule, now: Date): void {
  if (schedule.source || !occurrencesFrom(withoutSkips(schedule), now).next().done) return;
  throw invalid([
    schedule.recurrence
      ? problem(
          ['recurrence'],
          'The last occurrence is over. Send a later `until` or `COUNT`, or a later start.',
        )
      : problem(['end'], 'The end has passed. Send one in the future, or null for no end.'),
  ]);
}

const problem = (path: (string | number)[], message: string): Problem => ({
  path: ['body', ...path],
  message,
  type: 'value_error',
});

function recurrenceProblems({ rule, except, until }: Recurrence, end: string | null): Problem[] {
  const parsed = parseRule(rule);
  const notDate = 'Enter a date like 2026-12-24.';
  return [
    ...(parsed.ok ? [] : [problem(['recurrence', 'rule'], parsed.message)]),
    ...except.flatMap((date, at) =>
      isDateText(date) ? [] : [problem(['recurrence', 'except', at], notDate)],
    ),
    ...(until === null || isDateText(until) ? [] : [problem(['recurrence', 'until'], notDate)]),
    ...(end === null
      ? [problem(['end'], 'A plan that repeats has an end: send when its first occurrence ends.')]
      : []),
  ];
}

/** The problem with the occurrences of a valid rule, if any. */
function occurrenceProblem(schedule: Schedule): Problem | null {
  const { start, end, recurrence } = schedule;
  if (!recurrence) return null;
  // In a repeated hour, an end may come after a start that the wall clock shows later.
  if (end !== null && end <= start)
    return problem(['end'], 'The end must be after the start by the wall clock, as the plan repeats both.');
  const wrongRule = (message: string) => problem(['recurrence', 'rule'], message);
  if (!firstOccurrence(schedule))
    return wrongRule(
      `This rule never occurs within ${yearsAhead} years of the start, with \`except\` and \`until\`. Check BYMONTHDAY, BYMONTH, BYDAY and BYSETPOS.`,
    );
  if (overlapsItself(schedule))
    return wrongRule(
      'An occurrence begins before the one ahead of it ends. Make the window shorter, or the rule rarer (FREQ, INTERVAL).',
    );
  return null;
}
