import type { ConditionInput } from '../conditions/ast.ts';
import { parseConditions } from '../conditions/parse-conditions.ts';
import { invalid } from '../errors.ts';

type Lists = { matchingConditions: unknown[]; excludeConditions: unknown[] };

/**
 * Both lists, once they are known to be conditions.
 * @throws Refusal invalid naming every bad condition by its place in the body.
 */
export function assertConditions(input: Lists): {
  matchingConditions: ConditionInput[];
  excludeConditions: ConditionInput[];
} {
  const parsed = [
    parseConditions(input.matchingConditions, ['body', 'matching_conditions']),
    parseConditions(input.excludeConditions, ['body', 'exclude_conditions']),
  ];
  const problems = parsed.flatMap((result) => (result.ok ? [] : result.problems));
  if (problems.length > 0) {
    throw invalid(
      problems.map(({ path, message, column }) => ({
        path,
        message: column === null ? message : `${message} (column ${column})`,
        type: 'value_error.condition',
      })),
    );
  }
  return {
    matchingConditions: input.matchingConditions as ConditionInput[],
    excludeConditions: input.excludeConditions as ConditionInput[],
  };
}
