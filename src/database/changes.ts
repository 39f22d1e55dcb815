import type { Clock } from '../time/clock.ts';
import type { Database } from './database.ts';

// What changed, for pages that update themselves: statements that change what pages show tell it to the pages of all
// processes, at no further cost. A page that hears of it is asked for again, and its own checks say what the reader may see.

/** Something about an owner, or about a repository. `about` names the pull request or commit; null: it may be about any. */
export type ToldChange = { accountId: bigint } | { repositoryId: bigint; about: string | null };

const channel = 'holdfast_changes';

/**
 * SQL that tells of changes, once for each that is not told yet in the transaction.
 * @param what SQL for the change: `changeOfRepository` or `changeOfAccount`.
 */
export const tellOf = (what: string): string => `pg_notify('${channel}', ${what})::text`;

/** @param id SQL for the id of the repository. @param about SQL for what it is about; NULL: all of it. */
export const changeOfRepository = (id: string, about = 'NULL'): string =>
  `'r' || ${id} || coalesce(' ' || (${about})::text, '')`;

/** @param id SQL for the id of the account. */
export const changeOfAccount = (id: string): string => `'a' || ${id}`;

function changeIn(message: string): ToldChange {
  const [id, about = null] = message.slice(1).split(' ') as [string, string?];
  return message.startsWith('a') ? { accountId: BigInt(id) } : { repositoryId: BigInt(id), about };
}

type Follower = { wants: (change: ToldChange) => boolean; hear: () => void };

/** Milliseconds for which changes are remembered: a page that has just been made follows from its beginning on. */
const rememberedFor = 120_000;
const mostRemembered = 5_000;
/** Milliseconds by which the clocks of processes may differ. */
const slack = 2_000;

/** The changes that this process hears of. It listens from the first follower on. */
export class Changes {
  readonly #database: Pick<Database, 'listen'>;
  readonly #clock: Clock;
  readonly #followers = new Set<Follower>();
  #remembered: { at: number; change: ToldChange }[] = [];
  /** Since when it has heard everything. */
  #complete = Infinity;
  #listening: ReturnType<Database['listen']> | null = null;

  constructor(database: Pick<Database, 'listen'>, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  /**
   * Calls `hear` at each change that is wanted, and at once if there was one since then.
   * @param since in milliseconds since the epoch. @returns stops.
   */
  async follow(wants: Follower['wants'], since: number, hear: () => void): Promise<() => void> {
    const follower = { wants, hear };
    await (this.#listening ??= this.#listen());
    this.#followers.add(follower);
    const from = since - slack;
    const isMissed = this.#remembered.some(({ at, change }) => at >= from && wants(change));
    if (isMissed || !(since >= this.#complete)) hear();
    return () => void this.#followers.delete(follower);
  }

  /** Tells the followers of this process alone, about what only it knows. */
  note(change: ToldChange): void {
    const now = this.#clock.now();
    const kept = this.#remembered.filter(({ at }) => at > now - rememberedFor).slice(1 - mostRemembered);
    this.#complete = Math.max(this.#complete, now - rememberedFor);
    this.#remembered = [...kept, { at: now, change }];
    for (const { wants, hear } of this.#followers) if (wants(change)) hear();
  }

  async close(): Promise<void> {
    await (await this.#listening?.catch(() => null))?.close();
  }

  #listen(): ReturnType<Database['listen']> {
    const hear = (message: string | null) => {
      if (message !== null) return this.note(changeIn(message));
      // What was told before, nobody here heard.
      this.#complete = this.#clock.now();
      for (const follower of this.#followers) follower.hear();
    };
    const deaf = () => (this.#complete = Infinity);
    const listening = this.#database.listen(channel, hear, deaf);
    listening.catch(() => (this.#listening = null));
    return listening;
  }
}
