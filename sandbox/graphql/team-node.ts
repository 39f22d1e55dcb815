import type { GraphQLResolveInfo } from 'graphql';
import { accountNode } from './account-node.ts';
import { connection, type ConnectionArguments } from './connection.ts';
import { membersOf, permits } from '../state/access.ts';
import { refusal } from './refusal.ts';
import type { Account, Team } from '../state/model.ts';
import type { View } from './view.ts';

/** A team. Everybody who sees it sees its name. */
export function teamNode(team: Team) {
  const { id, slug, organization } = team;
  return {
    __typename: 'Team',
    id: `T_${id}`,
    databaseId: id,
    slug,
    name: slug,
    combinedSlug: `${organization.login}/${slug}`,
    members: (args: ConnectionArguments, _: unknown, info: GraphQLResolveInfo) =>
      connection([...membersOf(team)], args, info, accountNode),
  };
}

/** An organization with its teams, for an installation that can read members. */
export function organizationNode({ principal }: View, account: Account) {
  return {
    ...accountNode(account),
    team: ({ slug }: { slug: string }) => {
      const isAllowed =
        principal.kind === 'installation' &&
        principal.token.installation.account === account &&
        permits(principal.token.permissions, 'members', 'read');
      if (!isAllowed) throw refusal('FORBIDDEN', 'Resource not accessible by integration');
      const team = account.teams.get(slug.toLowerCase());
      return team ? teamNode(team) : null;
    },
  };
}
