import { invalid, Refusal, type Problem } from '../errors.ts';
import { cutText } from '../cut-text.ts';
import type * as z from 'zod';

const mebibyte = 1024 * 1024;
/** Far deeper than any valid body. Deeper bodies could exhaust the stack of recursive code. */
const deepest = 96;

/**
 * The JSON body of a request.
 * @returns undefined for an empty body.
 * @throws Refusal too-large over 1 MiB; invalid if the body is not UTF-8, not JSON, too deep, or contains text that
 *   PostgreSQL cannot store (NUL, halves of surrogate pairs).
 */
export async function readJsonBody(request: Request): Promise<unknown> {
  const bytes = await readLimited(request, mebibyte);
  if (bytes.length === 0) return undefined;
  const body = parse(bytes);
  assertStorable(body, 'body');
  return body;
}

/** The most bytes of a body that are read before its sender is known. */
const mostAhead = 16 * 1024;

/** Whether a body announces that it is small enough to be read before its sender is known. */
export const mayReadAhead = (request: Request): boolean =>
  Number(request.headers.get('content-length') ?? Infinity) <= mostAhead;

/** The refusal of a body over a limit, in bytes. */
export const tooLarge = (limit: number): Refusal =>
  new Refusal('too-large', `The body is over ${limit / mebibyte} MiB. Send a smaller one.`);

/** The bytes of a request's body. @throws Refusal too-large as soon as there are more than `limit` bytes. */
export async function readLimited(request: Request, limit: number): Promise<Uint8Array> {
  const length = request.headers.get('content-length');
  if (Number(length) > limit) throw tooLarge(limit);
  // HTTP allows no more bytes than announced, and reading without a stream is much faster.
  if (length !== null) return new Uint8Array(await request.arrayBuffer());
  if (!request.body) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body) {
    size += chunk.length;
    if (size > limit) throw tooLarge(limit);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const problem = (path: (string | number)[], message: string, type: string) =>
  invalid([{ path, message, type }]);

function parse(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw problem(['body'], 'The body is not UTF-8. Send JSON encoded as UTF-8.', 'json_invalid');
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? cutText(error.message.toWellFormed(), 200) : '';
    throw problem(['body'], `The body is not JSON (${reason}).`, 'json_invalid');
  }
}

/**
 * Checks that the database can store the input. Works without recursion, because it checks the depth too.
 * @throws Refusal invalid, which names the place.
 */
export function assertStorable(input: unknown, part: 'body' | 'query'): void {
  const rest: { value: unknown; path: (string | number)[] }[] = [{ value: input, path: [part] }];
  for (let next = rest.pop(); next; next = rest.pop()) {
    const { value, path } = next;
    if (typeof value === 'string') assertText(value, path);
    if (typeof value !== 'object' || value === null) continue;
    if (path.length > deepest)
      throw problem(['body'], `The body is nested deeper than ${deepest} levels.`, 'json_invalid');
    for (const [key, item] of Object.entries(value)) {
      if (!Array.isArray(value)) assertText(key, path);
      rest.push({ value: item, path: [...path, Array.isArray(value) ? Number(key) : key] });
    }
  }
}

function assertText(text: string, path: (string | number)[]): void {
  if (text.includes('\0')) throw problem(path, 'Text must not contain the NUL character.', 'string_unicode');
  if (!text.isWellFormed()) {
    throw problem(
      path,
      'Text must be well-formed Unicode: it holds half of a surrogate pair.',
      'string_unicode',
    );
  }
}

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
