import type { Account, Plan, Role, UserToken, UserTokenKind } from '../state/model.ts';
import { nodeId, type NodeType } from '../state/ids.ts';
import { accountJson, organizationJson } from '../json/account-json.ts';
import { fullNameOf, type World } from '../state/world.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';
import { ownerSender } from './sender.ts';

const prefixes: Record<UserTokenKind, string> = {
  classic: 'ghp_',
  'fine-grained': 'github_pat_',
  oauth: 'gho_',
  'user-to-server': 'ghu_',
};

export interface TokenOptions {
  kind?: UserTokenKind;
  /** Classic and OAuth tokens; default `repo, admin:org`. */
  scopes?: string[];
  /** Fine-grained and user-to-server tokens: can they read administration settings? Default true. */
  administration?: boolean;
  /** Fine-grained tokens: their repositories; default all. */
  repositories?: string[];
  /** User-to-server tokens: for the App under test; default for another App. */
  ownApp?: boolean;
}

/** Users, bots and organizations. */
export function people(world: World, webhooks: Webhooks) {
  const pictureAt = (path: string): string => `${new URL(world.url).origin}/avatars/${path}?v=4`;

  function addAccount(login: string, type: Account['type'], plan: Plan, name: string | null = null): Account {
    if (world.findAccount(login)) throw new Error(`The sandbox already has an account ${login}`);
    const id = world.ids.next('account', 1_000_000);
    const account: Account = {
      id,
      nodeId: nodeId(type satisfies NodeType, id),
      login,
      name,
      get avatarUrl() {
        return pictureAt(`u/${id}`);
      },
      type,
      plan,
      members: new Map(),
      basePermission: 'none',
      teams: new Map(),
      rulesets: [],
      createdAt: world.now(),
    };
    world.accounts.set(login.toLowerCase(), account);
    return account;
  }

  /** Another token for a person, with chosen scopes; without options a full classic token. */
  function addToken(login: string, options: TokenOptions = {}): string {
    const { kind = 'classic', scopes = ['repo', 'admin:org'], administration = true } = options;
    const name = `${kind}:${world.ids.next('token', 0)}`;
    const body =
      kind === 'fine-grained'
        ? `${world.ids.characters(name, 22)}_${world.ids.characters(`${name}:secret`, 59)}`
        : world.ids.characters(name, 36);
    const token: UserToken = {
      token: prefixes[kind] + body,
      kind,
      user: world.account(login),
      scopes,
      administration,
      repositoryIds: options.repositories
        ? new Set(options.repositories.map((name) => world.repository(name).id))
        : null,
      ownApp: options.ownApp ?? false,
    };
    world.userTokens.set(token.token, token);
    return token.token;
  }

  /** A person on GitHub Pro, with one valid token of each kind. */
  function addUser(login: string, { name = null }: { name?: string | null } = {}) {
    const { id } = addAccount(login, 'User', 'pro', name);
    return {
      id,
      login,
      token: addToken(login),
      fineGrainedToken: addToken(login, { kind: 'fine-grained' }),
      oauthToken: addToken(login, { kind: 'oauth' }),
      userToServerToken: addToken(login, { kind: 'user-to-server' }),
    };
  }

  /**
   * Gives an account another login. Its repositories redirect from their old names until somebody takes those. Its own old
   * name leads nowhere, and anybody can take it.
   */
  function rename(login: string, newLogin: string) {
    const account = world.account(login);
    if (world.findAccount(newLogin)) throw new Error(`The sandbox already has an account ${newLogin}`);
    const { login: from } = account;
    for (const repository of world.repositories.values())
      if (repository.owner === account)
        world.formerNames.set(fullNameOf(repository).toLowerCase(), repository.id);
    world.accounts.delete(from.toLowerCase());
    account.login = newLogin;
    world.accounts.set(newLogin.toLowerCase(), account);
    const isOrganization = account.type === 'Organization';
    const sender = ownerSender(world, account);
    const installation = world.installationOf(account);
    const payload = {
      changes: { login: { from } },
      ...(isOrganization && { organization: organizationJson(world, account) }),
    };
    if (isOrganization)
      webhooks.emit({ event: 'organization', action: 'renamed', sender, installation, payload });
    const target = { account: accountJson(world, account), target_type: account.type };
    webhooks.emit({
      event: 'installation_target',
      action: 'renamed',
      sender,
      installation,
      payload: { ...payload, ...target },
    });
  }

  return {
    addUser,
    addToken,

    /** A bot such as `dependabot`: REST calls it `dependabot[bot]`, GraphQL `dependabot`. */
    addBot(name: string) {
      const { id, login } = addAccount(`${name.replace(/\[bot\]$/, '')}[bot]`, 'Bot', 'free');
      return { id, login };
    },

    /**
     * An organization, on GitHub Team unless given. Unknown admins and members become users. Members have no base
     * permission unless given.
     */
    addOrganization(
      login: string,
      options: { admins?: string[]; members?: string[]; basePermission?: Role | 'none'; plan?: Plan } = {},
    ) {
      const organization = addAccount(login, 'Organization', options.plan ?? 'team');
      organization.basePermission = options.basePermission ?? 'none';
      const person = (name: string) => world.findAccount(name) ?? world.account(addUser(name).login);
      for (const name of options.members ?? []) organization.members.set(person(name).id, 'member');
      for (const name of options.admins ?? []) organization.members.set(person(name).id, 'admin');
      return { id: organization.id, login };
    },

    /** Changes the role of a person in an organization; null removes them. */
    setMembership(organization: string, login: string, role: 'admin' | 'member' | null) {
      const { members } = world.account(organization);
      const { id } = world.account(login);
      if (role) members.set(id, role);
      else members.delete(id);
    },

    /** An account pays for another plan from now on. */
    setPlan(login: string, plan: Plan) {
      world.account(login).plan = plan;
    },

    /** The person who is signed in to the browser from now on; null signs out. */
    signInToGitHub(login: string | null) {
      world.signIns.person = login === null ? null : world.account(login);
    },

    /** The user-to-server tokens that are valid now. */
    userToServerTokens(login: string) {
      const user = world.account(login);
      return [...world.userTokens.values()]
        .filter((each) => each.user === user && each.kind === 'user-to-server')
        .map(({ token }) => token);
    },

    /** A person takes another login. */
    renameUser: rename,

    /** An organization takes another name. */
    renameOrganization: rename,

    /** A person deletes their account. */
    deleteUser(login: string) {
      world.accounts.delete(world.account(login).login.toLowerCase());
    },

    /** Revokes any token at once. */
    revokeToken(token: string) {
      world.userTokens.delete(token);
      world.installationTokens.delete(token);
    },

    /** From now on, the hour of all issued installation tokens has passed. */
    expireInstallationTokens() {
      for (const token of world.installationTokens.values()) token.expiresAt = new Date(0);
    },
  };
}
