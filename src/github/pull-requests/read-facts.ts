import { reservedUntil } from '../ask-github.ts';
import { cachePerService } from '../cache.ts';
import type { AttributeValues } from '../../conditions/attributes.ts';
import { searchAhead } from '../../conditions/search-ahead.ts';
import { base, type FactField, type List, type AskedSubject } from '../facts/attribute-group.ts';
import { attributeGroups, isNeeded } from '../facts/attribute-groups.ts';
import { checkCountsIn } from '../facts/check-counts.ts';
import { readOwnValues } from '../facts/own-values.ts';
import { takeFromShares } from '../limits/read-shares.ts';
import { type ReadPullRequest, askInPart, readToEnd, whyMissing, whyNotRead } from './ask-in-part.ts';
import { searchInThread } from './search-in-thread.ts';
import {
  didNotGive,
  type Fact,
  known,
  unknownFact,
  type PullRequestFacts,
  type StackPlace,
} from './pull-request.ts';
import type { Teams } from './read-teams.ts';
import type { LoadFrom } from './load-pull-requests.ts';
import { headOf, type PullRequestAnswer } from './pull-request-answer.ts';

/** What the pull requests of a load share. */
export type Shared = {
  teams: Teams;
  /** What CI pushed, by number; null if no condition asks. */
  scopes: Map<number, { names: string[]; all: boolean }> | null;
  answers: Map<unknown, Promise<Fact<unknown>>>;
  /** The places in stacks, by number. */
  places: ReadonlyMap<number, StackPlace>;
};

/**
 * What conditions need to know about a pull request, and why a fact is not known. Ends when the verdict is known.
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
  const partial = new Set<string>();
  if (scopes) values.scope = pushed?.names ?? [];
  const facts = {
    number: answer.number,
    nodeId: answer.id,
    headSha: answer.headRefOid,
    values,
    whyNotKnown,
    partial,
    hasEveryScope: pushed?.all ?? false,
    teams: teams.members,
    stack: shared.places.get(answer.number) ?? null,
    checkCounts: checkCountsIn(headOf(answer), read.problems),
  };

  const search = (changed: AttributeValues) => searchAhead(from.needs, facts, searchInThread, changed);
  await search(values);
  const subject = factSubjectOf(from, shared, read, facts);
  for (const group of attributeGroups) {
    if (!isNeeded(group, from.needs.facts)) continue;
    const fact = await group.read(subject);
    if (fact.known) {
      Object.assign(values, fact.value);
      for (const name of group.attributes) partial.delete(name);
      await search(fact.value);
    } else for (const name of group.attributes) whyNotKnown[name] = fact.reason;
  }
  return facts;
}

/** Answers that what they were asked for determines, by their questions. In characters, because lists can be long. */
const kept = cachePerService<string, NonNullable<unknown>>(
  16_000_000,
  Infinity,
  (answer) => JSON.stringify(answer).length + 200,
);

/** The same questions under way: several looks at a pull request at the same time ask once. */
const underWay = cachePerService<string, Promise<Fact<unknown>>>(10_000, Infinity);

/** Why a fact was not read that changes nothing. */
const decided = unknownFact('the other conditions decide');
const reserved = unknownFact('Holdfast keeps the rest of this hour’s requests to GitHub for freezes');

function factSubjectOf(
  from: LoadFrom,
  { answers }: Shared,
  { answer, problems }: ReadPullRequest,
  facts: PullRequestFacts & { partial: Set<string> },
): AskedSubject {
  const { client, deps, repository } = from;
  const { id, number } = answer;
  const lists = new Map<unknown, Promise<Fact<unknown>>>();

  /** Counts requests before they are sent. @returns null if they may be, else why the fact is not known. */
  const refuse = (requests: number): Fact<never> | null => {
    if (from.isDecided?.(facts)) return decided;
    if (from.leavesReserve && reservedUntil(deps, repository.installation.id) !== null) return reserved;
    const causer = {
      installationId: repository.installation.id,
      repositoryId: repository.id,
      number,
      headOwner: headOwnerOf(answer),
    };
    const why = takeFromShares(deps, causer, requests);
    return why === null ? null : unknownFact(why);
  };

  /** The answer that is kept, or that of `read`. @param key what determines the answer; null: that is not known. */
  const keeping = async <Value>(
    { what, key, life }: { what: string; key?: string | null; life?: number },
    read: () => Promise<Fact<Value>>,
  ): Promise<Fact<Value>> => {
    const question = key && `${what} ${repository.id} ${key}`;
    if (!question) return read();
    const before = kept(deps).get(question);
    if (before !== undefined) return known(before as never);
    const meanwhile = await underWay(deps).get(question);
    // What another reader did without, this one may need.
    if (meanwhile?.known) return meanwhile as Fact<Value>;
    const reading = read();
    underWay(deps).set(question, reading);
    try {
      const fact = await reading;
      if (fact.known) kept(deps).set(question, fact.value as NonNullable<unknown>, life);
      return fact;
    } finally {
      if (underWay(deps).get(question) === reading) underWay(deps).delete(question);
    }
  };

  const query: AskedSubject['query'] = async <Answer>(
    what: string,
    text: string,
    variables: Record<string, unknown>,
    isFine: Parameters<AskedSubject['query']>[3] = () => false,
  ) => {
    const refusal = refuse(1);
    if (refusal) return refusal;
    try {
      const { answer, problems, error } = await askInPart<Answer>(client, text, variables);
      const missing = problems.filter((problem) => !isFine(problem));
      if (missing.length === 0) return known(answer);
      deps.log.warn({ err: error, number }, 'GitHub answered in part');
      return unknownFact(whyMissing(missing, what));
    } catch (error) {
      return unknownFact(whyNotRead(error, what));
    }
  };

  const readAlone = async <Value>(
    field: FactField<Value>,
    after: string | null,
  ): Promise<Fact<Value | null>> => {
    type Alone = { node: PullRequestAnswer | null };
    const fact = await query<Alone>(field.what, field.query, { id, after });
    if (!fact.known) return fact;
    const { node } = fact.value;
    const value = node && valueIn({ ...node, headRefOid: answer.headRefOid }, field);
    return value === null || value === undefined ? unknownFact(didNotGive(field.what)) : known(value);
  };

  const value: AskedSubject['value'] = async (field) => {
    const missing = problems.filter(
      (each) => each.field === field.name || (field.ofHead && each.field === 'head'),
    );
    if (missing.length > 0) return unknownFact(whyMissing(missing, field.what));
    const given = valueIn(answer, field);
    return given === undefined ? readAlone(field, null) : known(given);
  };

  const shas: AskedSubject['shas'] = async () => {
    const fact = await value(base);
    const sha = fact.known ? fact.value?.target?.oid : undefined;
    return sha ? `${sha}...${answer.headRefOid}` : null;
  };

  const readList = async <Item>(list: List<Item>): Promise<Fact<Item[]>> => {
    const first = await value(list);
    const read = () =>
      readToEnd<Item>(unknownFact(didNotGive(list.what)), async (after) =>
        after === null ? first : readAlone(list, after),
      );
    if (!list.isOfShas || !first.known || !first.value?.pageInfo.hasNextPage) return read();
    const named = await shas();
    return keeping({ what: list.what, key: named && `${number} ${named} ${answer.head.totalCount}` }, read);
  };

  return {
    answer,
    statusContext: deps.config.statusContext,
    value,
    shas,
    async sees(some) {
      Object.assign(facts.values, some);
      for (const [name, seen] of Object.entries(some)) if (Array.isArray(seen)) facts.partial.add(name);
      await searchAhead(from.needs, facts, searchInThread, some);
      return from.isDecided?.(facts) ?? false;
    },
    list: (list) => once(lists, list, () => readList(list)),
    query,
    async request({ logged, requests = 1, ...question }, ask) {
      return keeping(question, async () => {
        const refusal = refuse(requests);
        if (refusal) return refusal;
        try {
          return await ask(client, { owner: repository.account.login, repo: repository.name });
        } catch (error) {
          const reason = whyNotRead(error, question.what);
          deps.log.warn({ err: error, number }, logged);
          return unknownFact(reason);
        }
      });
    },
    shared: (key, ask) => once(answers, key, ask),
  };
}

/** The owner of the fork that its head is in; null if it is in the repository itself. */
function headOwnerOf({ isCrossRepository, ...answer }: PullRequestAnswer): string | null {
  if (!isCrossRepository) return null;
  const { headRepository } = answer as { headRepository?: { nameWithOwner: string } | null };
  return headRepository?.nameWithOwner.split('/')[0] ?? 'ghost';
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
  { name, ofHead, unwrap }: FactField<Value>,
): Value | null | undefined {
  const holder = (ofHead ? headOf(answer) : answer) as Record<string, unknown> | null;
  if (!holder) return null;
  return holder[name] === undefined ? undefined : unwrap(holder[name]);
}
