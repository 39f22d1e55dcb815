import pLimit from 'p-limit';
import type { Deps } from '../deps.ts';
import { invalid, nullIf, type Problem } from '../errors.ts';
import type { Account, Installation } from '../generated/prisma/client.ts';
import { askGitHub } from '../github/ask-github.ts';
import type { GitHubClient } from '../github/github-app.ts';
import { nullIf404 } from '../github/github-error.ts';
import type { RoleHolder } from './setting-fields.ts';

/** The roles that settings give, and the settings that give them. */
export const roles = { freezer: 'freezers', approver: 'approvers' } as const;
export type Role = keyof typeof roles;
type RoleList = (typeof roles)[Role];

/** The owner whose people and teams a setting names. */
export type RolePlace = {
  account: Pick<Account, 'id' | 'login' | 'type'>;
  installation: Pick<Installation, 'id' | 'suspendedAt'>;
};

const sideBySide = 5;

/** As people write it: `ada`, or `@acme/release`. */
export const holderText = (holder: RoleHolder, owner: string): string =>
  'team' in holder ? `@${owner}/${holder.team}` : holder.login;

/**
 * Finds the people and teams of lists at GitHub.
 * @throws Refusal invalid, which names every unknown one; unavailable while GitHub does not answer.
 */
export async function findHolders(
  deps: Deps,
  place: RolePlace,
  lists: Partial<Record<RoleList, readonly string[]>>,
): Promise<Partial<Record<RoleList, RoleHolder[]>>> {
  const named = Object.entries(lists);
  const texts = [...new Set(named.flatMap(([, list]) => list.map((text) => text.toLowerCase())))];
  if (texts.length === 0) return Object.fromEntries(named.map(([name]) => [name, []]));
  const about = 'who these people and teams are';
  const found = await askGitHub(deps, place.installation.id, about, async () => {
    const client = await deps.github.asInstallation(place.installation.id);
    const holders = await pLimit(sideBySide).map(texts, (text) => findHolder(client, place, text));
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
      return [name, [...new Map(holders.map((each) => [keyOf(each), each])).values()]];
    }),
  );
}

const keyOf = (holder: RoleHolder): string | number => ('team' in holder ? holder.team : holder.id);

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
  return nullIf404(findTeam(client, account.login, slug));
}

async function findTeam(client: GitHubClient, org: string, slug: string): Promise<RoleHolder> {
  const { data } = await client.rest.teams.getByName({ org, team_slug: slug });
  return { team: data.slug };
}

function whyUnknown(text: string, { account: { login, type } }: RolePlace): string {
  if (!text.startsWith('@')) return `GitHub has no person ${text}. Check the login.`;
  if (type !== 'Organization') return `${login} is a person and has no teams. Send logins of people.`;
  return `${login} has no team ${text} that Holdfast can see. Write it as @${login}/team.`;
}

/** A person or a team as GitHub has them now, with a person's login of today; null if they are gone. */
export async function askHolder(
  client: GitHubClient,
  owner: string,
  holder: RoleHolder,
): Promise<RoleHolder | null> {
  if ('team' in holder) return nullIf404(findTeam(client, owner, holder.team));
  const person = await nullIf404(client.request('GET /user/{account_id}', { account_id: holder.id }));
  return person && { id: holder.id, login: person.data.login };
}

/** People with their logins of today. While GitHub does not answer, with those that are saved. */
export async function withCurrentLogins(
  deps: Deps,
  { account, installation }: RolePlace,
  holders: RoleHolder[],
): Promise<RoleHolder[]> {
  if (installation.suspendedAt || !holders.some((holder) => 'id' in holder)) return holders;
  const ask = async () => {
    const client = await deps.github.asInstallation(installation.id);
    return pLimit(sideBySide).map(holders, async (holder) =>
      'team' in holder ? holder : ((await askHolder(client, account.login, holder)) ?? holder),
    );
  };
  const current = await askGitHub(deps, installation.id, 'which logins people have', ask).catch(
    nullIf('unavailable', 'too-many-requests'),
  );
  return current ?? holders;
}
