import { lstatSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';

/** There is a `.env`, and it cannot be read. Its settings are missing then, such as which database is the right one. */
export class UnreadableDotEnv extends Error {
  constructor(path: string, code: string | undefined) {
    super(
      `${path} cannot be read (${code}), so its settings are missing. Let the user of this process read it, or remove it.`,
    );
  }
}

/** What `.env` of the working directory sets; nothing if there is none. @throws UnreadableDotEnv */
export function readDotEnv(): NodeJS.Dict<string> {
  const path = resolve('.env');
  try {
    return parseEnv(readFileSync(path, 'utf8'));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // A link to a file that is not there is no absent file.
    if (code === 'ENOENT' && !lstatSync(path, { throwIfNoEntry: false })) return {};
    throw new UnreadableDotEnv(path, code);
  }
}
