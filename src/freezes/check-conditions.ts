import type { ConditionInput } from '../conditions/ast.ts';
import { parseConditions } from '../conditions/parse-conditions.ts';
import type { Problem } from '../errors.ts';

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
