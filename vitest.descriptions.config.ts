import { defineConfig } from 'vitest/config';
import { descriptions } from './test/support/layers.ts';
import base from './vitest.config.ts';

/** GitHub's descriptions judge what stories recorded in GITHUB_RECORDINGS: `npm run test:recordings`. */
export default defineConfig({
  test: {
    ...base.test,
    // No database is prepared.
    globalSetup: [],
    setupFiles: [],
    include: descriptions,
    exclude: ['node_modules/**'],
  },
});
