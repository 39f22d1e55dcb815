// The image without an engine: the steps of the Dockerfile, and the files that .dockerignore lets through.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot, trackedFiles } from './clean-copy.ts';

const linesOf = (path: string) => readFileSync(join(repositoryRoot, path), 'utf8').split('\n');

export type Instruction = { name: string; value: string };

/** The instructions of the Dockerfile, continued lines joined. */
export const dockerfile: Instruction[] = linesOf('Dockerfile')
  .filter((line) => !line.startsWith('#'))
  .join('\n')
  .replace(/\\\n\s*/g, '')
  .split('\n')
  .filter(Boolean)
  .map((line) => ({ name: line.split(' ')[0]!, value: line.slice(line.indexOf(' ') + 1) }));

/** The values of all instructions of a name, in their order. */
export const instructions = (name: string): string[] =>
  dockerfile.filter((each) => each.name === name).map(({ value }) => value);

/** What the last `ENV` sets: the environment of the service. */
export const imageEnvironment = (): Record<string, string> =>
  Object.fromEntries(
    instructions('ENV')
      .at(-1)!
      .split(/\s+/)
      .map((pair) => pair.split('=') as [string, string]),
  );

/** The tracked files that .dockerignore lets through: what `COPY . .` copies. */
export function contextFiles(): string[] {
  const patterns = linesOf('.dockerignore').filter((line) => line && !line.startsWith('#'));
  const isBelow = (path: string, pattern: string) => path === pattern || path.startsWith(`${pattern}/`);
  // The last pattern that fits decides.
  const isLetThrough = (path: string) =>
    patterns
      .findLast((pattern) => pattern === '*' || isBelow(path, pattern.replace(/^!/, '')))
      ?.startsWith('!') ?? true;
  return trackedFiles().filter(isLetThrough);
}
