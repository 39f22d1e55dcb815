import type { AttributeValues } from '../../conditions/attributes.ts';
import type { ReadPullRequest } from './ask-for-pull-requests.ts';
import type { Fact } from './fact.ts';
import { readOwnValues } from '../facts/read-own-values.ts';
import type { LoadFrom } from './load-pull-requests.ts';
import type { PullRequestFacts } from './pull-request.ts';
import type { List } from '../queries/lists.ts';
import type { MergedOnes } from './read-dependencies.ts';
import { readList } from './read-list.ts';
import type { Teams } from './read-teams.ts';
import { type Subject, topics } from './topics.ts';

/** What the pull requests of a load share. */
export type Shared = {
  teams: Teams;
  /** What CI pushed, by number; null if no condition asks. */
  scopes: Map<number, { names: string[]; all: boolean }> | null;
  mergedOnes: MergedOnes;
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
  const { teams, scopes, mergedOnes } = shared;
  const { answer } = read;
  const pushed = scopes?.get(answer.number);
  const values: AttributeValues = readOwnValues(answer);
  const whyNotKnown: Record<string, string> = { ...teams.whyNotKnown };
  if (scopes) values.scope = pushed?.names ?? [];

  const subject: Subject = { ...read, from, mergedOnes, list: listsOf(from, read) };
  for (const { needs, attributes, read: readTopic } of topics) {
    if (needs && !needs.some((need) => from.needs.facts.has(need))) continue;
    const fact = await readTopic(subject);
    if (fact.known) Object.assign(values, fact.value);
    else for (const name of attributes) whyNotKnown[name] = fact.reason;
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

/** Reads each list once, however often it is asked for. */
function listsOf(from: LoadFrom, read: ReadPullRequest): Subject['list'] {
  const lists = new Map<unknown, Promise<Fact<unknown[]>>>();
  return <Item>(list: List<Item>) => {
    const reading = lists.get(list) ?? readList(from, read, list);
    lists.set(list, reading);
    return reading as Promise<Fact<Item[]>>;
  };
}
