import { defineConfig } from 'vitest/config';
import { processes } from './test/support/layers.ts';
import base from './vitest.config.ts';

/** Holdfast as processes of its own on the real clock, the demo and older versions among them: `npm run test:processes`. */
export default defineConfig({
  test: {
    ...base.test,
    include: processes,
    exclude: ['node_modules/**'],
    // Processes start several at once, on machines that are slow or busy.
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
