import type { Clock } from '../time/clock.ts';
import { askGitHub, reservedUntil, type ReserveUse } from '../github/ask-github.ts';
import { type Cache, createCache } from '../github/cache.ts';
import type { GitHubClient } from '../github/github-app.ts';
import { nullIf404 } from '../github/github-error.ts';
import { isUnavailable } from '../errors.ts';
import type { InstalledAccount } from '../installations/find-account.ts';
import { type FoundRepository, fullName } from '../installations/find-repository.ts';
import { type RolePlace, askLogin } from '../settings/role-holders.ts';
import {
  askTokenHolder,
  isActiveAdmin,
  membershipOfHolder,
  type Person,
  standingOfHolder,
  type TokenHolder,
  type TrialVerdict,
  tryOnOrganization,
  tryOnRepository,
} from './github-token.ts';
import { askMembership, isInOwnTeam } from './team-membership.ts';
import { unlessRefused, VerdictCache } from './verdict-cache.ts';
import type { TeamHolder } from '../installations/setting-fields.ts';
import type { AuthDeps } from './auth-deps.ts';

/** What a person can do with a repository. `none`: to them it must look as if it did not exist. */
export type RepositoryPermission = 'admin' | 'write' | 'read' | 'none';

/** Which answers of GitHub are recent enough. Without either, a yes counts for 60 s and a no for 10 s. */
export type Recency = {
  /** Asks GitHub at this moment. Of earlier answers, only a no counts, for 10 s. */
  isLive?: boolean;
  /**
   * If the rest of the installation's hour is reserved, the last answer counts for an hour. For what holds pull requests:
   * nobody can keep an admin from freezing by using up the hour.
   */
  isUrgent?: boolean;
  /**
   * For what ends, shortens or releases: GitHub is asked from what is reserved of the hour too. If all of it is used up,
   * the token that the person sent is asked instead, at its own cost.
   */
  releases?: boolean;
};

type Owner = RolePlace['account'] & Pick<RolePlace, 'installation'>;

/** Milliseconds for which a token that GitHub does not know is refused without another question. */
const refusedFor = 600_000;
/** Milliseconds for which an admin stays one for what is urgent, and questions about a yes may use what is reserved. */
const lastFor = 3_600_000;

const isNobody = (holder: TokenHolder | null): boolean => holder === null;

/** What GitHub says about people and their tokens. Caches the answers briefly. */
export class Permissions {
  readonly #holders: VerdictCache<TokenHolder | null>;
  readonly #trials: VerdictCache<TrialVerdict>;
  /** A page shows something to every reader. Its forms are counted. */
  readonly #ofReaders: VerdictCache<RepositoryPermission>;
  readonly #ofAdmins: VerdictCache<RepositoryPermission>;
  readonly #teams: VerdictCache<boolean>;
  /** People and what they were admins of, or could write to, when GitHub was last asked. */
  readonly #last: Cache<string, 'admin' | 'write'>;
  /** People and the teams that they were in. */
  readonly #lastMembers: Cache<string, true>;

  constructor(clock: Clock) {
    this.#holders = new VerdictCache(clock, { isYes: (holder) => !isNobody(holder), noLife: refusedFor });
    this.#trials = new VerdictCache(clock, { isYes: (verdict) => verdict === 'yes' });
    this.#ofReaders = new VerdictCache(clock, { isYes: (permission) => permission !== 'none' });
    this.#ofAdmins = new VerdictCache(clock, {
      isYes: (permission) => permission === 'admin',
      isNo: (permission) => permission === 'none' || permission === 'read',
    });
    this.#teams = new VerdictCache(clock, { isYes: (isMember) => isMember });
    this.#last = createCache(clock, 10_000, lastFor);
    this.#lastMembers = createCache(clock, 10_000, lastFor);
  }

  /** Who holds the token, and its limits; null if GitHub does not know it or it belongs to no person. */
  async holderOf(deps: AuthDeps, token: string): Promise<TokenHolder | null> {
    const ask = () => askGitHub(deps, 'caller', 'whose token this is', () => askTokenHolder(deps, token));
    return this.#holders.get([token], () => deps.questions?.whoIs(token, isNobody, ask) ?? ask());
  }

  /** Whether the token itself can administer the repository, for tokens without scopes. */
  async tryRepository(
    deps: AuthDeps,
    token: string,
    repository: Pick<FoundRepository, 'id' | 'private' | 'name' | 'account'>,
    { isLive }: Recency = {},
  ): Promise<TrialVerdict> {
    const ask = () => askAsHolder(deps, fullName(repository), () => tryOnRepository(deps, token, repository));
    return this.#trials.get([token, 'repository', String(repository.id)], ask, isLive);
  }

  /** Whether the token itself can administer the organization, for tokens without scopes. */
  async tryOrganization(
    deps: AuthDeps,
    token: string,
    { id, login }: InstalledAccount,
  ): Promise<TrialVerdict> {
    const ask = () => askAsHolder(deps, login, () => tryOnOrganization(deps, token, login));
    return this.#trials.get([token, 'organization', String(id)], ask);
  }

  /** Which of these rights in a repository a person had when GitHub last said so, within the hour. Asks nothing. */
  hadRight(person: Pick<Person, 'id'>, { id }: Pick<FoundRepository, 'id'>): 'admin' | 'write' | undefined {
    return this.#last.get(`${person.id} repository ${id}`);
  }

  /**
   * What a person may do with a repository, asked as the installation. While that is suspended, only a token that the
   * person sent can show it.
   * @param token the one that the person sent; null on pages.
   * @throws Refusal unavailable while GitHub cannot say; too-many-requests after too many questions of this caller.
   */
  async ofRepository(
    deps: AuthDeps,
    person: Person,
    repository: FoundRepository,
    recency: Recency = {},
    token: string | null = null,
  ): Promise<RepositoryPermission> {
    const about = `repository ${repository.id}`;
    const name = fullName(repository);
    if (repository.installation.suspendedAt) {
      if (token === null) return 'none';
      const ask = () => askAsHolder(deps, name, () => standingOfHolder(deps, token, repository.id));
      const isAdmin = async () => adminIf((await ask()) === 'admin');
      return this.#ofAdmins.get([token, about], isAdmin, recency.isLive);
    }
    const question = `what ${person.login} may do with ${name}`;
    const askToken = (token: string) => standingOfHolder(deps, token, repository.id);
    return this.#asInstallation(deps, person, repository, { about, question, askToken }, recency, token, () =>
      askPermission(deps, person, repository),
    );
  }

  /** Whether the person is the owner, or an admin of the organization. Parameters and errors as `ofRepository`. */
  async isOwnerAdmin(
    deps: AuthDeps,
    person: Person,
    owner: Owner,
    recency: Recency = {},
    token: string | null = null,
  ): Promise<boolean> {
    if (BigInt(person.id) === owner.id) return true;
    const about = `owner ${owner.id}`;
    if (owner.installation.suspendedAt) {
      if (token === null) return false;
      const ask = () => askAsHolder(deps, owner.login, () => membershipOfHolder(deps, token, owner));
      const isAdmin = async () => adminIf((await ask()) === 'admin');
      return (await this.#ofAdmins.get([token, about], isAdmin)) === 'admin';
    }
    if (owner.type !== 'Organization') return false;
    const question = `whether ${person.login} is an admin of ${owner.login}`;
    const ask = async () => adminIf(await askOwnerAdmin(deps, person, owner));
    const askToken = async (token: string) => {
      const membership = await membershipOfHolder(deps, token, owner);
      return membership && adminIf(membership === 'admin');
    };
    const asked = { about, question, askToken };
    return (await this.#asInstallation(deps, person, owner, asked, recency, token, ask)) === 'admin';
  }

  /**
   * Whether a person is in one of these teams of the organization, or in a child team of one. Who was only invited is not.
   * GitHub is asked by ids, because the names of people, teams and organizations change hands. Parameters and errors as
   * `ofRepository`.
   */
  async isInTeam(
    deps: AuthDeps,
    person: Person,
    place: RolePlace,
    teams: TeamHolder[],
    { isLive, releases }: Recency = {},
    token: string | null = null,
  ): Promise<boolean> {
    const { account, installation } = place;
    const known = teams.filter(({ teamId }) => typeof teamId === 'number');
    if (account.type !== 'Organization' || installation.suspendedAt || known.length === 0) return false;
    const ids = [person.id, account.id, ...known.map(({ teamId }) => teamId!)].map(String);
    const last = ids.join(' ');
    const ask = <Answer>(about: string, question: (client: GitHubClient) => Promise<Answer>) =>
      askGitHub(
        deps,
        installation.id,
        about,
        async () => question(await deps.github.asInstallation(installation.id)),
        reserveUse(releases, this.#lastMembers.get(last)),
      );
    const askAll = async (): Promise<boolean> => {
      // Answers about memberships have no id of the person, so the login must be the one of today.
      const about = `which login ${person.login} has`;
      const login = await ask(about, (client) => askLogin(client, person.id));
      if (login === null) return false;
      let unanswered: unknown = null;
      for (const { team, teamId } of known)
        try {
          const about = `whether ${login} is in @${account.login}/${team}`;
          if (await ask(about, (client) => askMembership(deps, client, account.id, teamId!, login)))
            return true;
        } catch (error) {
          if (!isUnavailable(error)) throw error;
          unanswered = error;
        }
      if (unanswered !== null) throw unanswered as Error;
      return false;
    };
    const byToken =
      releases && token !== null ? () => isInOwnTeam(deps, token, person, account, known) : null;
    const remembered = async (): Promise<boolean> => {
      const isMember = await orByToken(askAll(), byToken);
      if (isMember) this.#lastMembers.set(last, true);
      else this.#lastMembers.delete(last);
      return isMember;
    };
    return this.#teams.get(ids, remembered, isLive);
  }

  async #asInstallation(
    deps: AuthDeps,
    { id, login }: Person,
    { installation }: Pick<RolePlace, 'installation'>,
    { about, question, askToken }: Asked,
    { isLive, isUrgent, releases }: Recency,
    token: string | null,
    ask: () => Promise<RepositoryPermission>,
  ): Promise<RepositoryPermission> {
    const last = `${id} ${about}`;
    const wasAdmin = () => this.#last.get(last) === 'admin';
    if (isUrgent && wasAdmin() && reservedUntil(deps, installation.id) !== null) return 'admin';
    const verdicts = token === null ? this.#ofReaders : this.#ofAdmins;
    const remembered = async () => {
      const use = reserveUse(releases, wasAdmin());
      const asked = askGitHub(deps, installation.id, question, ask, use);
      let isByToken = false;
      const askAtOwnCost = async (own: string) => {
        isByToken = true;
        const shown = await askGitHub(deps, 'caller', question, () => askToken(own));
        // A narrow token shows less than its holder can do.
        return shown !== 'admin' && wasAdmin() ? null : shown;
      };
      const byToken = releases && token !== null ? () => askAtOwnCost(token) : null;
      const permission = await orByToken(asked, byToken);
      if (permission === 'admin' || permission === 'write') this.#last.set(last, permission);
      else if (!isByToken) this.#last.delete(last);
      return permission;
    };
    return verdicts.get([token ?? '', String(id), login, about], remembered, isLive);
  }
}

/**
 * What is asked as the installation. @property askToken asks as the holder of a token, who pays; null if GitHub does not
 * show it to them.
 */
type Asked = {
  about: string;
  question: string;
  askToken(token: string): Promise<RepositoryPermission | null>;
};

/**
 * The answer to the installation. While GitHub gives it none, the answer to the token that the person sent, if there is one.
 * What a token does not show is unknown: it may be made for less than its holder can do.
 */
const orByToken = <Answer>(
  asked: Promise<Answer>,
  askToken: (() => Promise<Answer | null>) | null,
): Promise<Answer> =>
  asked.catch(async (error: unknown) => {
    const answer = askToken && isUnavailable(error) ? await askToken() : null;
    if (answer === null) throw error;
    return answer;
  });

const reserveUse = (releases = false, wasAllowed = false): ReserveUse =>
  !releases ? 'no' : wasAllowed ? 'freely' : 'counted';

const adminIf = (isAdmin: boolean): RepositoryPermission => (isAdmin ? 'admin' : 'none');

/** Asks what a token may do, at the cost of its holder. */
const askAsHolder = <Answer>(deps: AuthDeps, name: string, ask: () => Promise<Answer>): Promise<Answer> =>
  askGitHub(deps, 'caller', `what this token may do with ${name}`, ask);

/**
 * Asks GitHub, as the installation, what a person can do with a repository. By id, because the name may belong to
 * another repository by now. An answer about another person does not count: a login can get another owner, too.
 * @throws GitHub's errors that give no verdict.
 */
export const askPermission = (
  deps: Pick<AuthDeps, 'github' | 'clock'>,
  person: Person,
  { id, installation }: Pick<FoundRepository, 'id' | 'installation'>,
): Promise<RepositoryPermission> =>
  unlessRefused<RepositoryPermission>(deps, 'none', async () => {
    const client = await deps.github.asInstallation(installation.id);
    const answer = await askAbout(client, person, async (username) => {
      const path = 'GET /repositories/{repository_id}/collaborators/{username}/permission';
      return (await client.request(path, { repository_id: Number(id), username })) as {
        data: { permission: RepositoryPermission; user?: { id: number } | null };
      };
    });
    return answer?.permission ?? 'none';
  });

/**
 * Asks about a person by login. If GitHub has nothing there, or somebody else, they may have another login by now: asks
 * which one, by id, and then once more. So a rename takes no rights away until we hear of it.
 * @returns null if GitHub has nothing about them.
 */
async function askAbout<Answer extends { user?: { id: number } | null }>(
  client: GitHubClient,
  { id, login }: Person,
  ask: (username: string) => Promise<{ data: Answer }>,
): Promise<Answer | null> {
  const under = async (username: string) => {
    const answer = await nullIf404(ask(username));
    return answer?.data.user?.id === id ? answer.data : null;
  };
  const answer = await under(login);
  if (answer) return answer;
  const today = await askLogin(client, id);
  return today === null || today.toLowerCase() === login.toLowerCase() ? null : under(today);
}

/** Asks GitHub, as the installation, whether a person is an admin of the organization. @throws as above. */
const askOwnerAdmin = (deps: AuthDeps, person: Person, owner: Owner): Promise<boolean> =>
  unlessRefused(deps, false, async () => {
    const client = await deps.github.asInstallation(owner.installation.id);
    const membership = await askAbout(client, person, (username) =>
      client.rest.orgs.getMembershipForUser({ org: owner.login, username }),
    );
    return membership !== null && isActiveAdmin(membership, owner);
  });
