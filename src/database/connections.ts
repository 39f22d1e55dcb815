// Connections to PostgreSQL on which nobody waits for ever. A way to it can end without a word: a failover, a network that
// parts, a firewall that forgets. TCP then tries for a quarter of an hour.
import pg from 'pg';
import { within } from '../time/clock.ts';
import type { KnownTrouble } from './known-trouble.ts';
import {
  connectionPatience,
  noteAnswer,
  noteSilence,
  patienceLeft,
  statementPatience,
  tooLate,
} from './patience.ts';
import { DatabaseTrouble, explainTrouble } from './trouble.ts';

type ConnectionSettings = pg.ClientConfig & { connections: Connections };

/** However `pg` declares it. */
type Callback = (error: never, result: never) => void;

/**
 * What each connection asks of PostgreSQL: to give up what nobody waits for any more, and clients that are gone. Else the
 * locks of a transaction whose client was cut off would stand in everybody's way.
 */
const sessionSettings = `SELECT ${Object.entries({
  statement_timeout: statementPatience,
  idle_in_transaction_session_timeout: statementPatience,
  // Seconds.
  tcp_keepalives_idle: 30,
  tcp_keepalives_interval: 10,
  tcp_keepalives_count: 3,
})
  .map(([name, value]) => `set_config('${name}', '${value}', false)`)
  .join(', ')}`;

/** The open connections to one database, and what is known to be wrong with it. */
export class Connections {
  readonly #through: pg.ClientConfig;
  readonly #open = new Set<Client>();
  readonly trouble: KnownTrouble;

  constructor(connectionString: string, trouble: KnownTrouble) {
    this.trouble = trouble;
    this.#through = {
      connectionString,
      // The kernel finds out within seconds that an idle connection is gone, and firewalls do not forget it.
      keepAlive: true,
      keepAliveInitialDelayMillis: 5_000,
      connectionTimeoutMillis: connectionPatience,
    };
  }

  /** A connection that is not open yet. @param pipeline several statements can be sent through it at once. */
  client({ pipeline }: { pipeline: boolean }): pg.Client {
    return new Client({ ...this.#through, pipeline, connections: this } as ConnectionSettings);
  }

  pool(options: pg.PoolConfig): pg.Pool {
    const through = { ...this.#through, pipeline: true, connections: this, Client };
    return new Pool({ ...through, ...options } as pg.PoolConfig & ConnectionSettings);
  }

  add(client: Client): void {
    this.#open.add(client.once('end', () => this.#open.delete(client)));
  }

  /** Closes idle connections that have heard nothing since an instant: they may lead nowhere, too. */
  renew(since: number): void {
    for (const client of this.#open) if (client.isIdleSince(since)) client.cut();
  }

  /** Closes all of them, whatever they wait for. */
  cut(): void {
    for (const client of this.#open) client.cut();
  }

  /** @returns the error to throw. */
  explain(error: unknown, wasAsked: boolean): unknown {
    const explained = explainTrouble(error, wasAsked);
    return explained instanceof DatabaseTrouble && explained !== error ? this.noted(explained) : explained;
  }

  noted(trouble: DatabaseTrouble): DatabaseTrouble {
    this.trouble.note(trouble);
    return trouble;
  }
}

/** One connection. It is closed when an answer does not come in time. */
class Client extends pg.Client {
  readonly #connections: Connections;
  #unanswered = 0;
  #heardAt = performance.now();
  /** We closed it ourselves: that is no news. */
  #isCut = false;

  constructor(settings: ConnectionSettings) {
    super(settings);
    this.#connections = settings.connections;
    // The next statement fails with it. Unhandled, it would end the process.
    this.on('error', () => {});
  }

  override connect(callback?: Callback): Promise<never> {
    return answerTo(callback, this.#open()) as Promise<never>;
  }

  async #open(): Promise<this> {
    this.#connections.add(this);
    try {
      await super.connect();
      await super.query({ text: sessionSettings, query_timeout: connectionPatience } as pg.QueryConfig);
      return this;
    } catch (error) {
      const explained = this.#noted(error, false);
      this.cut();
      throw explained;
    }
  }

  override emit(event: string | symbol, ...given: unknown[]): boolean {
    return event === 'error' ? super.emit(event, this.#noted(given[0], true)) : super.emit(event, ...given);
  }

  override query(asked: string | pg.QueryConfig, values?: unknown, callback?: unknown): never {
    const last = [values, callback].find((each) => typeof each === 'function') as Callback | undefined;
    const given = typeof values === 'function' ? undefined : (values as unknown[] | undefined);
    const statement = typeof asked === 'string' ? { text: asked } : asked;
    return answerTo(last, this.#ask(statement, given)) as never;
  }

  async #ask(statement: pg.QueryConfig, values: unknown[] | undefined): Promise<pg.QueryResult> {
    const askedAt = performance.now();
    const left = patienceLeft();
    if (left <= 0) throw tooLate();
    this.#unanswered++;
    try {
      // It counts from the first statement on. PostgreSQL answers in order, so those before it are late as well.
      const limited = { ...statement, query_timeout: left } as pg.QueryConfig;
      const result = await super.query(limited, values);
      this.#hear();
      this.#connections.trouble.noteAnswer(askedAt);
      return result;
    } catch (error) {
      throw this.#explain(error, askedAt);
    } finally {
      this.#unanswered--;
    }
  }

  #hear(): void {
    this.#heardAt = performance.now();
    noteAnswer();
  }

  #explain(error: unknown, askedAt: number): unknown {
    const explained = this.#noted(error, true);
    if (error instanceof pg.DatabaseError) this.#hear();
    if (!(explained instanceof DatabaseTrouble)) return explained;
    const isSilent = explained.kind === 'silent' && explained.isUncertain;
    if (isSilent) noteSilence();
    // After a failover, the old server may go on as a replica. A new connection looks up where the primary is.
    if (isSilent || explained.kind === 'read_only') {
      this.cut();
      this.#connections.renew(explained.kind === 'read_only' ? performance.now() : askedAt);
    }
    return explained;
  }

  #noted(error: unknown, wasAsked: boolean): unknown {
    return this.#isCut ? explainTrouble(error, wasAsked) : this.#connections.explain(error, wasAsked);
  }

  isIdleSince(since: number): boolean {
    return this.#unanswered === 0 && this.#heardAt < since;
  }

  cut(): void {
    this.#isCut = true;
    this.connection.stream.destroy();
  }
}

/** Connections that are used again, and waited for if there are too many askers. */
class Pool extends pg.Pool {
  readonly #connections: Connections;

  constructor(settings: pg.PoolConfig & ConnectionSettings) {
    super(settings);
    this.#connections = settings.connections;
    // If an idle connection breaks, the next use replaces it.
    this.on('error', () => {});
  }

  override connect(callback?: unknown): Promise<never> {
    return answerTo(callback as Callback | undefined, this.#take(), true) as Promise<never>;
  }

  /** A connection that breaks fails the statement, and is replaced. */
  override async query(asked: unknown, values?: unknown): Promise<never> {
    const client = await this.#take();
    let broken: Error | undefined;
    try {
      return (await client.query(asked as pg.QueryConfig, values as unknown[])) as never;
    } catch (error) {
      if (error instanceof DatabaseTrouble) broken = error;
      throw error;
    } finally {
      client.release(broken);
    }
  }

  async #take(): Promise<pg.PoolClient> {
    const left = patienceLeft();
    if (left <= 0) throw tooLate();
    const given = super.connect();
    try {
      if (this.idleCount > 0) return await given;
      const client = await within(left, given);
      if (client) return client;
    } catch (error) {
      throw this.#connections.explain(error, false);
    }
    given.then(
      (client) => client.release(),
      () => {},
    );
    noteSilence();
    throw this.#connections.noted(tooLate());
  }
}

/** Answers as `pg` does: to a callback, if there is one. @param releases whether it gets a third argument that gives the result back. */
function answerTo<Result>(callback: Callback | undefined, answer: Promise<Result>, releases = false) {
  if (!callback) return answer;
  const give = callback as (error: unknown, result?: Result, release?: unknown) => void;
  answer.then(
    (result) =>
      releases ? give(undefined, result, (result as pg.PoolClient).release) : give(undefined, result),
    (error: unknown) => (releases ? give(error, undefined, () => {}) : give(error)),
  );
  return undefined;
}
