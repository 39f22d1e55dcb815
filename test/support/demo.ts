// The demo as its users meet it: a process of its own.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../../demo/demo.ts', import.meta.url));

export type DemoProcess = {
  child: ChildProcess;
  /** Everything that it printed so far, on both streams. */
  output(): string;
  /** Its exit code, or the signal that ended it, when `output` has all that it printed. */
  ended: Promise<number | string>;
  /** Waits until something is so; fails with what was printed when it takes too long. */
  until(what: string, isSo: () => boolean | Promise<boolean>, seconds?: number): Promise<void>;
  /** Waits until it has printed everything that it begins with. */
  printed(): Promise<string>;
};

/** @param temporary a folder of the test's own, so that whatever the demo leaves behind is seen. */
export function startDemo(temporary: string, ...options: string[]): DemoProcess {
  const child = spawn(process.execPath, [main, ...options], {
    env: { ...process.env, TMPDIR: temporary },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close').then(([code, signal]) => (code ?? signal) as number | string);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  const until: DemoProcess['until'] = async (what, isSo, seconds = 180) => {
    const deadline = Date.now() + seconds * 1000;
    while (!(await isSo())) {
      const ended = child.exitCode ?? child.signalCode;
      const why =
        ended !== null ? `it ended with ${ended}` : Date.now() > deadline ? `not within ${seconds} s` : null;
      // The last line stands first, for a list of failures shows one line of each.
      if (why)
        throw new Error(
          `Waiting until ${what}, ${why}, after: ${output.trim().split('\n').at(-1)}\n${output}`,
        );
      await delay(50);
    }
  };
  return {
    child,
    output: () => output,
    ended,
    until,
    async printed() {
      await until('the pages to open are printed, after the tour', () =>
        /To take the tour[^]*Press Ctrl-C to end the demo[^]*Open in a browser:\n\n(?: {2}\S.*\n)+\n/.test(
          output,
        ),
      );
      return output;
    },
  };
}
