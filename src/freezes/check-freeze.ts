import type { ConditionInput } from '../conditions/ast.ts';
import { invalid, type Problem, Refusal } from '../errors.ts';
import type { FreezeWindow, WindowResult } from './freeze-window.ts';
import { parseConditions } from '../conditions/parse-conditions.ts';

type Lists = { matchingConditions: unknown[]; excludeConditions: unknown[] };
type Checked = FreezeWindow & { matchingConditions: ConditionInput[]; excludeConditions: ConditionInput[] };

/**
 * The validated window and conditions of a freeze.
 * @throws Refusal start-already-passed; invalid, which names every bad field and condition.
 */
export function checkFreeze(window: WindowResult, { matchingConditions, excludeConditions }: Lists): Checked {
  if (!window.ok && window.reason === 'start-already-passed') {
    throw new Refusal(
      'start-already-passed',
      'This freeze has begun, so its start cannot change. Leave out start and timezone, or delete it and create another.',
    );
  }
  const conditions = checkConditions({ matchingConditions, excludeConditions });
  if (window.ok && conditions.ok) return { ...window.value, ...conditions.value };
  throw invalid([...windowProblems(window), ...(conditions.ok ? [] : conditions.problems)]);
}

function windowProblems(window: WindowResult): Problem[] {
  if (window.ok || window.reason !== 'invalid') return [];
  return window.problems.map(({ field, message }) => ({
    path: ['body', field],
    message,
    type: 'value_error',
  }));
}

type ConditionLists = { matchingConditions: ConditionInput[]; excludeConditions: ConditionInput[] };

/** Both lists if they are valid, or every bad condition with its place in the body. */
export function checkConditions(input: {
  matchingConditions: unknown[];
  excludeConditions: unknown[];
}): { ok: true; value: ConditionLists } | { ok: false; problems: Problem[] } {
  const parsed = [
    parseConditions(input.matchingConditions, ['body', 'matching_conditions']),
    parseConditions(input.excludeConditions, ['body', 'exclude_conditions']),
  ];
  const problems = parsed
    .flatMap((result) => (result.ok ? [] : result.problems))
    .map(({ path, message, column }) => ({
      path,
      message: column === null ? message : `${message} (column ${column})`,
      type: 'value_error.condition',
    }));
  return problems.length > 0 ? { ok: false, problems } : { ok: true, value: input as ConditionLists };
}
