import { readFileSync } from 'node:fs';

/** The version of this command: of the package that it was installed with. */
export function version(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
