import { type Cache, createCache } from './cache.ts';
import type { Clock } from '../clock.ts';

type Headers = Record<string, string | number | undefined>;

/** The share, 0 to 1, that is left of an hourly budget of an installation. `resource` is `core` (REST) or `graphql`. */
export type Budget = { installationId: string; resource: string; share: number };

/** The budgets that we use. */
const resources = ['core', 'graphql'];

/** What GitHub last said about the hourly budgets of installations. It includes what other replicas use. */
export class RateBudgets {
  readonly #said: Cache<string, Budget & { resetAt: number }>;

  constructor(clock: Clock) {
    this.#said = createCache(clock, mostKept, hour);
  }

  /** Reads the headers of an answer. */
  note(installationId: bigint, headers: Headers): void {
    const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) =>
      Number(headers[`x-ratelimit-${name}`]),
    ) as [number, number, number];
    const resource = String(headers['x-ratelimit-resource']);
    if (!(limit > 0 && remaining >= 0 && reset > 0) || !resources.includes(resource)) return;
    const said = { installationId: String(installationId), resource, share: remaining / limit };
    this.#said.set(`${installationId} ${resource}`, { ...said, resetAt: reset * 1000 });
  }

  /**
   * The share, 0 to 1, that is left of the scarcer budget; 1 if nothing is known about this hour.
   * @param now milliseconds since the epoch.
   */
  left(installationId: bigint, now: number): number {
    return Math.min(1, ...this.#ofThisHour(installationId, now).map(({ share }) => share));
  }

  /** When no budget of the installation has less than this share left; null if none has now. Milliseconds. */
  scarceUntil(installationId: bigint, least: number, now: number): number | null {
    const scarce = this.#ofThisHour(installationId, now).filter(({ share }) => share < least);
    return scarce.length === 0 ? null : Math.max(...scarce.map(({ resetAt }) => resetAt));
  }

  #ofThisHour(installationId: bigint, now: number) {
    return resources.flatMap((resource) => {
      const said = this.#said.get(`${installationId} ${resource}`);
      return said && said.resetAt > now ? [said] : [];
    });
  }

  /** Every budget of which something is known of this hour. @param now milliseconds since the epoch. */
  known(now: number): Budget[] {
    return this.#said.values().filter(({ resetAt }) => resetAt > now);
  }
}

const mostKept = 10_000;
/** After this time, the budget of the next hour counts. */
const hour = 3_600_000;
