import type { Clock } from '../time/clock.ts';
import type { LockCredentials } from '../config.ts';
import { type Cache, createCache } from './cache.ts';
import type { GitHubClient } from './github-app.ts';

type Clients = {
  asApp(): Promise<GitHubClient>;
  asInstallation(id: bigint): Promise<GitHubClient>;
};

/** For so many milliseconds we believe what the database said: another process may save or forget a second App. */
const lookAgain = 5000;
/** How many accounts' installations we remember, and for how long in milliseconds. */
const mostInstallations = 1000;
const installationsKept = 3_600_000;

/**
 * The second App. It puts rulesets in force and out of force, and has the permission Administration for that. It has
 * installations of its own. GitHub sends it no webhooks, so we ask where it is installed.
 */
export class LockApp {
  readonly #clock: Clock;
  readonly #given: LockCredentials | null;
  readonly #load: () => Promise<LockCredentials | null>;
  readonly #connect: (lock: LockCredentials) => Promise<Clients>;
  #installations!: Cache<string, bigint>;
  #clients!: Cache<bigint, Promise<GitHubClient>>;
  #saved: Promise<LockCredentials | null> = Promise.resolve(null);
  #lookedAt = -Infinity;
  #connection: { id: number; clients: Promise<Clients> } | null = null;

  constructor(
    clock: Clock,
    given: LockCredentials | null,
    load: () => Promise<LockCredentials | null>,
    connect: (lock: LockCredentials) => Promise<Clients>,
  ) {
    this.#clock = clock;
    this.#given = given;
    this.#load = load;
    this.#connect = connect;
    this.#forgetAll();
  }

  #forgetAll(): void {
    this.#installations = createCache(this.#clock, mostInstallations, installationsKept);
    this.#clients = createCache(this.#clock, mostInstallations, installationsKept);
  }

  /** Its id; null while there is none. */
  async id(): Promise<number | null> {
    return (await this.#credentials())?.id ?? null;
  }

  /** Asks the database next time: one was just made or forgotten. */
  lookAgain(): void {
    this.#lookedAt = -Infinity;
  }

  async #credentials(): Promise<LockCredentials | null> {
    if (this.#given) return this.#given;
    if (this.#clock.now() >= this.#lookedAt + lookAgain) {
      this.#lookedAt = this.#clock.now();
      this.#saved = this.#load();
      this.#saved.catch(() => this.lookAgain());
    }
    return this.#saved;
  }

  /** As the App itself (a JWT). @throws if there is no second App; GitHub's error. */
  async asApp(): Promise<GitHubClient> {
    return (await this.#connected()).asApp();
  }

  /** A client for a repository. @throws if there is no second App; GitHub's error: 404 if it is not installed there. */
  async forRepository(owner: string, repo: string): Promise<GitHubClient> {
    const key = owner.toLowerCase();
    await this.#connected();
    const known = this.#installations.get(key) ?? (await this.#find(owner, repo));
    this.#installations.set(key, known);
    const client = this.#clients.get(known) ?? this.#clientOf(known);
    this.#clients.set(known, client);
    client.catch(() => this.forget(owner));
    return client;
  }

  /** Whether we know where we are installed on an account without asking GitHub: it may not be so any more. */
  remembers(owner: string): boolean {
    return this.#installations.get(owner.toLowerCase()) !== undefined;
  }

  /**
   * GitHub refused us on an account: next time, asks where we are installed there, and for a token with the permissions of
   * then.
   */
  forget(owner: string): void {
    const installation = this.#installations.get(owner.toLowerCase());
    this.#installations.delete(owner.toLowerCase());
    if (installation !== undefined) this.#clients.delete(installation);
  }

  async #find(owner: string, repo: string): Promise<bigint> {
    const { data } = await (await this.asApp()).rest.apps.getRepoInstallation({ owner, repo });
    return BigInt(data.id);
  }

  async #clientOf(installationId: bigint): Promise<GitHubClient> {
    const client = await (await this.#connected()).asInstallation(installationId);
    // The library keeps a token for an hour, whatever becomes of it.
    await client.auth({ type: 'installation', refresh: true });
    return client;
  }

  async #connected(): Promise<Clients> {
    const credentials = await this.#credentials();
    if (credentials === null) throw new Error('There is no second App');
    if (this.#connection?.id !== credentials.id) {
      this.#forgetAll();
      this.#connection = { id: credentials.id, clients: this.#connect(credentials) };
    }
    return this.#connection.clients;
  }
}
