import { map, type FactsPage, pageField } from '../facts/attribute-group.ts';
import { askInPart, readToEnd, whyMissing, whyNotRead } from './ask-in-part.ts';
import type { LoadFrom } from './load-pull-requests.ts';
import { type Fact, known, mayNotRead, unknownFact } from './pull-request.ts';

/** Logins of the members, by the team as it was written, or why they are not known. */
export type Teams = {
  members: ReadonlyMap<string, ReadonlySet<string>>;
  whyNotKnown: Readonly<Record<string, string>>;
};

type From = Pick<LoadFrom, 'client' | 'repository' | 'deps'>;

/**
 * The members of the teams that conditions name: `@core`, or `@acme/core` if acme owns the repository.
 * @throws rate limits and outages.
 */
export async function readTeams(from: From, teams: Iterable<string>): Promise<Teams> {
  const members = new Map<string, ReadonlySet<string>>();
  const whyNotKnown: Record<string, string> = {};
  for (const team of teams) {
    const fact = await readTeam(from, team);
    if (fact.known) members.set(team, fact.value);
    else whyNotKnown[team] = fact.reason;
  }
  return { members, whyNotKnown };
}

async function readTeam(from: From, team: string): Promise<Fact<ReadonlySet<string>>> {
  const { login, type } = from.repository.account;
  const [slug, organization = login] = team.slice(1).split('/').reverse();
  if (organization.toLowerCase() !== login.toLowerCase())
    return unknownFact(`${team} is not a team of ${login}`);
  if (type === 'User') return unknownFact(`there is no team ${team}: ${login} is not an organization`);
  try {
    return await readMembers(from, team, { organization: login, slug: slug! });
  } catch (error) {
    const reason = whyNotRead(error, 'teams');
    from.deps.log.warn({ err: error, team }, 'the members of a team could not be read');
    return unknownFact(reason === mayNotRead('teams') ? reason : noneGiven(team));
  }
}

const noneGiven = (team: string) => `GitHub did not give the members of ${team}`;

/** A page of the members of a team, with those of its child teams. */
export const teamMembersQuery = /* GraphQL */ `
  query TeamMembers($organization: String!, $slug: String!, $after: String) {
    organization(login: $organization) {
      team(slug: $slug) {
        members(first: 100, after: $after) ${pageField('login')}
      }
    }
  }
`;
type TeamMembersAnswer = {
  organization: { team: { members: FactsPage<{ login: string }> | null } | null } | null;
};

async function readMembers(
  { client, deps }: From,
  team: string,
  variables: { organization: string; slug: string },
): Promise<Fact<ReadonlySet<string>>> {
  const members = await readToEnd<{ login: string }>(unknownFact(noneGiven(team)), async (after) => {
    const { answer, problems, error } = await askInPart<TeamMembersAnswer>(client, teamMembersQuery, {
      ...variables,
      after,
    });
    if (problems.length > 0) {
      deps.log.warn({ err: error, team }, 'GitHub answered in part');
      const isRefused = problems.some(({ type }) => type === 'FORBIDDEN');
      if (isRefused) return unknownFact(whyMissing(problems, 'teams'));
      if (!problems.every(({ type }) => type === 'NOT_FOUND')) return unknownFact(noneGiven(team));
    }
    // GitHub gives the same answer for a team that does not exist and one that we cannot see.
    return answer.organization?.team
      ? known(answer.organization.team.members)
      : unknownFact(`there is no team ${team}`);
  });
  return map(members, (people) => new Set(people.map(({ login }) => login)));
}
