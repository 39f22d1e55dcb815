import type { Logger } from 'pino';
import { type App, createApp } from '../src/server/app.ts';
import type { StartConfig } from '../src/config.ts';
import type { Database } from '../src/database/database.ts';
import type { Sandbox } from '../sandbox/github.ts';
import { untilQuiet } from '../test/support/until-quiet.ts';
import type { TestClock } from '../test/support/test-clock.ts';

/** What one can do in the past. */
export type Past = {
  /** Where the service listens during the past. */
  url: string;
  /** Moves both clocks, and waits until everything due is done. @throws when the demo is stopping. */
  advanceTo(instant: Date): Promise<void>;
};

type Place = {
  config: StartConfig;
  database: Database;
  log: Logger;
  github: Sandbox;
  /** GitHub's clock too. */
  clock: TestClock;
  /** Throws when the demo is stopping. */
  assertGoingOn(): void;
};

/**
 * Runs the real service on a clock that begins in the past, so that its results are real in every table, in the audit
 * log and on GitHub. The database stays open for the service of the present.
 */
export async function inThePast(
  { config, github, database, log, clock, assertGoingOn }: Place,
  live: (past: Past) => Promise<void>,
): Promise<void> {
  const driven = await clock.drive({ ...database, close: async () => {} });
  const app: App = await createApp(
    // Nobody opens its pages. Its texts have the address of the present service.
    { ...config, port: 0, statusWritesPerMinute: { least: 1_000_000, most: 1_000_000 } },
    { clock, database: driven, log },
  );
  try {
    github.deliverTo(`${app.url}/api/github/webhooks`);
    let restedAt = 0;
    const rest = async () => {
      assertGoingOn();
      restedAt = await untilQuiet({ app, github, clock }, restedAt);
    };
    await live({
      url: app.url,
      async advanceTo(instant) {
        await rest();
        await clock.setTime(instant);
        await clock.tick(0);
        await rest();
      },
    });
    await rest();
  } finally {
    github.deliverTo(null);
    await app.close();
  }
}
