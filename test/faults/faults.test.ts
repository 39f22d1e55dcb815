// Proof by fault: `npm run test:faults`. FAULT_SEEDS=1,2,3 and FAULT_SECONDS choose other runs, and
// FAULT_DATABASE=embedded the embedded database also where PostgreSQL is installed.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PostgresCluster, startPostgres } from './postgres-cluster.ts';
import { run } from './run.ts';

const seeds = (process.env['FAULT_SEEDS'] ?? '1,2,3').split(',').map(Number);
const seconds = Number(process.env['FAULT_SECONDS'] ?? 45);
const server = process.env['TEST_DATABASE_URL'];
const shown = 50;

let postgres: PostgresCluster | null = null;

beforeAll(async () => {
  if (!server && process.env['FAULT_DATABASE'] !== 'embedded') postgres = await startPostgres();
});
afterAll(() => postgres?.stop());

test.each(seeds)(
  'seed %i: acknowledged writes stay, frozen pull requests are blocked, and every status becomes true',
  async (seed) => {
    const url = server ?? postgres?.url ?? null;
    const { counts, violations, steps, logFolder } = await run(seed, seconds, url, postgres);
    console.log(JSON.stringify(counts));
    if (violations.length > 0) {
      const last = steps.slice(-shown).join('\n');
      console.log(`FAULT_SEEDS=${seed}, the last steps:\n${last}\nThe service's logs: ${logFolder}`);
    }
    expect(violations).toEqual([]);
  },
  // For a machine that is five times slower than an ordinary one.
  (seconds * 3 + 240) * 5000,
);
