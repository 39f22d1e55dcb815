import type * as z from 'zod';
import { invalid, type Problem } from '../errors.ts';

/** Messages that name the fix. Where zod's message does, we keep it. */
const errorMap: z.core.$ZodErrorMap = (issue) => {
  if (issue.input === undefined) return 'Field required';
  if (issue.code === 'invalid_type')
    return `Send ${described[issue.expected] ?? issue.expected}, not ${kindOf(issue.input)}.`;
  if (issue.code === 'invalid_value')
    return `Send one of ${issue.values.map((value) => JSON.stringify(value)).join(', ')}.`;
  return undefined;
};

const described: Record<string, string> = {
  string: 'a string',
  boolean: 'a boolean (true or false, without quotes)',
  array: 'a list',
  object: 'a JSON object',
  number: 'a number',
};

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

function typeOf(issue: z.core.$ZodIssue): string {
  if (issue.input === undefined) return 'missing';
  switch (issue.code) {
    case 'invalid_type':
      return `${issue.expected}_type`;
    case 'invalid_value':
      return 'enum';
    case 'too_big':
      return 'too_long';
    case 'too_small':
      return 'too_short';
    default:
      return 'value_error';
  }
}

/**
 * Like `validate`, for a body that may be missing. The error then names each required field.
 * @param isOptional whether a missing body counts as an empty object.
 * @throws Refusal invalid.
 */
export function validateBody<Schema extends z.ZodType>(
  schema: Schema,
  json: unknown,
  isOptional = false,
): z.output<Schema> {
  if (json !== undefined) return validate(schema, json, 'body');
  const empty = validate(schema, {}, 'body');
  if (isOptional) return empty;
  throw invalid([{ path: ['body'], message: 'Send a JSON object.', type: 'missing' }]);
}

/** How many mistakes an answer names at most. */
const mostProblems = 100;

/**
 * The value, parsed by the schema. Coerces nothing that the schema does not.
 * @param part the part of the request with the value: the first step of every path in the errors.
 * @throws Refusal invalid, which names every bad field, up to a limit.
 */
export function validate<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  part: 'path' | 'query' | 'body',
): z.output<Schema> {
  const result = schema.safeParse(value, { error: errorMap, reportInput: true });
  if (result.success) return result.data;
  throw invalid(
    result.error.issues.slice(0, mostProblems).map((issue): Problem => ({
      path: [part, ...issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step))],
      message: issue.message,
      type: typeOf(issue),
    })),
  );
}
