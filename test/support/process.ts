// Holdfast as a process of its own, configured by environment variables alone.
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Sandbox } from '../../sandbox/github.ts';

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

export type ServiceProcess = {
  child: ChildProcess;
  /** Everything it printed so far, on both streams. */
  output(): string;
  /** The URL it listens on; rejects when it ends before that. */
  listening: Promise<string>;
  /** Its exit code, or the signal that ended it, when `output` has all that it printed. */
  ended: Promise<number | string>;
};

/** What a process needs to serve the App of a sandbox; its database comes besides. */
export const environmentFor = ({ app, url }: Sandbox): Record<string, string> => ({
  PORT: '0',
  HOST: '127.0.0.1',
  APP_ID: String(app.id),
  PRIVATE_KEY: app.privateKey,
  WEBHOOK_SECRET: app.webhookSecret,
  GITHUB_API_URL: url,
  LOG_FORMAT: 'json',
});

/**
 * @param environment replaces the test's own: nothing else reaches it.
 * @param program instead of this version's `src/main.ts`.
 */
export const startProcess = (
  environment: Record<string, string>,
  cwd: string,
  program = main,
): ServiceProcess =>
  watchProcess(process.execPath, [program], { cwd, env: { PATH: process.env['PATH'], ...environment } });

/** Starts a command that becomes the service. */
export function watchProcess(command: string, args: string[], options: SpawnOptions): ServiceProcess {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  // A process can be gone before its last words are read.
  const ended = once(child, 'close').then(([code, signal]) => (code ?? signal) as number | string);
  const listening = new Promise<string>((resolve, reject) => {
    for (const input of [child.stdout!, child.stderr!]) {
      createInterface({ input }).on('line', (line) => {
        output += `${line}\n`;
        const url = /"url":"([^"]+)".*"msg":"listening"/.exec(line)?.[1];
        if (url) resolve(url);
      });
    }
    void ended.then((how) => reject(new Error(`It ended (${how}) before it listened:\n${output}`)));
  });
  listening.catch(() => {});
  return { child, output: () => output, listening, ended };
}
