import { defineConfig } from 'vitest/config';
import base from './vitest.config.ts';

/** The pages in a real browser: `npm run test:browser`. They want Debian's chromium, or CHROMIUM. */
export default defineConfig({
  test: {
    ...base.test,
    include: ['test/browser/**/*.test.ts'],
    exclude: ['node_modules/**'],
    testTimeout: 60_000,
  },
});
