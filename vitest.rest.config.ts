import { defineConfig } from 'vitest/config';
import { rest } from './test/support/layers.ts';
import base from './vitest.config.ts';

/** What neither a database nor a change of one rule can break, once in CI: `npm run test:rest`. */
export default defineConfig({ test: { ...base.test, include: rest, exclude: ['node_modules/**'] } });
