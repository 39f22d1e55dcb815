// `npm run bench`: prints one JSON line for each figure and writes bench/results.md. `npm run bench -- api store` runs
// some of them, `--quick` scales all down: both only print. It ends with 0 when every budget holds; `--quick` does not
// look at them.
import { benchApi } from './api.ts';
import { benchBodies } from './bodies.ts';
import { benchBoundaries } from './boundaries.ts';
import { endAll } from './child-process.ts';
import { benchCalendar } from './calendar.ts';
import { benchConditions } from './conditions.ts';
import { benchDeployments } from './deployments.ts';
import { benchEverything } from './everything.ts';
import { benchFanOut } from './fan-out.ts';
import { benchIdle } from './idle.ts';
import { benchInstant } from './instant.ts';
import { benchInstallation } from './installation.ts';
import { benchMoving } from './moving.ts';
import { benchNotices } from './notices.ts';
import { benchPlans } from './plans.ts';
import { type Postgres, startPostgres } from './postgres.ts';
import { type Section, writeReport } from './report.ts';
import { benchStartUp } from './start-up.ts';
import { benchStatements } from './statements.ts';
import { benchStore } from './store.ts';
import { benchStrangers } from './strangers.ts';
import { benchWebhooks } from './webhooks.ts';
import { benchWindow } from './window.ts';

const benches = [
  benchConditions,
  benchApi,
  benchStatements,
  benchWebhooks,
  benchBodies,
  benchWindow,
  benchFanOut,
  benchEverything,
  benchInstant,
  benchDeployments,
  benchBoundaries,
  benchStrangers,
  benchNotices,
  benchInstallation,
  benchStore,
  benchPlans,
  benchCalendar,
  benchMoving,
  benchStartUp,
  benchIdle,
];

const words = process.argv.slice(2);
const isQuick = words.includes('--quick');
const names = words.filter((word) => word !== '--quick');
const unknown = names.filter((name) => !benches.some((bench) => bench.name === name));
if (unknown.length > 0) {
  console.error(
    `There is no benchmark ${unknown.join(', ')}. There are: ${benches.map(({ name }) => name).join(', ')}.`,
  );
  process.exit(1);
}
const chosen = benches.filter(({ name }) => names.length === 0 || names.includes(name));

let postgres: Postgres | null = null;
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void stop().then(() => process.exit(1)));

const began = performance.now();
const sections: Section[] = [];
try {
  postgres = await startPostgres();
  if (!postgres)
    console.error('No PostgreSQL is installed (/usr/lib/postgresql): what needs one is skipped.');
  for (const bench of chosen) {
    const outcome = await bench.run({ isQuick, postgres });
    for (const figure of outcome.figures) console.log(JSON.stringify(figure));
    for (const failure of outcome.failures ?? []) console.error(`FAILED: ${bench.name}: ${failure}`);
    const isOver = !isQuick && outcome.figures.some(({ met }) => met === false);
    if (isOver || outcome.failures?.length) process.exitCode = 1;
    sections.push({ bench, outcome });
  }
  const minutes = (performance.now() - began) / 60_000;
  if (names.length === 0 && !isQuick) await writeReport(sections, postgres?.version ?? null, minutes);
} finally {
  await stop();
}

async function stop(): Promise<void> {
  await endAll();
  postgres?.stop();
  postgres = null;
}
