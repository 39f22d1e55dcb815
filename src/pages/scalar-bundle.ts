import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { runInNewContext } from 'node:vm';

/**
 * Scalar's API reference for browsers, one script without dependencies. Its own package installs 270 others; the one
 * for Fastify contains the script as a string literal and installs 18. We read that file and do not import it, so none
 * of those packages runs here.
 * @throws Error if the package has no such literal. Its version is pinned, and a test reads it.
 */
export async function readScalarBundle(): Promise<string> {
  const path = createRequire(import.meta.url).resolve('@scalar/fastify-api-reference');
  const source = await readFile(path, 'utf8');
  const literal = stringAfter('\nvar standalone_default = ', source);
  if (!literal) throw new Error(`${path} has no browser bundle where it was. Install the pinned version.`);
  // JSON.parse does not know all JavaScript escapes. The input is one string literal and nothing else.
  return runInNewContext(literal) as string;
}

/** The string literal after some words, with its quotes. A regular expression could fail on millions of characters. */
function stringAfter(words: string, source: string): string | null {
  const start = source.indexOf(words) + words.length;
  if (start < words.length || source[start] !== '"') return null;
  for (let at = start + 1; at < source.length && source[at] !== '\n'; at += 1) {
    if (source[at] === '\\') at += 1;
    else if (source[at] === '"') return source.slice(start, at + 1);
  }
  return null;
}
