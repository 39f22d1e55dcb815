import { defineConfig } from 'vitest/config';

// `npm run test:faults`: minutes of real time, so not part of `npm test`.
export default defineConfig({
  test: {
    include: ['test/faults/**/*.test.ts'],
    fileParallelism: false,
    disableConsoleIntercept: true,
    hookTimeout: 240_000,
  },
});
