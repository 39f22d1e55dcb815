import type { ConditionInput } from '../conditions/ast.ts';
import { invalid, type Problem, Refusal } from '../errors.ts';
import { checkConditions } from './check-conditions.ts';
import type { FreezeWindow, WindowResult } from './freeze-window.ts';

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
