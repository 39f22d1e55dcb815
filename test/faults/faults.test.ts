// Proof by fault: `npm run test:faults`. FAULT_SEEDS=1,2,3 and FAULT_SECONDS choose other runs.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PostgresCluster, startPostgres } from './postgres-cluster.ts';
import { run } from './run.ts';

const seeds = (process.env['FAULT_SEEDS'] ?? '1,2,3').split(',').map(Number);
const seconds = Number(process.env['FAULT_SECONDS'] ?? 45);
const shown = 50;

let postgres: PostgresCluster | null = null;

beforeAll(async () => {
  if (!process.env['TEST_DATABASE_URL']) postgres = await startPostgres();
}, 60_000);
afterAll(() => postgres?.stop());

test.each(seeds)(
  'seed %i: what was acknowledged is kept, what is frozen is held, and the truth is reached',
  async (seed) => {
    const server = process.env['TEST_DATABASE_URL'] ?? postgres?.url ?? null;
    const { counts, violations, steps, logFolder } = await run(seed, seconds, server, postgres);
    console.log(JSON.stringify(counts));
    if (violations.length > 0) {
      const last = steps.slice(-shown).join('\n');
      console.log(`FAULT_SEEDS=${seed}, the last steps:\n${last}\nThe service's logs: ${logFolder}`);
    }
    expect(violations).toEqual([]);
  },
  (seconds * 3 + 240) * 1000,
);
