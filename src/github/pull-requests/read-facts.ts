import { cachePerService } from '../cache.ts';
import type { AttributeValues } from '../../conditions/attributes.ts';
import type { Field, List, Subject } from '../facts/attribute-group.ts';
import { attributeGroups, isNeeded } from '../facts/attribute-groups.ts';
import { readOwnValues } from '../facts/own-values.ts';
import type { ReadPullRequest } from './ask-for-pull-requests.ts';
import { askInPart, readToEnd, whyMissing, whyNotRead } from './ask-in-part.ts';
import { didNotGive, type Fact, known, notKnown } from './fact.ts';
import type { LoadFrom } from './load-pull-requests.ts';
import type { PullRequestFacts } from './pull-request.ts';
import { headOf, type PullRequestAnswer } from './queries.ts';
import type { Teams } from './read-teams.ts';

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
