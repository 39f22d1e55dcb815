import type { Clock } from '../clock.ts';
import type { LockCredentials } from '../config.ts';
import { createCache } from './cache.ts';
import type { GitHubClient } from './github-app.ts';

type Clients = {
  asApp(): Promise<GitHubClient>;
  asInstallation(id: bigint): Promise<GitHubClient>;
};

/** Milliseconds until we ask the database again for a second App that another process may have saved. */
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
  readonly #load: () => Promise<LockCredentials | null>;
  readonly #connect: (lock: LockCredentials) => Promise<Clients>;
  readonly #installations;
  readonly #clients;
  #credentials: LockCredentials | null;
  #connection: Promise<Clients> | null = null;
  #lookedAt = -Infinity;

  constructor(
    clock: Clock,
    given: LockCredentials | null,
    load: () => Promise<LockCredentials | null>,
    connect: (lock: LockCredentials) => Promise<Clients>,
  ) {
    this.#clock = clock;
    this.#credentials = given;
    this.#load = load;
    this.#connect = connect;
    this.#installations = createCache<string, bigint>(clock, mostInstallations, installationsKept);
    this.#clients = createCache<bigint, Promise<GitHubClient>>(clock, mostInstallations, installationsKept);
  }

  /** Its id; null while there is none. */
  async id(): Promise<number | null> {
    if (this.#credentials === null && this.#clock.now() >= this.#lookedAt + lookAgain) {
      this.#lookedAt = this.#clock.now();
      this.#credentials = await this.#load();
    }
    return this.#credentials?.id ?? null;
  }

  use(credentials: LockCredentials): void {
    this.#credentials = credentials;
  }

  /** As the App itself (a JWT). @throws if there is no second App; GitHub's error. */
  async asApp(): Promise<GitHubClient> {
    return (await this.#connected()).asApp();
  }

  /** A client for a repository. @throws if there is no second App; GitHub's error: 404 if it is not installed there. */
  async forRepository(owner: string, repo: string): Promise<GitHubClient> {
    const key = owner.toLowerCase();
    const known = this.#installations.get(key) ?? (await this.#find(owner, repo));
    this.#installations.set(key, known);
    const client = this.#clients.get(known) ?? this.#clientOf(known);
    this.#clients.set(known, client);
    client.catch(() => this.forget(owner));
    return client;
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
    if ((await this.id()) === null) throw new Error('There is no second App');
    return (this.#connection ??= this.#connect(this.#credentials!));
  }
}
