import type { Logger } from 'pino';
import type { Deps } from '../deps.ts';
import { within } from '../time/clock.ts';
import type { Witness, Witnesses } from '../time/witnesses.ts';

// Whether the clock of this process is right: who is asked, and how people are told.

type Watching = Pick<Deps, 'sql' | 'github' | 'clock' | 'witnesses' | 'config'>;

/** Milliseconds. Workers hear GitHub more often than this. */
const askEvery = 60_000;
/** Milliseconds that a start waits for GitHub. */
const firstTimePatience = 5_000;

/** Hears what time the database has. @returns true; throws what the database answers. */
export async function hearDatabase({ sql, clock, witnesses }: Pick<Deps, 'sql' | 'clock' | 'witnesses'>) {
  const askedAt = clock.elapsed();
  const [row] = await sql.read<{ now: Date }>('database time', 'SELECT job_now() AS now');
  witnesses.hear('database', row!.now.getTime(), askedAt);
  return true;
}

/**
 * Asks what time it is: the database and GitHub before anything is judged, and again each minute where nothing else asks
 * GitHub. A GitHub that does not answer delays the start by seconds.
 */
export function watchClock(deps: Watching): { start(): Promise<void>; stop(): void } {
  const { github, clock, witnesses, config } = deps;
  // Any answer tells the time, also a refusal.
  const askGitHub = async () => {
    const app = await github.asApp();
    await app.rest.apps.getAuthenticated();
  };
  const ask = async (): Promise<void> => {
    const isSilent = witnesses.heardAgo('github') >= askEvery;
    await Promise.all([
      hearDatabase(deps).catch(() => {}),
      isSilent && within(firstTimePatience, askGitHub()).catch(() => {}),
    ]);
  };
  let timer: unknown = null;
  return {
    async start() {
      await ask();
      if (config.role === 'web') timer = clock.setInterval(() => void ask(), askEvery);
    },
    stop: () => clock.clearInterval(timer),
  };
}

export const nameOfClock: Record<Witness, string> = { github: 'GitHub’s', database: 'the database’s' };

/** `1200 s ahead of`, `3 s behind`. */
export const offBy = (ahead: number): string =>
  `${Math.round(Math.abs(ahead) / 1000)} s ${ahead > 0 ? 'ahead of' : 'behind'}`;

/** What `/readyz` says of the clock: `ok`, or how far it is off. */
export const clockCheck = (witnesses: Witnesses): string =>
  witnesses
    .differing()
    .map(({ witness, ahead }) => `${offBy(ahead)} ${nameOfClock[witness]}`)
    .join(', ') || 'ok';

/** Logs each change of what the witnesses say about the clock, once. */
export const tellOfClock =
  (log: Logger): ConstructorParameters<typeof Witnesses>[1] =>
  (verdict, witness, ahead) => {
    const about = { than: witness, secondsAhead: Math.round(ahead / 1000) };
    if (verdict === 'agrees') log.info(about, 'the clock is right again');
    else if (verdict === 'differs')
      log.warn(about, 'the clock differs, so freezes begin and end early or late');
    else log.error(about, 'the clock is wrong, so GitHub’s time counts');
  };
