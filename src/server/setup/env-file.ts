import { constants } from 'node:fs';
import { access, chmod, open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { MadeApp } from '../../github/app-credentials-store.ts';

/** The file that the service reads when it starts. Environment variables override it. */
export const envFilePath = (): string => resolve('.env');

/** Whether we can append to the file or create it. */
export async function isEnvFileWritable(path: string): Promise<boolean> {
  const may = (target: string) =>
    access(target, constants.W_OK).then(
      () => null,
      (error: NodeJS.ErrnoException) => error.code,
    );
  const refusal = await may(path);
  return refusal === null || (refusal === 'ENOENT' && (await may(dirname(path))) === null);
}

/** Appends the App to the file and makes the file readable for its owner only. Keeps the other lines. */
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
    // Set the mode before writing secrets.
    await chmod(path, 0o600);
    const before = await file.readFile('utf8');
    const newLine = before === '' || before.endsWith('\n') ? '' : '\n';
    await file.appendFile(
      `${newLine}# The GitHub App ${app.slug}, created by the setup page.\n${lines.join('')}`,
    );
    await file.sync();
  } finally {
    await file.close();
  }
}
