import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { usual } from './test/support/layers.ts';

/** Pure tests, stories and contracts: `npm test`. */
export default defineConfig({
  test: {
    ...usual,
    globalSetup: ['test/support/prepare-database.ts'],
    setupFiles: ['test/support/watch-answers.ts'],
    // For what hangs: what is slow on a busy machine is no failure.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    pool: 'forks',
    execArgv: ['--max-semi-space-size=32'],
    // Importing everything anew for each file costs more than the tests; no module keeps state between them.
    isolate: false,
    // Some tests wait for what takes real time; meanwhile the others have the processor.
    maxWorkers: availableParallelism() + 1,
  },
});
