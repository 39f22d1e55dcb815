// Vitest in this process, for one run after the other: the database is prepared once. Each run has a new worker, and with
// it new modules.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ViteUserConfig } from 'vitest/config';
import { inProcess } from '../support/layers.ts';
import { BaseSequencer, createVitest, type TestModule, type TestSpecification } from 'vitest/node';

/** A test file that ran, or was to run. */
export type Ran = {
  file: string;
  state: 'passed' | 'failed' | 'skipped' | 'unfinished';
  milliseconds: number;
  reached: string[];
  /** What failed first. */
  failure: string | null;
};

export type Outcome = { ran: Ran[]; errors: string[]; isTimeout: boolean };

export type Session = {
  /** Every test file, by its path below the root. */
  files: string[];
  /**
   * Runs test files in this order, one at a time.
   * @param rewritten the texts to run in the place of those of files of `src/`, by their paths below the root.
   * @param patience in milliseconds. What takes longer is ended.
   */
  run(files: string[], rewritten: Map<string, string>, patience: number): Promise<Outcome>;
  close(): Promise<void>;
};

/** Vitest sorts files by what it knows of them; here they come sorted. */
class AsGiven extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return Promise.resolve(files);
  }
}

type Options = { setupFiles?: string[]; stopsAtFirst: boolean };

/** @param root of the repository: its `vitest.config.ts` says which tests there are, and what they need. */
export async function startSession(root: string, options: Options): Promise<Session> {
  const { default: config } = (await import(pathToFileURL(join(root, 'vitest.config.ts')).href)) as {
    default: ViteUserConfig;
  };
  const ours = { root, watch: false, ...{ config: false as const, reporters: [{}], cache: false as const } };
  // A worker reads it when it starts: see `rewrite-sources.ts`.
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-mutants-'));
  const vitest = await createVitest('test', ours, adapted(root, config, folder, options));
  const specifications = new Map<string, TestSpecification[]>();
  for (const one of await vitest.globTestSpecifications()) {
    const file = relative(root, one.moduleId).replaceAll('\\', '/');
    specifications.set(file, [...(specifications.get(file) ?? []), one]);
  }
  return {
    files: [...specifications.keys()].sort(),
    async run(files, rewritten, patience) {
      await rm(folder, { recursive: true });
      for (const [file, text] of rewritten) {
        await mkdir(dirname(join(folder, file)), { recursive: true });
        await writeFile(join(folder, file), text);
      }
      const asked = files.flatMap((file) => specifications.get(file) ?? []);
      vitest.state.filesMap.clear();
      let isTimeout = false;
      const timer = setTimeout(() => {
        isTimeout = true;
        // The second call ends a worker that does not answer.
        void vitest.cancelCurrentRun('keyboard-input');
        setTimeout(() => void vitest.cancelCurrentRun('keyboard-input'), 2000);
      }, patience);
      const { testModules, unhandledErrors } = await vitest.runTestSpecifications(asked);
      clearTimeout(timer);
      // It is not this process that failed.
      process.exitCode = 0;
      return { ran: testModules.map(ranOf), errors: unhandledErrors.map(firstLine), isTimeout };
    },
    async close() {
      await vitest.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The repository's own configuration, with ours on top. */
function adapted(root: string, config: ViteUserConfig, folder: string, options: Options): ViteUserConfig {
  const { setupFiles = [], stopsAtFirst } = options;
  const { test = {} } = config;
  return {
    ...config,
    test: {
      ...test,
      ...inProcess,
      setupFiles: [...setupFiles, ...[test.setupFiles ?? []].flat()],
      // A mutant may wait for what never comes.
      testTimeout: 30_000,
      hookTimeout: 30_000,
      expect: { ...test.expect, poll: { ...test.expect?.poll, timeout: 10_000 } },
      bail: stopsAtFirst ? 1 : 0,
      maxWorkers: 1,
      // What a mutant collects without end must not take the memory of others.
      execArgv: [
        ...(test.execArgv ?? []),
        '--max-old-space-size=4000',
        `--import=${pathToFileURL(join(root, 'test/mutations/rewrite-sources.ts')).href}`,
      ],
      env: { ...test.env, REWRITTEN_SOURCES: folder },
      sequence: { ...test.sequence, sequencer: AsGiven },
    },
  };
}

function ranOf(module: TestModule): Ran {
  const state = module.state();
  const failed = [...module.children.allTests('failed')][0];
  const error = failed?.result().errors?.[0] ?? module.errors()[0];
  return {
    file: module.relativeModuleId,
    state: state === 'pending' || state === 'queued' ? 'unfinished' : state,
    milliseconds: Math.round(module.diagnostic().duration),
    reached: module.meta().reached ?? [],
    failure:
      state === 'failed' ? [failed?.fullName, error && firstLine(error)].filter(Boolean).join(': ') : null,
  };
}

const firstLine = (error: unknown) =>
  String((error as Error)?.message ?? error)
    .split('\n')[0]!
    .slice(0, 200);
