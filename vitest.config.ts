import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/faults/**', 'test/browser/**', 'test/processes/**', 'test/upgrade/**', 'node_modules/**'],
    globalSetup: ['test/support/prepare-database.ts'],
    setupFiles: ['test/support/watch-answers.ts'],
    // For what hangs: what is slow on a busy machine is no failure.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    pool: 'forks',
    // PostgreSQL as WebAssembly starts in a third of the processor time, as in src/database/embedded.ts.
    execArgv: ['--liftoff-only'],
    // Importing everything anew for each file costs more than the tests; no module keeps state between them.
    isolate: false,
    // Vitest leaves a core idle by default; half of what a file does is to wait.
    maxWorkers: '100%',
  },
});
