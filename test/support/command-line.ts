// `holdfast` in this process, over real HTTP, on the clock of the story and in a home of its own.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { runCommand } from '../../src/cli/program.ts';
import type { World } from '../../src/cli/world.ts';
import { collector } from './collector.ts';
import type { Holdfast } from './holdfast.ts';

export type Said = {
  code: number;
  out: string;
  err: string;
  /** The one JSON value that was printed. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into answers of every shape
  json(): any;
};

/** @property isTTY whether a person looks; @property env what is added to the environment. */
export type Circumstances = {
  isTTY?: boolean;
  /** The width of the terminal. */
  columns?: number;
  env?: Record<string, string | undefined>;
  input?: string;
} & Partial<Pick<World, 'now' | 'delay' | 'zone' | 'platform' | 'cwd'>>;

export type CommandLine = {
  /** Runs one command line, its words apart. */
  holdfast(words: string[], more?: Circumstances): Promise<Said>;
  /** The folder of settings and of what was seen. */
  home: string;
  close(): void;
};

/** @param token for `HOLDFAST_TOKEN`. Where it waits, everything comes to rest first. */
export function commandLineFor(
  story: Pick<Holdfast, 'app' | 'clock' | 'quiet'>,
  token?: string,
): CommandLine {
  const home = mkdtempSync(join(tmpdir(), 'holdfast-home-'));
  return {
    home,
    async holdfast(words, { isTTY = false, columns, env, input = '', ...more } = {}) {
      const [out, err] = [collector(), collector()];
      const world: World = {
        env: { ...{ PATH: '/nowhere' }, HOLDFAST_URL: story.app.url, HOLDFAST_TOKEN: token, ...env },
        input: Object.assign(Readable.from([Buffer.from(input)]), { isTTY }),
        out: Object.assign(out.stream, { isTTY, ...(columns && { columns }) }),
        err: err.stream,
        now: () => story.clock.now(),
        delay: () => story.quiet(),
        zone: 'Europe/Paris',
        platform: 'linux',
        home,
        cwd: home,
        ...more,
      };
      const code = await runCommand(words, world);
      const text = out.text();
      return { code, out: text, err: err.text(), json: () => JSON.parse(text) };
    },
    close: () => rmSync(home, { recursive: true, force: true }),
  };
}
