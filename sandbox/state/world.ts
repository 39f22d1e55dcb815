import type {
  Account,
  Installation,
  InstallationToken,
  PullRequest,
  Repository,
  UserToken,
} from './model.ts';
import { FormerVersions } from './former-versions.ts';
import { MergeStates } from './merge-states.ts';
import { OidcKeys } from './oidc-keys.ts';
import { SignIns } from './sign-ins.ts';
import { decodeNodeId, IdSource } from './ids.ts';
import { RulesetFaults } from './ruleset-faults.ts';

export interface AppIdentity {
  id: number;
  slug: string;
  clientId: string;
  clientSecret: string;
  /** The allowed addresses after a sign-in, exactly. */
  callbackUrls: string[];
  name: string;
  /** PEM; the public half verifies the App's JWTs. */
  privateKey: string;
  webhookSecret: string;
  /** The permissions that the App asks for when it is installed. */
  permissions: Record<string, 'read' | 'write'>;
  /** The webhook events that the App subscribes to, without those that every App gets. */
  events: string[];
  /** Its owner; without it, nobody that the sandbox knows. */
  owner?: Account;
  /** Made from a manifest: whether other accounts than its owner's can install it. */
  isPublic?: boolean;
  homepage?: string;
  /** Where GitHub sends people after the installation. */
  setupUrl?: string;
}

/** Everything that the sandbox knows, with lookups like GitHub's: names match case-insensitively. */
export class World {
  readonly ids = new IdSource('holdfast');
  readonly accounts = new Map<string, Account>();
  readonly repositories = new Map<number, Repository>();
  /** By the number in their node ids, of deleted repositories too. */
  readonly pullRequests = new Map<number, PullRequest>();
  /** By each SHA that was ever their head: benchmarks have thousands, and every status asks for its own. */
  readonly #byHead = new Map<string, Set<PullRequest>>();
  readonly installations = new Map<number, Installation>();
  readonly userTokens = new Map<string, UserToken>();
  readonly installationTokens = new Map<string, InstallationToken>();
  /** Old `owner/name` in lower case to repository id. A repository that takes over the name wins. */
  readonly formerNames = new Map<string, number>();
  readonly formerVersions = new FormerVersions();
  readonly mergeStates: MergeStates;
  readonly signIns = new SignIns();
  readonly oidcKeys = new OidcKeys();
  /** The App under test; null until somebody makes it. */
  registeredApp: AppIdentity | null;
  /** Apps that edit rulesets and get no webhooks, in the order in which people made them. */
  readonly secondApps: AppIdentity[] = [];
  /** What its answers about rulesets get wrong. */
  readonly rulesetFaults = new RulesetFaults();
  /** Unused conversion codes of the manifest flow. */
  readonly manifestCodes = new Map<string, { app: AppIdentity; expiresAt: number }>();
  readonly now: () => Date;
  /** What it would show if it had not just been set. */
  readonly before: () => Date;
  url = '';
  /** Milliseconds that the clock in answers is ahead of `now`. */
  clockAhead = 0;

  constructor(app: AppIdentity | null, now: () => Date, before = now) {
    this.registeredApp = app;
    this.now = now;
    this.before = before;
    this.mergeStates = new MergeStates(now);
  }

  get app(): AppIdentity {
    return found(this.registeredApp ?? undefined, 'App: make one at /settings/apps/new');
  }

  findAccount(login: string): Account | undefined {
    return this.accounts.get(login.toLowerCase());
  }

  account(login: string): Account {
    return found(this.findAccount(login) ?? this.findAccount(`${login}[bot]`), `account ${login}`);
  }

  findRepository(fullName: string): Repository | undefined {
    const wanted = fullName.toLowerCase();
    return this.repositories.values().find((repository) => fullNameOf(repository).toLowerCase() === wanted);
  }

  /** A repository by a name that it had before. */
  findRenamed(fullName: string): Repository | undefined {
    const id = this.formerNames.get(fullName.toLowerCase());
    return id === undefined ? undefined : this.repositories.get(id);
  }

  repository(fullName: string): Repository {
    return found(this.findRepository(fullName) ?? this.findRenamed(fullName), `repository ${fullName}`);
  }

  pullRequest(fullName: string, number: number): PullRequest {
    return found(this.repository(fullName).pullRequests.get(number), `pull request ${fullName}#${number}`);
  }

  /** The newest second App. */
  get secondApp(): AppIdentity | undefined {
    return this.secondApps.at(-1);
  }

  /** All Apps. */
  get apps(): AppIdentity[] {
    return [this.registeredApp, ...this.secondApps].filter((app) => app !== null);
  }

  /** @param app by default the App under test. */
  installationOf(account: Account, app = this.registeredApp): Installation | undefined {
    return this.installations
      .values()
      .find((installation) => installation.account === account && installation.app === app);
  }

  /** The installation that covers a repository, suspended or not. */
  installationFor(repository: Repository, app = this.registeredApp): Installation | undefined {
    const installation = this.installationOf(repository.owner, app);
    return installation && covers(installation, repository) ? installation : undefined;
  }

  repositoriesOf(installation: Installation): Repository[] {
    return [...this.repositories.values()].filter((repository) => covers(installation, repository));
  }

  /** Open pull requests of a repository whose head is this SHA. */
  pullRequestsAt(repository: Repository, sha: string): PullRequest[] {
    return [...(this.#byHead.get(sha) ?? [])]
      .filter((pr) => pr.head.sha === sha && pr.state === 'open' && pr.repository === repository)
      .sort((one, other) => one.number - other.number);
  }

  /** Call it whenever a pull request has another head. */
  noteHead(pr: PullRequest): void {
    const all = this.#byHead.get(pr.head.sha) ?? new Set();
    this.#byHead.set(pr.head.sha, all.add(pr));
  }

  /** What a node id points at. */
  findNode(id: string): Account | Repository | PullRequest | undefined {
    const node = decodeNodeId(id);
    if (!node) return undefined;
    if (node.type === 'Repository') return this.repositories.get(node.ids[0]!);
    if (node.type === 'PullRequest') {
      const pr = this.pullRequests.get(node.ids[1]!);
      return pr?.nodeId === id && this.repositories.has(pr.repository.id) ? pr : undefined;
    }
    return this.accounts.values().find((account) => account.nodeId === id);
  }
}

export function fullNameOf(repository: Repository): string {
  return `${repository.owner.login}/${repository.name}`;
}

export function covers(installation: Installation, repository: Repository): boolean {
  if (repository.owner !== installation.account) return false;
  return installation.selection === 'all' || installation.repositoryIds.has(repository.id);
}

function found<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`The sandbox has no ${what}`);
  return value;
}
