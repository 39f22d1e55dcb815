import { homedir } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { systemClock } from '../time/clock.ts';

/** Every environment variable that the commands read, with its description. */
export const worldVariables = {
  HOLDFAST_URL: 'the address of Holdfast; `--url` overrides it',
  HOLDFAST_TOKEN:
    'an application key, a GitHub token or an OIDC token of a job, by default the output of `gh auth token`; `--token` overrides it',
  GITHUB_EVENT_PATH:
    'set by GitHub Actions: the event of the run, where `scopes push --from-diff` finds the pull request',
  ACTIONS_ID_TOKEN_REQUEST_URL:
    'set by GitHub Actions for a job with `id-token: write`: where the job gets its own token if there is no other credential',
  ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'set with it: the credential for that request',
  GITHUB_API_URL:
    'set by GitHub Actions: the address of GitHub’s API that `whoami` asks, by default that of `GH_HOST`',
  GITHUB_OUTPUT: 'set by GitHub Actions: the file of the outputs of the action `push-scopes`',
  GITHUB_STEP_SUMMARY: 'set by GitHub Actions: the file of its summary',
  GH_HOST: 'the GitHub host, as for `gh`; by default `github.com`',
  HTTPS_PROXY: 'the proxy by which `prove` asks GitHub',
  HTTP_PROXY: 'the same for addresses that begin with `http://`',
  NO_PROXY: 'hosts that `prove` asks without a proxy, separated by commas',
  NO_COLOR: 'if set, the output has no colours',
  TERM: 'if `dumb`, the output has no colours',
  XDG_CONFIG_HOME: 'where `holdfast login` saves addresses, instead of `~/.config`',
  XDG_STATE_HOME: 'where the commands save what they saw, instead of `~/.local/state`',
  APPDATA: 'on Windows: where `holdfast login` saves addresses',
  LOCALAPPDATA: 'on Windows: where the commands save what they saw',
  PORT: 'the port of a Holdfast on this machine, which `doctor` asks if you name no other; also read from `.env`',
  HOST: 'the host of that Holdfast; also read from `.env`',
} as const;

export type Environment = Partial<Record<keyof typeof worldVariables, string>>;

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
