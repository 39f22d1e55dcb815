import pLimit from 'p-limit';
import { invalid, nullIf, type Problem } from '../errors.ts';
import type { Account, Installation } from '../generated/prisma/client.ts';
import { askGitHub } from '../github/ask-github.ts';
import type { GitHubClient } from '../github/github-app.ts';
import { nullIf404 } from '../github/github-error.ts';
import type { RoleHolder, TeamHolder } from '../installations/setting-fields.ts';
import type { GitHubDeps } from '../github/github-deps.ts';

/** The roles that settings give, and the settings that give them. */
export const roles = { freezer: 'freezers', approver: 'approvers' } as const;
export type Role = keyof typeof roles;
type RoleList = (typeof roles)[Role];

/** The owner whose people and teams a setting names. */
export type RolePlace = {
  account: Pick<Account, 'id' | 'login' | 'type'>;
  installation: Pick<Installation, 'id' | 'suspendedAt'>;
};

const holdersSideBySide = 5;

/** As people write it: `ada`, or `@acme/release`. */
export const holderText = (holder: RoleHolder, owner: string): string =>
  'team' in holder ? `@${owner}/${holder.team}` : holder.login;

/**
 * Finds the people and teams of lists at GitHub.
 * @throws Refusal invalid, which names every unknown one; unavailable while GitHub does not answer.
 */
export async function findHolders(
  deps: GitHubDeps,
  place: RolePlace,
  lists: Partial<Record<RoleList, readonly string[]>>,
): Promise<Partial<Record<RoleList, RoleHolder[]>>> {
  const named = Object.entries(lists);
  const texts = [...new Set(named.flatMap(([, list]) => list.map((text) => text.toLowerCase())))];
  if (texts.length === 0) return Object.fromEntries(named.map(([name]) => [name, []]));
  const about = 'who these people and teams are';
  const found = await askGitHub(deps, place.installation.id, about, async () => {
    const client = await deps.github.asInstallation(place.installation.id);
    const holders = await pLimit(holdersSideBySide).map(texts, (text) => findHolder(client, place, text));
    return new Map(holders.map((holder, at) => [texts[at]!, holder]));
  });
  const problems = named.flatMap(([name, list]) =>
    list.flatMap((text, at): Problem[] => {
      const message = found.get(text.toLowerCase()) ? null : whyUnknown(text, place);
      return message === null ? [] : [{ path: ['body', name, at], message, type: 'value_error' }];
    }),
  );
  if (problems.length > 0) throw invalid(problems);
  return Object.fromEntries(
    named.map(([name, list]) => {
      const holders = list.map((text) => found.get(text.toLowerCase())!);
      return [name, [...new Map(holders.map((each) => [holderKeyOf(each), each])).values()]];
    }),
  );
}

const holderKeyOf = (holder: RoleHolder): string =>
  'team' in holder ? `team ${holder.teamId}` : `person ${holder.id}`;

/** @returns null if GitHub has no such person, or the owner no such team. */
async function findHolder(
  client: GitHubClient,
  { account }: RolePlace,
  text: string,
): Promise<RoleHolder | null> {
  const [, organization, slug] = /^@([^/]+)\/(.+)$/.exec(text) ?? [];
  if (slug === undefined) {
    const person = (await nullIf404(client.rest.users.getByUsername({ username: text })))?.data;
    return person?.type === 'User' ? { id: person.id, login: person.login } : null;
  }
  if (account.type !== 'Organization' || organization !== account.login.toLowerCase()) return null;
  return findTeam(client, account, slug);
}

/** The team of the owner that has this slug now; null if none has. @throws GitHub's error. */
export async function findTeam(
  client: GitHubClient,
  { id, login }: Pick<Account, 'id' | 'login'>,
  slug: string,
): Promise<TeamHolder | null> {
  const team = (await nullIf404(client.rest.teams.getByName({ org: login, team_slug: slug })))?.data;
  // The owner may have another name by now, and somebody else this one.
  return team && BigInt(team.organization.id) === id ? { team: team.slug, teamId: team.id } : null;
}

/** The team with this id, with its slug of today; null if it is gone. @throws GitHub's error. */
async function askTeam(
  client: GitHubClient,
  { id }: Pick<Account, 'id'>,
  teamId: number,
): Promise<TeamHolder | null> {
  const ids = { org_id: Number(id), team_id: teamId };
  const team = await nullIf404(client.request('GET /organizations/{org_id}/team/{team_id}', ids));
  return team && { team: (team.data as { slug: string }).slug, teamId };
}

function whyUnknown(text: string, { account: { login, type } }: RolePlace): string {
  if (!text.startsWith('@')) return `GitHub has no person ${text}. Check the login.`;
  if (type !== 'Organization') return `${login} is a person and has no teams. Send logins of people.`;
  return `${login} has no team ${text} that Holdfast can see. Write it as @${login}/team.`;
}

/**
 * A person or a team as GitHub has them now, under the name of today; null if they are gone. A team whose id is not known
 * stays as it is.
 */
export async function askRoleHolder(
  client: GitHubClient,
  account: RolePlace['account'],
  holder: RoleHolder,
): Promise<RoleHolder | null> {
  if ('team' in holder) {
    const { teamId } = holder;
    return teamId ? askTeam(client, account, teamId) : teamId === null ? null : holder;
  }
  const login = await askLogin(client, holder.id);
  return login === null ? null : { id: holder.id, login };
}

/** The login of a person of today, by their id; null if they are gone. @throws GitHub's error. */
export async function askLogin(client: GitHubClient, id: number): Promise<string | null> {
  const person = await nullIf404(client.request('GET /user/{account_id}', { account_id: id }));
  return person && person.data.login;
}

const isRenamed = (saved: RoleHolder, current: RoleHolder | null | undefined): boolean =>
  'team' in saved && Boolean(current) && 'team' in current! && current.team !== saved.team;

/** @property gone those that GitHub no longer has. @property isRenamed whether a team has another slug than was saved. */
export type CurrentHolders = { holders: RoleHolder[]; gone: RoleHolder[]; isRenamed: boolean };

/** People and teams under their names of today. While GitHub does not answer, as they are saved. */
export async function withCurrentNames(
  deps: GitHubDeps,
  { account, installation }: RolePlace,
  holders: RoleHolder[],
): Promise<CurrentHolders> {
  if (installation.suspendedAt || holders.length === 0) return { holders, gone: [], isRenamed: false };
  const ask = async () => {
    const client = await deps.github.asInstallation(installation.id);
    return pLimit(holdersSideBySide).map(holders, (holder) => askRoleHolder(client, account, holder));
  };
  const current = await askGitHub(deps, installation.id, 'which names people and teams have', ask).catch(
    nullIf('unavailable', 'too-many-requests'),
  );
  if (!current) return { holders, gone: [], isRenamed: false };
  return {
    holders: holders.map((holder, at) => current[at] ?? holder),
    gone: holders.filter((_, at) => current[at] === null),
    isRenamed: holders.some((holder, at) => isRenamed(holder, current[at])),
  };
}
