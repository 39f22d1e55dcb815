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
  const literal = /^var standalone_default = ("(?:[^"\\\n]|\\.)*");$/m.exec(source)?.[1];
  if (!literal) throw new Error(`${path} has no browser bundle where it was. Install the pinned version.`);
  // JavaScript's escapes are more than JSON's. The pattern lets nothing but one literal through.
  return runInNewContext(literal) as string;
}
