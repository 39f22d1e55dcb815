import { limited, Refusal, unavailable } from '../errors.ts';
import { classifyGitHubError, type GitHubFailure } from './github-error.ts';
import { takeOne } from './limits/minute-counts.ts';
import { type Cache, createCache } from './cache.ts';
import type { Clock } from '../time/clock.ts';
import type { GitHubDeps } from './github-deps.ts';
import { hour } from '../time/units.ts';

/** Whose rate limit a question uses: the caller's own token, that of an installation (its id), or the App's. */
type Payer = 'caller' | 'App' | bigint;

/** The share of an installation's hourly limit that is kept for its own work, so that freezes hold and end. */
const ownReserve = 1 / 4;
/**
 * Whether a question may use what is kept: `counted`, some in a minute for all callers of an installation; `freely`, for
 * who was allowed the same within the hour.
 */
export type ReserveUse = 'no' | 'counted' | 'freely';
/** How many questions about people whom nothing allows yet may use what is kept, in a minute for each installation. */
const countedPerMinute = 10;

/**
 * Asks GitHub on behalf of a waiting client. A clear answer passes through, returned or thrown. If GitHub cannot answer
 * now, the client gets an error that says when to try again.
 * @param about completes the sentence "GitHub could not say …".
 * @throws Refusal unavailable (503 with `Retry-After`), also if too little of the installation's hour is left;
 *   too-many-requests if this caller asked too much.
 */
export async function askGitHub<Answer>(
  deps: Pick<GitHubDeps, 'clock' | 'log' | 'github' | 'questions' | 'db'>,
  payer: Payer,
  about: string,
  question: () => Promise<Answer>,
  reserveUse: ReserveUse = 'no',
): Promise<Answer> {
  if (typeof payer === 'bigint') {
    await deps.questions?.beforeInstallation();
    await assertNotReserved(deps, payer, about, reserveUse);
  }
  try {
    return await question();
  } catch (error) {
    if (error instanceof Refusal) throw error;
    const failure = classifyGitHubError(error, deps.clock.now());
    if (failure.kind === 'limited') {
      throw limited(
        `GitHub's rate limit is used up until ${new Date(failure.retryAt).toISOString()}, so it could not say ${about}. Try again then, or use an application key, which needs no such answer.`,
        failure.retryAt,
        deps.clock.now(),
      );
    }
    deps.log.warn({ err: error }, `GitHub could not say ${about}`);
    throw unavailable(`GitHub could not say ${about}. Nothing was changed. Try again in a moment.`);
  }
}

/** When enough of the installation's hour is left again for questions on behalf of clients; null if it is now. */
export const reservedUntil = (
  { github }: Pick<GitHubDeps, 'github'>,
  installationId: bigint,
): number | null => github.budgets.scarceUntil(installationId, ownReserve);

/**
 * Whether a question that can wait may be asked now: enough is left of the installation's hour, and of a count for
 * each minute. Counts it.
 * @param reserve the share of the hour that is kept for holding pull requests.
 */
export async function mayAskNow(
  deps: Pick<GitHubDeps, 'db' | 'clock' | 'github'>,
  installationId: bigint,
  reserve: number,
  count: { name: string; perMinute: number },
): Promise<'yes' | 'reserved' | 'too many'> {
  if (deps.github.budgets.left(installationId) < reserve) return 'reserved';
  return (await takeOne(deps, count.name, count.perMinute)) ? 'yes' : 'too many';
}

async function assertNotReserved(
  deps: Pick<GitHubDeps, 'clock' | 'github' | 'db'>,
  installationId: bigint,
  about: string,
  use: ReserveUse,
): Promise<void> {
  const until = reservedUntil(deps, installationId);
  if (until === null || use === 'freely') return;
  if (use === 'counted' && (await takeOne(deps, `reserve ${installationId}`, countedPerMinute))) return;
  throw limited(
    `Holdfast reserves the rest of this hour’s GitHub rate limit for freezes, so GitHub could not say ${about}. Try again after ${new Date(until).toISOString()}, or use an application key, which needs no such answer.`,
    until,
    deps.clock.now(),
  );
}

// GitHub's limits: the pauses that it asks for, and what it says is left of hourly budgets.

/** If a repository refuses us, we ask again after this time: soon enough to notice, and not too often. */
export const checkAccessAfter = 30_000;

type Limited = Extract<GitHubFailure, { kind: 'limited' }>;

/**
 * Saves that GitHub asked an installation to wait. All workers see it, also after a restart. GraphQL has its own hourly
 * budget, and writing statuses does not need it.
 */
export async function pauseInstallation(
  deps: Pick<GitHubDeps, 'db' | 'log' | 'github'>,
  id: bigint,
  { retryAt, of, isSecondary, isContentCreation }: Limited,
): Promise<void> {
  const until = new Date(retryAt);
  deps.github.budgets.noteRefusal(id, retryAt);
  const field = of === 'graphql' ? 'readsPausedUntil' : 'pausedUntil';
  await deps.db.installation.updateMany({
    where: { id, OR: [{ [field]: null }, { [field]: { lt: until } }] },
    data: { [field]: until },
  });
  const about = { installationId: String(id), until, of, isSecondary, isContentCreation };
  deps.log.warn(about, 'GitHub limits this installation; waiting');
}

/**
 * The same for the error of an optional question, which has no other consequence. Never throws.
 * @param error of any kind: this ignores errors that are not limits.
 */
export async function pauseIfLimited(
  deps: Pick<GitHubDeps, 'db' | 'log' | 'clock' | 'github'>,
  id: bigint,
  error: unknown,
): Promise<void> {
  const failure = classifyGitHubError(error, deps.clock.now());
  if (failure.kind !== 'limited') return;
  await pauseInstallation(deps, id, failure).catch((err: unknown) =>
    deps.log.warn({ err, installationId: String(id) }, 'could not save that GitHub limits an installation'),
  );
}

type Headers = Record<string, string | number | undefined>;

/** The share, 0 to 1, that is left of an hourly budget of an installation. `resource` is `core` (REST) or `graphql`. */
export type HourlyBudget = { installationId: string; resource: string; share: number };

/** The budgets that we use. */
const resources = ['core', 'graphql'];

/** What GitHub last said about the hourly budgets of installations. It includes what other replicas use. */
export class RateBudgets {
  readonly #clock: Clock;
  readonly #reported: Cache<string, HourlyBudget & { limit: number; resetAt: number }>;
  /** Until when GitHub refused, in milliseconds since the epoch. */
  readonly #refused: Cache<string, number>;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#reported = createCache(clock, mostBudgets, hour);
    this.#refused = createCache(clock, mostBudgets, hour);
  }

  /** Reads the headers of an answer. */
  note(installationId: bigint, headers: Headers): void {
    const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) =>
      Number(headers[`x-ratelimit-${name}`]),
    ) as [number, number, number];
    const resource = String(headers['x-ratelimit-resource']);
    if (!(limit > 0 && remaining >= 0 && reset > 0) || !resources.includes(resource)) return;
    const budget = { installationId: String(installationId), resource, share: remaining / limit };
    this.#reported.set(`${installationId} ${resource}`, { ...budget, limit, resetAt: reset * 1000 });
  }

  /** The share, 0 to 1, that is left of the scarcer budget; 1 if nothing is known about this hour. */
  left(installationId: bigint): number {
    return Math.min(1, ...this.#of(installationId).map(({ share }) => share));
  }

  /** How many requests the smaller budget has in an hour; null if nothing is known about this hour. */
  limit(installationId: bigint): number | null {
    const limits = this.#of(installationId).map(({ limit }) => limit);
    return limits.length === 0 ? null : Math.min(...limits);
  }

  /** Remembers that GitHub refused to answer an installation. @param until milliseconds since the epoch. */
  noteRefusal(installationId: bigint, until: number): void {
    const before = this.#refused.get(String(installationId)) ?? 0;
    this.#refused.set(String(installationId), Math.max(before, until));
  }

  /** Until when GitHub answers no question, as far as this process knows; null if it answers. Milliseconds. */
  usedUpUntil(installationId: bigint): number | null {
    const ends = this.#of(installationId).flatMap(({ share, resetAt }) => (share === 0 ? resetAt : []));
    const until = Math.max(0, this.#refused.get(String(installationId)) ?? 0, ...ends);
    return until > this.#clock.now() ? until : null;
  }

  /** When no budget of the installation has less than this share left; null if none has now. Milliseconds. */
  scarceUntil(installationId: bigint, least: number): number | null {
    const scarce = this.#of(installationId).filter(({ share }) => share < least);
    return scarce.length === 0 ? null : Math.max(...scarce.map(({ resetAt }) => resetAt));
  }

  /** Every budget of which something is known of this hour. */
  known(): HourlyBudget[] {
    return this.#ofThisHour(this.#reported.values());
  }

  #of(installationId: bigint) {
    const kept = resources.map((resource) => this.#reported.get(`${installationId} ${resource}`));
    return this.#ofThisHour(kept.filter((budget) => budget !== undefined));
  }

  #ofThisHour<Reported extends { resetAt: number }>(budgets: Reported[]): Reported[] {
    return budgets.filter(({ resetAt }) => resetAt > this.#clock.now());
  }
}

const mostBudgets = 10_000;
/** After this time, the budget of the next hour counts. */
