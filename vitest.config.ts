import { defineConfig } from 'vitest/config';
import { usual } from './test/support/layers.ts';

/** Pure tests, stories and contracts: `npm test`. */
export default defineConfig({
  test: {
    ...usual,
    globalSetup: ['test/support/prepare-database.ts'],
    setupFiles: [
      'test/support/watch-answers.ts',
      'test/support/no-names.ts',
      'test/support/busy-machine.ts',
      'test/support/record-github.ts',
    ],
    // For what hangs: what is slow on a busy machine is no failure.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    // Node runs the files, as it does in production. Vite would write each anew, and every import as a look-up.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    pool: 'forks',
    // A request leaves much behind that is soon needed no more.
    execArgv: ['--max-semi-space-size=32'],
    // Importing everything anew for each file costs more than the tests; no module keeps state between them.
    isolate: false,
    // Vitest leaves a core idle by default; half of what a file does is to wait.
    maxWorkers: '100%',
  },
});
