import { homedir } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { systemClock } from '../clock.ts';
import type { Environment } from './variables.ts';

type Screen = Writable & { isTTY?: boolean; columns?: number };

/** Everything that the commands know about the machine. A test brings its own. */
export type World = {
  env: Environment;
  input: Readable & { isTTY?: boolean };
  /** The results. */
  out: Screen;
  /** Everything else. */
  err: Screen;
  /** Milliseconds since 1970. */
  now(): number;
  /** @throws AbortError when the signal says so. */
  delay(milliseconds: number, signal?: AbortSignal): Promise<void>;
  /** The IANA name of the reader's zone. */
  readonly zone: string;
  platform: NodeJS.Platform;
  home: string;
  /** The folder that the command was called in. */
  cwd: string;
};

/** The machine that this process runs on. */
export const thisMachine = (): World => ({
  env: process.env as Environment,
  input: process.stdin,
  out: process.stdout,
  err: process.stderr,
  now: () => systemClock.now(),
  delay: (milliseconds, signal) => wait(milliseconds, undefined, { signal }),
  // Only commands with times ask for it, because it takes a third of a start.
  get zone() {
    return zoneOfMachine();
  },
  platform: process.platform,
  home: homeFolder(),
  cwd: process.cwd(),
});

function zoneOfMachine(): string {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  // ICU says this if it knows no zone of the machine.
  return timeZone === 'Etc/Unknown' ? 'UTC' : timeZone;
}

/** The home folder of this user. An unknown user, as in a container, has none. */
function homeFolder(): string {
  try {
    return homedir();
  } catch {
    return '/';
  }
}
