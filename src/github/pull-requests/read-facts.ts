import { cachePerService } from '../cache.ts';
import type { AttributeValues } from '../../conditions/attributes.ts';
import { type Field, type List, type Subject, map, type Page, page } from '../facts/attribute-group.ts';
import { attributeGroups, isNeeded } from '../facts/attribute-groups.ts';
import { readOwnValues } from '../facts/own-values.ts';
import { type ReadPullRequest, askInPart, readToEnd, whyMissing, whyNotRead } from './ask-in-part.ts';
import { didNotGive, type Fact, known, notKnown, type PullRequestFacts, mayNotRead } from './pull-request.ts';
import type { LoadFrom } from './load-pull-requests.ts';
import { headOf, type PullRequestAnswer } from './queries.ts';

/** What the pull requests of a load share. */
export type Shared = {
  teams: Teams;
  /** What CI pushed, by number; null if no condition asks. */
  scopes: Map<number, { names: string[]; all: boolean }> | null;
  answers: Map<unknown, Promise<Fact<unknown>>>;
};

/**
 * Everything that conditions need to know about a pull request, and why a fact is not known.
 * @throws rate limits and outages.
 */
export async function readFacts(
  from: LoadFrom,
  shared: Shared,
  read: ReadPullRequest,
): Promise<PullRequestFacts> {
  const { teams, scopes } = shared;
  const { answer } = read;
  const pushed = scopes?.get(answer.number);
  const values: AttributeValues = readOwnValues(answer);
  const whyNotKnown: Record<string, string> = { ...teams.whyNotKnown };
  if (scopes) values.scope = pushed?.names ?? [];

  const subject = subjectOf(from, shared, read);
  for (const group of attributeGroups) {
    if (!isNeeded(group, from.needs.facts)) continue;
    const fact = await group.read(subject);
    if (fact.known) Object.assign(values, fact.value);
    else for (const name of group.attributes) whyNotKnown[name] = fact.reason;
  }
  return {
    number: answer.number,
    nodeId: answer.id,
    headSha: answer.headRefOid,
    values,
    whyNotKnown,
    hasEveryScope: pushed?.all ?? false,
    teams: teams.members,
  };
}

/** Answers that never change, by their questions. */
const unchanging = cachePerService<string, NonNullable<unknown>>(40_000, Infinity);

function subjectOf(
  { client, deps, repository }: LoadFrom,
  { answers }: Shared,
  { answer, problems }: ReadPullRequest,
): Subject {
  const { id, number } = answer;
  const lists = new Map<unknown, Promise<Fact<unknown>>>();

  const query: Subject['query'] = async <Answer>(
    what: string,
    text: string,
    variables: Record<string, unknown>,
    isFine: Parameters<Subject['query']>[3] = () => false,
  ) => {
    try {
      const { answer, problems, error } = await askInPart<Answer>(client, text, variables);
      const missing = problems.filter((problem) => !isFine(problem));
      if (missing.length === 0) return known(answer);
      deps.log.warn({ err: error, number }, 'GitHub answered in part');
      return notKnown(whyMissing(missing, what));
    } catch (error) {
      return notKnown(whyNotRead(error, what));
    }
  };

  const readAlone = async <Value>(field: Field<Value>, after: string | null): Promise<Fact<Value | null>> => {
    type Alone = { node: PullRequestAnswer | null };
    const fact = await query<Alone>(field.what, field.query, { id, after });
    if (!fact.known) return fact;
    const { node } = fact.value;
    const value = node && valueIn({ ...node, headRefOid: answer.headRefOid }, field);
    return value === null || value === undefined ? notKnown(didNotGive(field.what)) : known(value);
  };

  const value: Subject['value'] = async (field) => {
    const missing = problems.filter(
      (each) => each.field === field.name || (field.ofHead && each.field === 'head'),
    );
    if (missing.length > 0) return notKnown(whyMissing(missing, field.what));
    const given = valueIn(answer, field);
    return given === undefined ? readAlone(field, null) : known(given);
  };

  const readList = <Item>(list: List<Item>): Promise<Fact<Item[]>> =>
    readToEnd<Item>(notKnown(didNotGive(list.what)), (after) =>
      after === null ? value(list) : readAlone(list, after),
    );

  return {
    answer,
    statusContext: deps.config.statusContext,
    value,
    list: (list) => once(lists, list, () => readList(list)),
    query,
    async request({ what, logged, key = null }, ask) {
      const kept = unchanging(deps);
      const question = key && `${what} ${repository.id} ${key}`;
      const before = question ? kept.get(question) : undefined;
      if (before !== undefined) return known(before as never);
      try {
        const fact = await ask(client, { owner: repository.account.login, repo: repository.name });
        if (question && fact.known) kept.set(question, fact.value as NonNullable<unknown>);
        return fact;
      } catch (error) {
        const reason = whyNotRead(error, what);
        deps.log.warn({ err: error, number }, logged);
        return notKnown(reason);
      }
    },
    shared: (key, ask) => once(answers, key, ask),
  };
}

/** Asks a question once, however often its answer is needed. */
function once<Value>(
  answers: Map<unknown, Promise<Fact<unknown>>>,
  key: unknown,
  ask: () => Promise<Fact<Value>>,
): Promise<Fact<Value>> {
  const answer = answers.get(key) ?? ask();
  answers.set(key, answer);
  return answer as Promise<Fact<Value>>;
}

/** undefined if it was left out of the question. Null if GitHub did not give it, also if the head has moved. */
function valueIn<Value>(
  answer: PullRequestAnswer,
  { name, ofHead, unwrap }: Field<Value>,
): Value | null | undefined {
  const holder = (ofHead ? headOf(answer) : answer) as Record<string, unknown> | null;
  if (!holder) return null;
  return holder[name] === undefined ? undefined : unwrap(holder[name]);
}

/** Logins of the members, by the team as it was written, or why they are not known. */
type Teams = {
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

/** A page of the members of a team, with those of its child teams. */
export const teamMembersQuery = /* GraphQL */ `
  query TeamMembers($organization: String!, $slug: String!, $after: String) {
    organization(login: $organization) {
      team(slug: $slug) {
        members(first: 100, after: $after) ${page('login')}
      }
    }
  }
`;
type TeamMembersAnswer = {
  organization: { team: { members: Page<{ login: string }> | null } | null } | null;
};

async function readMembers(
  { client, deps }: From,
  team: string,
  variables: { organization: string; slug: string },
): Promise<Fact<ReadonlySet<string>>> {
  const members = await readToEnd<{ login: string }>(notKnown(noneGiven(team)), async (after) => {
    const { answer, problems, error } = await askInPart<TeamMembersAnswer>(client, teamMembersQuery, {
      ...variables,
      after,
    });
    if (problems.length > 0) {
      deps.log.warn({ err: error, team }, 'GitHub answered in part');
      const isRefused = problems.some(({ type }) => type === 'FORBIDDEN');
      if (isRefused) return notKnown(whyMissing(problems, 'teams'));
      if (!problems.every(({ type }) => type === 'NOT_FOUND')) return notKnown(noneGiven(team));
    }
    // GitHub gives the same answer for a team that does not exist and one that we cannot see.
    return answer.organization?.team
      ? known(answer.organization.team.members)
      : notKnown(`there is no team ${team}`);
  });
  return map(members, (people) => new Set(people.map(({ login }) => login)));
}
