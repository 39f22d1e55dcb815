import { createPrivateKey, randomUUID } from 'node:crypto';
import { createAppAuth } from '@octokit/auth-app';
import { Octokit } from '@octokit/core';
import { paginateRest } from '@octokit/plugin-paginate-rest';
import { restEndpointMethods } from '@octokit/plugin-rest-endpoint-methods';
import type { Logger } from 'pino';
import { Probot, type ProbotOctokit } from 'probot';
import { Answers, createCache } from './cache.ts';
import type { Clock } from '../time/clock.ts';
import type { Witnesses } from '../time/witnesses.ts';
import type { AppCredentials, Config, LockCredentials } from '../config.ts';
import { ApiAddress } from './api-address.ts';
import type { Grants } from './app-manifest.ts';
import { appToken } from './app-token.ts';
import { type Counting, fetchUntil } from './fetch-until.ts';
import { fetchThroughProxy } from './through-proxy.ts';
import type { AppOwner } from './app-credentials-store.ts';
import { classifyGitHubError } from './github-error.ts';
import { authenticate, InstallationToken } from './installation-token.ts';
import { KeyStanding, noting } from './key-standing.ts';
import { RateBudgets } from './ask-github.ts';

/**
 * Octokit without what Probot adds: each plugin works at every request. The job queue waits and retries, because that
 * survives a restart.
 */
export const Client = Octokit.plugin(restEndpointMethods, paginateRest);

/** A client with a credential. All three kinds have the same calls. */
export type GitHubClient = InstanceType<typeof Client>;

export type GitHubApp = {
  probot: Probot;
  /** As the App itself (a JWT): installations and where it is installed. */
  asApp(): Promise<GitHubClient>;
  /**
   * As an installation: everything in its repositories.
   * @param permissions that it granted, as far as the caller knows. If they changed, an older token is renewed.
   */
  asInstallation(installationId: bigint, permissions?: unknown): Promise<GitHubClient>;
  /** What GitHub last said about the hourly budgets of installations. */
  budgets: RateBudgets;
  /** As the person who holds a token. */
  asPerson(token: string): GitHubClient;
  /**
   * Asks a question of waiting clients. The same question is asked only once at a time.
   * @param question its key, which differs from that of every other question.
   */
  once<Answer>(question: string, ask: () => Promise<Answer>): Promise<Answer>;
  /** Since when GitHub has refused the key of the App; null if it accepts it, as far as this process knows. */
  keyRefusedSince(): Date | null;
  /** What to say while something else than GitHub's API answers at GITHUB_API_URL; null if nothing is known of that. */
  addressProblem(): string | null;
  /** The login of the App: `holdfast[bot]`. Asks GitHub once. */
  botLogin(): Promise<string>;
  /** The person or organization that the App belongs to, as of a minute ago at most; null: an enterprise. */
  owner(): Promise<AppOwner | null>;
  /** The name of the App, and its page at GitHub, as of a minute ago at most. */
  page(): Promise<AppPage>;
  /** The second App, which puts rulesets in force. */
  lock: LockApp;
};

/**
 * Connects Probot to GitHub at `githubApiUrl`. Makes no request yet.
 * @param cutOff ends every request under way.
 * @param loadLock reads the second App from the database; null if none was made.
 * @param witnesses hear the time that each answer of GitHub tells.
 */
export async function createGitHubApp(
  config: Config,
  log: Logger,
  clock: Clock,
  cutOff: AbortSignal,
  metrics: Counting,
  loadLock: () => Promise<LockCredentials | null> = async () => null,
  witnesses?: Pick<Witnesses, 'hearDate'>,
): Promise<GitHubApp> {
  const hear = ({ headers }: Response, askedAt: number) => witnesses?.hearDate(headers, askedAt);
  const fetchGitHub = fetchThroughProxy(config);
  const address = new ApiAddress(config.githubApiUrl, clock, log);
  const send = address.watch(fetchUntil(fetchGitHub, cutOff, metrics, hear, clock));
  const standing = new KeyStanding(clock, log);
  const requestBy = (fetch: typeof send) => ({ fetch, parseSuccessResponseBody: false });
  const connectAs = async (
    { id, privateKey, webhookSecret }: Identity,
    request: ReturnType<typeof requestBy>,
  ): Promise<Probot> => {
    const key = createPrivateKey(privateKey);
    const createJwt = () => appToken(id, key, clock.now());
    const probot = new Probot({
      appId: id,
      privateKey,
      secret: webhookSecret,
      // Below this level, Probot and Octokit log whole requests, with texts that people wrote.
      log: log.isLevelEnabled('debug') ? log.child({}, { level: 'info' }) : log,
      baseUrl: config.githubApiUrl,
      request,
      Octokit: Client.defaults(({ auth, ...options }: { auth?: object }) => ({
        ...options,
        authStrategy: createAppAuth,
        auth: auth && { ...auth, privateKey: undefined, createJwt },
      })) as typeof ProbotOctokit,
    });
    await probot.ready();
    return probot;
  };
  const probot = await connectAs(config.app, requestBy(noting(standing, send)));
  let botLogin: string | null = null;
  const connections = createCache<bigint, GitHubConnection>(clock, mostConnections, Infinity);
  const budgets = new RateBudgets(clock);
  const questions = new Answers<unknown>(clock, mostQuestions, () => 0);
  const ourselves = new Answers<{ owner: AppOwner | null; page: AppPage }>(clock, 1, () => 60_000);
  const askAboutUs = async () => {
    const { owner, name, html_url: url } = (await (await probot.auth()).rest.apps.getAuthenticated()).data!;
    const isKnown = owner && 'login' in owner;
    return {
      owner: isKnown ? { id: owner.id, login: owner.login, type: owner.type } : null,
      page: { name, url },
    };
  };
  /** A client of an installation, and the token that it sends. @param app whose installation it is. */
  const clientOf = (app: Probot, installationId: bigint): GitHubConnection => {
    const client = new Client({ baseUrl: config.githubApiUrl, request: requestBy(send), log: quiet });
    const token = new InstallationToken(clock, async () => {
      const { rest } = await app.auth();
      const { data } = await rest.apps.createInstallationAccessToken({
        installation_id: Number(installationId),
      });
      return { token: data.token, permissions: (data.permissions ?? {}) as Grants['permissions'] };
    });
    authenticate(client, token, cutOff);
    return { client, token };
  };
  const connect = (installationId: bigint): GitHubConnection => {
    const connection = clientOf(probot, installationId);
    const { client } = connection;
    client.hook.after('request', ({ headers }) => budgets.note(installationId, headers));
    client.hook.error('request', (error) => {
      if ('response' in error) budgets.note(installationId, error.response?.headers ?? {});
      throw error;
    });
    return connection;
  };
  return {
    probot,
    asApp: () => probot.auth(),
    async asInstallation(installationId, permissions) {
      const connection = connections.get(installationId) ?? connect(installationId);
      connections.set(installationId, connection);
      if (permissions !== undefined) await connection.token.follow(permissions as Grants['permissions']);
      return connection.client;
    },
    budgets,
    asPerson(token) {
      const client = new Client({ baseUrl: config.githubApiUrl, request: requestBy(send), log: quiet });
      // Octokit would send a text with two dots as if an App had signed it.
      client.hook.before('request', ({ headers }) => void (headers.authorization = `token ${token}`));
      return client;
    },
    once: (question, ask) => questions.get(question, ask) as ReturnType<typeof ask>,
    keyRefusedSince: () => standing.refusedSince(),
    addressProblem: () => address.problem(),
    async botLogin() {
      botLogin ??= `${(await (await probot.auth()).rest.apps.getAuthenticated()).data!.slug}[bot]`;
      return botLogin;
    },
    owner: async () => (await ourselves.get('', askAboutUs)).owner,
    page: async () => (await ourselves.get('', askAboutUs)).page,
    // It gets no webhooks, so nobody knows this secret.
    lock: createLockApp(clock, config.lock ?? null, loadLock, async (lock) => {
      const second = await connectAs({ ...lock, webhookSecret: randomUUID() }, requestBy(send));
      return {
        asApp: () => second.auth(),
        asInstallation: (id) => clientOf(second, id).client,
      };
    }),
  };
}

/** An App as people find it at GitHub. */
export type AppPage = { name: string; url: string };

type Identity = Pick<AppCredentials, 'id' | 'privateKey' | 'webhookSecret'>;

/** Clients are cached, with their tokens. */
type GitHubConnection = { client: GitHubClient; token: InstallationToken };

/** How many may be under way at once. */
const mostQuestions = 10_000;

const mostConnections = 500;

/** Octokit logs each failed request of a person with its URL. The caller logs it better. */
const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** For so many milliseconds we believe what the database said: another process may save or forget a second App. */
const lookAgain = 5000;
/** How many accounts' installations we remember, and for how long in milliseconds. */
const mostInstallations = 1000;
const installationsKept = 3_600_000;

/** A client of the second App for the App itself, and one for each installation. */
type LockClients = {
  asApp(): Promise<GitHubClient>;
  asInstallation(id: bigint): GitHubClient;
};

type LockApp = ReturnType<typeof createLockApp>;

/**
 * The second App. It puts rulesets in force and out of force, and has the permission Administration for that. It has
 * installations of its own. GitHub sends it no webhooks, so we ask where it is installed.
 */
function createLockApp(
  clock: Clock,
  given: LockCredentials | null,
  load: () => Promise<LockCredentials | null>,
  connect: (lock: LockCredentials) => Promise<LockClients>,
) {
  let installations = createCache<string, bigint>(clock, mostInstallations, installationsKept);
  let clients = createCache<bigint, GitHubClient>(clock, mostInstallations, installationsKept);
  let saved: Promise<LockCredentials | null> = Promise.resolve(null);
  let lookedAt = -Infinity;
  let connection: { id: number; clients: Promise<LockClients> } | null = null;

  async function credentials(): Promise<LockCredentials | null> {
    if (given) return given;
    if (clock.now() >= lookedAt + lookAgain) {
      lookedAt = clock.now();
      saved = load();
      saved.catch(() => (lookedAt = -Infinity));
    }
    return saved;
  }

  async function connected(): Promise<LockClients> {
    const present = await credentials();
    if (present === null) throw new Error('There is no second App');
    if (connection?.id !== present.id) {
      installations = createCache(clock, mostInstallations, installationsKept);
      clients = createCache(clock, mostInstallations, installationsKept);
      connection = { id: present.id, clients: connect(present) };
      connection.clients.catch(() => (connection = null));
    }
    return connection.clients;
  }

  /** As the App itself (a JWT). @throws if there is no second App; GitHub's error. */
  const asApp = async (): Promise<GitHubClient> => (await connected()).asApp();

  async function find(owner: string, repo: string): Promise<bigint> {
    const { data } = await (await asApp()).rest.apps.getRepoInstallation({ owner, repo });
    return BigInt(data.id);
  }

  /**
   * GitHub refused us on an account: next time, asks where we are installed there, and for a token with the permissions
   * of then.
   */
  function forget(owner: string): void {
    const installation = installations.get(owner.toLowerCase());
    installations.delete(owner.toLowerCase());
    if (installation !== undefined) clients.delete(installation);
  }

  /** A client for a repository. @throws if there is no second App; GitHub's error: 404 if it is not installed there. */
  async function forRepository(owner: string, repo: string): Promise<GitHubClient> {
    const key = owner.toLowerCase();
    const { asInstallation } = await connected();
    const known = installations.get(key) ?? (await find(owner, repo));
    installations.set(key, known);
    const client = clients.get(known) ?? asInstallation(known);
    clients.set(known, client);
    return client;
  }

  /**
   * Works as it on a repository. If GitHub refuses, tries again without what we remember: it may have been installed
   * again under another id, or have got a permission since.
   * @throws what `work` throws, and what `forRepository` throws.
   */
  async function asLock<Result>(
    owner: string,
    repo: string,
    work: (client: GitHubClient) => Promise<Result>,
    isLast = false,
  ): Promise<Result> {
    const isRemembered = installations.get(owner.toLowerCase()) !== undefined;
    try {
      return await work(await forRepository(owner, repo));
    } catch (error) {
      const { kind } = classifyGitHubError(error, clock.now());
      if (kind !== 'absent' && kind !== 'forbidden') throw error;
      forget(owner);
      if (!isRemembered || isLast) throw error;
      return asLock(owner, repo, work, true);
    }
  }

  return {
    /** Its id; null while there is none. */
    id: async (): Promise<number | null> => (await credentials())?.id ?? null,
    /** Asks the database next time: one was just made or forgotten. */
    lookAgain: () => void (lookedAt = -Infinity),
    asApp,
    asLock,
    forget,
  };
}
