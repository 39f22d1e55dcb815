import { invalid, Refusal } from '../errors.ts';

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
    const reason = error instanceof Error ? error.message.slice(0, 200) : '';
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
