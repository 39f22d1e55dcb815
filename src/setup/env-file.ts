import { constants } from 'node:fs';
import { access, chmod, open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { MadeApp } from './app-credentials-store.ts';

/** The file that the service reads at its start, below the environment. */
export const envFilePath = (): string => resolve('.env');

/** Whether the file can be added to, or made. */
export async function isEnvFileWritable(path: string): Promise<boolean> {
  const may = (target: string) =>
    access(target, constants.W_OK).then(
      () => null,
      (error: NodeJS.ErrnoException) => error.code,
    );
  const refusal = await may(path);
  return refusal === null || (refusal === 'ENOENT' && (await may(dirname(path))) === null);
}

/** Adds the App to the file, which from then on only its owner can read. Its other lines stay as they are. */
export async function addToEnvFile(path: string, app: MadeApp): Promise<void> {
  const values = {
    APP_ID: String(app.id),
    PRIVATE_KEY: app.privateKey.trim().replaceAll('\n', '\\n'),
    WEBHOOK_SECRET: app.webhookSecret,
    CLIENT_ID: app.oauth.clientId,
    CLIENT_SECRET: app.oauth.clientSecret,
  };
  const lines = Object.entries(values).map(([name, value]) => `${name}="${value}"\n`);
  const file = await open(path, 'a+', 0o600);
  try {
    // Before the secrets are in it.
    await chmod(path, 0o600);
    const before = await file.readFile('utf8');
    const newLine = before === '' || before.endsWith('\n') ? '' : '\n';
    await file.appendFile(
      `${newLine}# The GitHub App ${app.slug}, made by the setup page.\n${lines.join('')}`,
    );
    await file.sync();
  } finally {
    await file.close();
  }
}
