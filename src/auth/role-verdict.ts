import { forbidden, Refusal, refusedIf } from '../errors.ts';
import { askGitHub } from '../github/ask-github.ts';
import { isUnidentified, keepTeams } from '../settings/keep-teams.ts';
import { holderText, type Role, type RolePlace } from '../settings/role-holders.ts';
import type { RoleHolder, TeamHolder } from '../installations/setting-fields.ts';
import type { PersonCaller } from './caller.ts';
import type { Person } from './github-token.ts';
import type { Recency } from './permissions.ts';
import { unlessRefused } from './verdict-cache.ts';
import type { AuthDeps } from './auth-deps.ts';

/** A refusal, unavailable: the person has it if they are in a team, and GitHub does not say that now. */
type RoleVerdict = 'yes' | 'no' | Refusal;

/**
 * Whether a list names a person, by GitHub's id, or a team that they are in.
 * @param token the one that the person sent; null on pages.
 * @throws Refusal too-many-requests if the person asked too much.
 */
export async function hasRole(
  deps: AuthDeps,
  person: Person,
  place: RolePlace,
  holders: RoleHolder[],
  recency: Recency = {},
  token: string | null = null,
): Promise<RoleVerdict> {
  if (holders.some((holder) => 'id' in holder && holder.id === person.id)) return 'yes';
  const teams = holders.filter((holder) => 'team' in holder);
  if (teams.length === 0 || place.installation.suspendedAt) return 'no';
  const found = await identified(deps, place, teams).catch(refusedIf('unavailable'));
  const known = found instanceof Refusal ? teams : found;
  const isMember = await deps.permissions
    .isInTeam(deps, person, place, known, recency, token)
    .catch(refusedIf('unavailable'));
  if (isMember === true) return 'yes';
  if (isMember instanceof Refusal) return isMember;
  return found instanceof Refusal ? found : 'no';
}

/**
 * The teams with the ids of those that a version before saved without.
 * @throws Refusal unavailable while GitHub does not say them. That it does not show teams to us is an answer.
 */
async function identified(deps: AuthDeps, place: RolePlace, teams: TeamHolder[]): Promise<TeamHolder[]> {
  if (!teams.some(isUnidentified)) return teams;
  const nothing: ReadonlyMap<string, TeamHolder> = new Map();
  const ask = () => unlessRefused(deps, nothing, () => keepTeams(deps, place));
  const found = await askGitHub(deps, place.installation.id, 'which teams have a role', ask);
  return teams.map((team) => (isUnidentified(team) ? (found.get(team.team) ?? team) : team));
}

/** Why a role does not let a caller do something: in words, empty if nobody has it; or because GitHub does not say now. */
type RoleLack = string | Refusal;

/** The refusal of somebody with these lacks. While GitHub does not say whether a role counts, the caller tries again. */
export function withRoles(refusal: Refusal, ...lacks: RoleLack[]): Refusal {
  const unsaid = lacks.find((lack) => lack instanceof Refusal);
  if (unsaid) return unsaid;
  const words = lacks.filter((lack) => lack !== '');
  return words.length === 0 ? refusal : forbidden([refusal.message, ...words].join(' '));
}

/**
 * Why a role does not let a caller do something; null if it does. Asks GitHub about teams at this moment.
 * @param showsHolders whether the caller may learn who has the role.
 */
export async function whyRoleLacks(
  deps: AuthDeps,
  caller: PersonCaller,
  place: RolePlace,
  role: Role,
  holders: RoleHolder[],
  showsHolders: boolean,
  { releases }: Recency = {},
): Promise<RoleLack | null> {
  const token = caller.kind === 'github-token' ? caller.token : null;
  const verdict = await hasRole(deps, caller.person, place, holders, { isLive: true, releases }, token);
  // Without scopes we cannot see what else the token was made for.
  const isShown = caller.kind !== 'github-token' || caller.grant.by === 'scopes';
  if (verdict === 'yes')
    return isShown
      ? null
      : `You have the role ${role}, but it does not count for a token without scopes, which cannot show what it could do. Use a classic token with the scope repo, or the pages.`;
  if (verdict instanceof Refusal) {
    const { retryAfter, limitedUntil } = verdict;
    const again = limitedUntil ? `after ${limitedUntil.toISOString()}` : 'in a moment';
    const text = `GitHub does not say whether ${caller.person.login} is in a team with the role ${role}. Nothing was changed. Try again ${again}.`;
    return new Refusal('unavailable', text, { retryAfter, limitedUntil });
  }
  if (!showsHolders)
    return `The role ${role} is enough too, if the settings of ${place.account.login} give it.`;
  if (holders.length === 0) return '';
  return `The role ${role} is enough too: ${listedHolders(holders, place.account.login)} ${holders.length === 1 ? 'has' : 'have'} it.`;
}

const mostHoldersListed = 10;

function listedHolders(holders: RoleHolder[], owner: string): string {
  const more = holders.length - mostHoldersListed;
  const texts = holders.slice(0, mostHoldersListed).map((holder) => holderText(holder, owner));
  return more > 0 ? `${texts.join(', ')} and ${more} more` : texts.join(', ');
}
