import { askInPart, type PartialAnswer, whyMissing } from './ask-in-part.ts';
import { type Fact, known, mayNotRead, notKnown } from './fact.ts';
import type { LoadFrom } from './load-pull-requests.ts';
import type { Page } from '../queries/answers.ts';
import { teamMembersQuery, type TeamMembersAnswer } from '../queries/other-queries.ts';
import { whyNotRead } from './why-not-read.ts';

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
    return notKnown(`${team} is not a team of ${login}`);
  if (type === 'User') return notKnown(`there is no team ${team}: ${login} is not an organization`);
  try {
    return await readMembers(from, team, { organization: login, slug: slug! });
  } catch (error) {
    const reason = whyNotRead(error, 'teams');
    from.deps.log.warn({ err: error, team }, 'the members of a team could not be read');
    return notKnown(reason === mayNotRead('teams') ? reason : noneGiven(team));
  }
}

const noneGiven = (team: string) => `GitHub did not give the members of ${team}`;

async function readMembers(
  { client, deps }: From,
  team: string,
  variables: { organization: string; slug: string },
): Promise<Fact<ReadonlySet<string>>> {
  const logins = new Set<string>();
  let after: string | null = null;
  for (;;) {
    const { answer, problems, error }: PartialAnswer<TeamMembersAnswer> = await askInPart(
      client,
      teamMembersQuery,
      { ...variables, after },
    );
    if (problems.length > 0) {
      deps.log.warn({ err: error, team }, 'GitHub answered in part');
      const isRefused = problems.some(({ type }) => type === 'FORBIDDEN');
      if (isRefused) return notKnown(whyMissing(problems, 'teams'));
      if (!problems.every(({ type }) => type === 'NOT_FOUND')) return notKnown(noneGiven(team));
    }
    // GitHub gives the same answer for a team that does not exist and one that we cannot see.
    if (!answer.organization?.team) return notKnown(`there is no team ${team}`);
    const members: Page<{ login: string }> | null = answer.organization.team.members;
    if (!members?.nodes || members.nodes.includes(null)) return notKnown(noneGiven(team));
    for (const member of members.nodes) logins.add(member!.login);
    const { hasNextPage, endCursor }: Page<unknown>['pageInfo'] = members.pageInfo;
    if (!hasNextPage) return known(logins);
    if (endCursor === null || endCursor === after) return notKnown(noneGiven(team));
    after = endCursor;
  }
}
