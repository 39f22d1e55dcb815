import { askGitHub } from '../github/ask-github.ts';
import type { GitHubClient } from '../github/github-app.ts';
import type { TeamHolder } from '../installations/setting-fields.ts';
import type { RolePlace } from '../settings/role-holders.ts';
import type { AuthDeps } from './auth-deps.ts';
import { askTokenHolder, type Person } from './github-token.ts';
import { unlessRefused } from './verdict-cache.ts';

/**
 * Whether GitHub shows the holder of a token that they are in one of these teams; null if it does not. The answers name
 * nobody, so GitHub says first whose token it is, and which login they have now.
 */
export async function isInOwnTeam(
  deps: AuthDeps,
  token: string,
  person: Person,
  { id, login: owner }: RolePlace['account'],
  teams: TeamHolder[],
): Promise<true | null> {
  const ask = <Answer>(question: () => Promise<Answer>) =>
    askGitHub(deps, 'caller', `which teams of ${owner} ${person.login} is in`, question);
  const holder = await ask(() => askTokenHolder(deps, token));
  if (holder?.person.id !== person.id) return null;
  const client = deps.github.asPerson(token);
  for (const { teamId } of teams)
    if (await ask(() => askMembership(deps, client, id, teamId!, holder.person.login))) return true;
  return null;
}

/** Asks GitHub whether who has a login is in a team. @throws GitHub's errors that give no verdict. */
export const askMembership = (
  deps: AuthDeps,
  { request }: GitHubClient,
  accountId: bigint,
  team_id: number,
  username: string,
): Promise<boolean> =>
  unlessRefused(deps, false, async () => {
    const path = 'GET /organizations/{org_id}/team/{team_id}/memberships/{username}';
    const { data } = await request(path, { org_id: Number(accountId), team_id, username });
    return (data as { state: string }).state === 'active';
  });
