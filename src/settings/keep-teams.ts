import { isDeepStrictEqual } from 'node:util';
import pLimit from 'p-limit';
import { defineTask, NotNow } from '../database/queue/define-task.ts';
import { jobs } from '../database/queue/jobs.ts';
import type { Tx } from '../database/database.ts';
import { ourselves } from '../events/actor.ts';
import { appendEvent, placeOf } from '../events/append-event.ts';
import { pauseInstallation } from '../github/ask-github.ts';
import type { GitHubClient } from '../github/github-app.ts';
import { classifyGitHubError } from '../github/github-error.ts';
import { nowOf } from '../time/clock.ts';
import { lockAccount } from '../installations/find-account.ts';
import { lockRepository } from '../installations/find-repository.ts';
import { inheritedBy, presentSettings } from './present-settings.ts';
import { askRoleHolder, findTeam, holderText, type RolePlace } from './role-holders.ts';
import {
  effectiveSettings,
  type OwnSettings,
  type RoleHolder,
  type TeamHolder,
} from '../installations/setting-fields.ts';
import type { GitHubDeps } from '../github/github-deps.ts';

// Rights hang on the ids of teams: a slug can get another team. Settings of versions before the ids have slugs alone.

/** How many teams we ask about at the same time. */
const teamsSideBySide = 5;

/** Settings that name teams. @property repositoryId null: those of the owner itself. */
type Naming = { repositoryId: bigint | null; settings: OwnSettings };

const isTeam = (holder: RoleHolder): holder is TeamHolder => 'team' in holder;
const teamsIn = ({ freezers = [], approvers = [] }: OwnSettings): TeamHolder[] =>
  [...freezers, ...approvers].filter(isTeam);

/** The same for the same team, as far as it is known. A slug that was looked up in vain is no team, whoever takes it. */
const teamKeyOf = ({ team, teamId }: TeamHolder): string =>
  teamId ? `id ${teamId}` : teamId === null ? `nothing ${team}` : `slug ${team}`;

/** Whether a version before the ids saved the team, so that nobody knows yet which one it is. */
export const isUnidentified = (holder: RoleHolder): boolean => isTeam(holder) && holder.teamId === undefined;

/**
 * Saves which teams the settings of an owner and its repositories mean where they have only slugs, once, as an audit
 * event; and the slugs of today of all others.
 * @returns the teams of today, by the slug that settings had alone.
 * @throws GitHub's error while it cannot answer.
 */
export async function keepTeams(
  deps: GitHubDeps,
  place: RolePlace,
): Promise<ReadonlyMap<string, TeamHolder>> {
  const { account, installation } = place;
  if (account.type !== 'Organization' || installation.suspendedAt) return new Map();
  const naming = await settingsWithTeams(deps.db, account.id);
  const teams = new Map(
    naming.flatMap(({ settings }) => teamsIn(settings)).map((team) => [teamKeyOf(team), team]),
  );
  if (teams.size === 0) return new Map();
  const client = await deps.github.asInstallation(installation.id);
  const asked = await pLimit(teamsSideBySide).map([...teams.values()], (team) =>
    askTeam(client, account, team),
  );
  const current = new Map([...teams.keys()].map((key, at) => [key, asked[at]!]));
  const withCurrent = (settings: OwnSettings): OwnSettings => ({
    ...settings,
    ...(settings.freezers && { freezers: settings.freezers.map(currentOf) }),
    ...(settings.approvers && { approvers: settings.approvers.map(currentOf) }),
  });
  const currentOf = (holder: RoleHolder): RoleHolder =>
    isTeam(holder) ? (current.get(teamKeyOf(holder)) ?? holder) : holder;
  for (const each of naming)
    if (!isDeepStrictEqual(each.settings, withCurrent(each.settings)))
      await saveTeams(deps, place, each.repositoryId, withCurrent);
  return new Map(
    [...teams.values()].filter(isUnidentified).map((team) => [team.team, current.get(teamKeyOf(team))!]),
  );
}

/** The team as GitHub has it. One that is gone stays as it was; one that was never found stays unknown for ever. */
async function askTeam(
  client: GitHubClient,
  account: RolePlace['account'],
  team: TeamHolder,
): Promise<TeamHolder> {
  if (!isUnidentified(team))
    return ((await askRoleHolder(client, account, team)) as TeamHolder | null) ?? team;
  return (await findTeam(client, account, team.team)) ?? { team: team.team, teamId: null };
}

const settingsWithTeams = (db: Tx, accountId: bigint): Promise<Naming[]> =>
  db.$queryRaw<Naming[]>`
    SELECT NULL::int8 AS "repositoryId", settings FROM accounts
    WHERE id = ${accountId} AND settings::text LIKE '%"team"%'
    UNION ALL
    SELECT id, settings FROM repositories WHERE account_id = ${accountId} AND settings::text LIKE '%"team"%'`;

/** @param change of the settings as they are now. */
async function saveTeams(
  deps: GitHubDeps,
  { account }: RolePlace,
  repositoryId: bigint | null,
  change: (settings: OwnSettings) => OwnSettings,
): Promise<void> {
  await deps.db.$transaction(async (tx) => {
    if (repositoryId === null) await lockAccount(tx, account.id);
    else await lockRepository(tx, repositoryId);
    const repository =
      repositoryId === null
        ? null
        : await tx.repository.findUniqueOrThrow({ where: { id: repositoryId }, include: { account: true } });
    const owner = repository?.account ?? (await tx.account.findUniqueOrThrow({ where: { id: account.id } }));
    const before = (repository ?? owner).settings as OwnSettings;
    const after = change(before);
    if (isDeepStrictEqual(before, after)) return;
    if (repository) await tx.repository.update({ where: { id: repository.id }, data: { settings: after } });
    else await tx.account.update({ where: { id: owner.id }, data: { settings: after } });
    const identified = teamsIn(after).filter((_, at) => isUnidentified(teamsIn(before)[at]!));
    // A new name of a team changes nobody's rights.
    if (identified.length === 0) return;
    const ofOwner = repository ? (owner.settings as OwnSettings) : {};
    const shown = (own: OwnSettings) => ({
      ...presentSettings(effectiveSettings(own, ofOwner), owner.login),
      ...(repository && { inherited: inheritedBy(own) }),
    });
    const metadata = {
      settings_before: shown(before),
      settings_after: shown(after),
      team_ids: Object.fromEntries(
        identified.map((team) => [holderText(team, owner.login), team.teamId ?? null]),
      ),
    };
    const now = nowOf(deps.clock);
    if (repository)
      await appendEvent(
        tx,
        placeOf(repository),
        { type: 'repository_settings.update', metadata },
        ourselves,
        now,
      );
    else
      await appendEvent(
        tx,
        { accountId: owner.id },
        { type: 'owner_settings.update', metadata },
        ourselves,
        now,
      );
  });
}

export const keepTeamsTask = defineTask(jobs.keepTeams, async (deps: GitHubDeps, { accountId }) => {
  const installation = await deps.db.installation.findFirst({
    where: { accountId: BigInt(accountId), deletedAt: null },
    include: { account: true },
  });
  if (!installation) return;
  try {
    await keepTeams(deps, { account: installation.account, installation });
  } catch (error) {
    const failure = classifyGitHubError(error, deps.clock.now());
    if (failure.kind === 'limited') {
      await pauseInstallation(deps, installation.id, failure);
      throw new NotNow(new Date(failure.retryAt));
    }
    if (failure.kind !== 'forbidden') throw error;
    // Without `members: read`, nobody has a role by a team. The owner's next change of permissions asks again.
    deps.log.warn(
      { err: error, account: installation.account.login },
      'GitHub does not show the teams with roles',
    );
  }
});
