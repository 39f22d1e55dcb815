import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { misused } from '../stop.ts';

/** The content of a file; null if there is no file. @throws Stop if it is not a JSON object. */
export function readJsonFile(path: string): Record<string, unknown> | null {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw misused(`${path} cannot be read: ${(error as Error).message}. Give yourself access to it.`);
  }
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch {
    // The error below says it.
  }
  throw misused(`${path} does not hold a JSON object. Repair it, or delete it.`);
}

/** Replaces the file at once, so that no reader sees half of it. Nobody else can read it. */
export function writeJsonFile(path: string, value: object): void {
  const draft = `${path}.${process.pid}`;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, path);
}
