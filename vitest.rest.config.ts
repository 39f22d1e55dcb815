import { defineConfig } from 'vitest/config';
import { rest } from './test/support/layers.ts';
import base from './vitest.config.ts';

/** What a developer need not wait for: hostile stories, and what no change of one rule can break: `npm run test:rest`. */
export default defineConfig({ test: { ...base.test, include: rest, exclude: ['node_modules/**'] } });
