import { accountJson, organizationJson } from '../json/account-json.ts';
import { ownerSender } from './sender.ts';
import type { Account, Team } from '../state/model.ts';
import type { World } from '../state/world.ts';
import type { PullRequestEvents } from './pull-request-events.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';

/** Teams of organizations. Their events belong to the organization and name no repository. */
export function teams(world: World, webhooks: Webhooks, events: PullRequestEvents) {
  function emit(organization: Account, event: string, action: string, payload: Record<string, unknown>) {
    webhooks.emit({
      event,
      action,
      sender: ownerSender(world, organization),
      installation: world.installationOf(organization),
      payload: { organization: organizationJson(world, organization), ...payload },
    });
  }

  function find(organization: string, slug: string): Team {
    const team = world.account(organization).teams.get(slug);
    if (!team) throw new Error(`${organization} has no team ${slug}`);
    return team;
  }

  const teamJson = ({ id, slug, organization }: Team) => {
    const url = `${world.url}/organizations/${organization.id}/team/${id}`;
    return { id, slug, name: slug, url };
  };

  return {
    /** @param parent the slug of the team that it is a child of. */
    addTeam(organization: string, slug: string, members: string[] = [], parent: string | null = null) {
      const account = world.account(organization);
      const id = world.ids.next('team', 7_000_000);
      const team: Team = {
        id,
        slug,
        get avatarUrl() {
          return `${new URL(world.url).origin}/avatars/t/${id}?v=4`;
        },
        organization: account,
        members: new Set(members.map((login) => world.account(login))),
        invited: new Set<Account>(),
        parent,
      };
      account.teams.set(slug, team);
      emit(account, 'team', 'created', { team: teamJson(team) });
    },

    /** The team keeps its id and its members. Its former slug is free, and leads nowhere. */
    renameTeam(organization: string, slug: string, to: string) {
      const team = find(organization, slug);
      const { teams } = team.organization;
      if (teams.has(to)) throw new Error(`${organization} has a team ${to}`);
      teams.delete(slug);
      team.slug = to;
      teams.set(to, team);
      for (const each of teams.values()) if (each.parent === slug) each.parent = to;
      emit(team.organization, 'team', 'edited', { team: teamJson(team), changes: { name: { from: slug } } });
    },

    deleteTeam(organization: string, slug: string) {
      const team = find(organization, slug);
      team.organization.teams.delete(slug);
      emit(team.organization, 'team', 'deleted', { team: teamJson(team) });
    },

    /** An invitation has no event: `membership` tells only of those who joined. */
    inviteToTeam(organization: string, slug: string, login: string) {
      find(organization, slug).invited.add(world.account(login));
    },

    joinTeam(organization: string, slug: string, login: string) {
      const team = find(organization, slug);
      const member = world.account(login);
      team.invited.delete(member);
      team.members.add(member);
      const payload = { scope: 'team', team: teamJson(team), member: accountJson(world, member) };
      emit(team.organization, 'membership', 'added', payload);
    },

    leaveTeam(organization: string, slug: string, login: string) {
      const team = find(organization, slug);
      const member = world.account(login);
      team.members.delete(member);
      const payload = { scope: 'team', team: teamJson(team), member: accountJson(world, member) };
      emit(team.organization, 'membership', 'removed', payload);
    },

    /** A person leaves the organization and all of its teams. GitHub sends an event only for the organization. */
    leaveOrganization(organization: string, login: string) {
      const account = world.account(organization);
      const member = world.account(login);
      account.members.delete(member.id);
      for (const team of account.teams.values()) team.members.delete(member);
      emit(account, 'organization', 'member_removed', { membership: { user: accountJson(world, member) } });
    },

    requestTeamReview(fullName: string, number: number, slug: string) {
      const pr = world.pullRequest(fullName, number);
      const team = find(pr.repository.owner.login, slug);
      pr.teamRequests.push(team);
      events.emit(pr, 'review_requested', { requested_team: teamJson(team) });
    },
  };
}
