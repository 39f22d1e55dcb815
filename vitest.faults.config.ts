import { defineConfig } from 'vitest/config';
import { faults } from './test/support/layers.ts';

// `npm run test:faults`: minutes of real time, so not part of `npm test`.
export default defineConfig({
  test: {
    include: faults,
    fileParallelism: false,
    disableConsoleIntercept: true,
    hookTimeout: 240_000,
  },
});
