import { defineConfig } from 'vitest/config';
import { onDatabase } from './test/support/layers.ts';
import base from './vitest.config.ts';

/** What depends on the kind of database, on the server of TEST_DATABASE_URL: `npm run test:postgresql`. */
export default defineConfig({ test: { ...base.test, include: onDatabase(), exclude: ['node_modules/**'] } });
