import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { runInNewContext } from 'node:vm';

/**
 * Scalar's API reference for browsers, one script without dependencies. Its own package brings 270 others; the one
 * for Fastify has it as a string literal and brings 18. So the file is read and not imported: of what is installed
 * with it, nothing runs here.
 * @throws Error where the package holds no such literal: its version is pinned, and a test reads it.
 */
export async function readScalarBundle(): Promise<string> {
  const path = createRequire(import.meta.url).resolve('@scalar/fastify-api-reference');
  const source = await readFile(path, 'utf8');
  const literal = stringAfter('\nvar standalone_default = ', source);
  if (!literal) throw new Error(`${path} has no browser bundle where it was. Install the pinned version.`);
  // JavaScript's escapes are more than JSON's. Nothing but one literal comes here.
  return runInNewContext(literal) as string;
}

/** The string literal behind some words, with its quotes. By hand: of millions of characters a pattern may give up. */
function stringAfter(words: string, source: string): string | null {
  const start = source.indexOf(words) + words.length;
  if (start < words.length || source[start] !== '"') return null;
  for (let at = start + 1; at < source.length && source[at] !== '\n'; at += 1) {
    if (source[at] === '\\') at += 1;
    else if (source[at] === '"') return source.slice(start, at + 1);
  }
  return null;
}
