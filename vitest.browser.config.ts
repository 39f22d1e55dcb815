import { defineConfig } from 'vitest/config';
import { browser } from './test/support/layers.ts';
import base from './vitest.config.ts';

/** The pages in a real browser: `npm run test:browser`. They want Debian's chromium, or CHROMIUM. */
export default defineConfig({
  test: {
    ...base.test,
    include: browser,
    exclude: ['node_modules/**'],
    // Chromium is slow to start and to draw on a small machine without a GPU.
    testTimeout: 240_000,
    hookTimeout: 240_000,
  },
});
