import type { GraphQLResolveInfo } from 'graphql';
import { accountNode, pictureOf } from './account-node.ts';
import { connection, type ConnectionArguments } from './connection.ts';
import { membersOf, permits } from '../state/access.ts';
import { matches } from './people-search.ts';
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
    avatarUrl: pictureOf(team),
    combinedSlug: `${organization.login}/${slug}`,
    members: (args: ConnectionArguments, _: unknown, info: GraphQLResolveInfo) =>
      connection([...membersOf(team)], args, info, accountNode),
  };
}

/** An organization with its teams, for an installation that can read members. */
export function organizationNode({ principal }: View, account: Account) {
  const demandMembers = () => {
    const isAllowed =
      principal.kind === 'installation' &&
      principal.token.installation.account === account &&
      permits(principal.token.permissions, 'members', 'read');
    if (!isAllowed) throw refusal('FORBIDDEN', 'Resource not accessible by integration');
  };
  return {
    ...accountNode(account),
    team: ({ slug }: { slug: string }) => {
      demandMembers();
      const team = account.teams.get(slug.toLowerCase());
      return team ? teamNode(team) : null;
    },
    teams: (
      { query, ...args }: ConnectionArguments & { query?: string | null },
      _: unknown,
      info: GraphQLResolveInfo,
    ) => {
      demandMembers();
      const found = [...account.teams.values()].filter(({ slug }) => matches(query ?? '', slug));
      return connection(found, args, info, teamNode);
    },
  };
}
