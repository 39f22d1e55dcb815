import type { AttributeName, AttributeValues } from '../../conditions/attributes.ts';
import type { Need } from '../../conditions/needs.ts';
import type { GitHubClient } from '../github-app.ts';
import { type Fact, known } from '../pull-requests/pull-request.ts';
import type { PullRequestAnswer } from '../pull-requests/pull-request-answer.ts';

/**
 * A field of a pull request that GitHub can fail to give while the rest stays valid.
 * @property name its name in GitHub's answer, and the variable that asks for it.
 * @property what its name for readers: "GitHub did not give its …".
 * @property ofHead whether it is a field of the head commit.
 * @property selection what the question about many pull requests asks for.
 * @property query reads the field alone; of a list, the page after `$after`.
 * @property isOfShas whether the base's SHA and the head's determine it.
 */
export type FactField<Value> = {
  name: string;
  what: string;
  ofHead: boolean;
  isOfShas?: boolean;
  selection: string;
  query: string;
  unwrap(given: unknown): Value;
};

/** A page of a list. If the schema allows null, a null may be a failure. */
export type FactsPage<Item> = {
  nodes: (Item | null)[] | null;
  pageInfo: { hasNextPage: boolean; endCursor: string | null };
};

export const emptyPage: FactsPage<never> = { nodes: [], pageInfo: { hasNextPage: false, endCursor: null } };

/** A list that can be longer than its first page. */
export type List<Item> = FactField<FactsPage<Item> | null>;

/** What a question asks about a commit; `$context` is ours. */
export const withOwnStatus = 'oid status { context(name: $context) { state description createdAt } }';

export const pageField = (fields: string): string =>
  `{ nodes { ${fields} } pageInfo { hasNextPage endCursor } }`;

/** @param selection with an alias if GitHub's name differs. */
export const field = <Value>(name: string, what: string, selection: string): FactField<Value> => ({
  name,
  what,
  ofHead: false,
  selection,
  query: aloneQuery(name, '', selection),
  unwrap: (given) => given as Value,
});

/**
 * @param select the selection of a page, from the arguments that say which.
 * @param more `first`: the length of the first page. A list within a list costs once for each item of the outer list, so
 *   such a first page is short.
 */
export function listField<Item>(
  name: string,
  what: string,
  select: (which: string) => string,
  more: Partial<Pick<List<Item>, 'ofHead' | 'isOfShas' | 'unwrap'>> & { first?: number } = {},
): List<Item> {
  const { first = 100, ofHead = false, unwrap = (given) => given as FactsPage<Item> | null } = more;
  const next = select('first: 100, after: $after');
  const selection = ofHead ? `head: commits(last: 1) { nodes { commit { oid ${next} } } }` : next;
  return {
    name,
    what,
    ofHead,
    isOfShas: more.isOfShas,
    selection: select(`first: ${first}`),
    query: aloneQuery(name, ', $after: String', selection),
    unwrap,
  };
}

/** A question about one field of a pull request. @param variables beside its id: `, $after: String`. */
export function aloneQuery(name: string, variables: string, selection: string): string {
  return /* GraphQL */ `
    query ${name[0]!.toUpperCase()}${name.slice(1)}($id: ID!${variables}) {
      node(id: $id) {
        ... on PullRequest {
          ${selection}
        }
      }
    }
  `;
}

/** The branch that a pull request merges into, as it is now. */
export const base = field<{ target: { oid: string } | null }>(
  'base',
  'base',
  'base: baseRef { target { oid } }',
);

/**
 * One pull request while its facts are read, and the ways to ask GitHub for more about it. If the verdict is known, or
 * those who cause the requests have no share of the hour left, nothing is asked and the fact is not known.
 */
export type AskedSubject = {
  answer: PullRequestAnswer;
  statusContext: string;
  /** The SHAs of base and head, `base...head`; null if the base's is not known. */
  shas(): Promise<string | null>;
  /**
   * Says which values of lists are known before the lists are.
   * @returns whether they decide the verdict, so that nobody needs the rest.
   */
  sees(some: AttributeValues): Promise<boolean>;
  /** A field, also if the question about many pull requests had to leave it out. */
  value<Value>(field: FactField<Value>): Promise<Fact<Value | null>>;
  /** A list to its end. It is read only once. */
  list<Item>(list: List<Item>): Promise<Fact<Item[]>>;
  /** Another GraphQL question. @param isFine whether the answer counts although GitHub left something out. */
  query<Answer>(
    what: string,
    query: string,
    variables: Record<string, unknown>,
    isFine?: (problem: GraphqlProblem) => boolean,
  ): Promise<Fact<Answer>>;
  /** Another question to REST. */
  request<Value>(
    question: Question,
    ask: (client: GitHubClient, repository: { owner: string; repo: string }) => Promise<Fact<Value>>,
  ): Promise<Fact<Value>>;
  /** The answer to a question that the pull requests of a load share. */
  shared<Value>(key: string, ask: () => Promise<Fact<Value>>): Promise<Fact<Value>>;
};

/**
 * @property what completes "GitHub did not give its …".
 * @property logged the line of the log if it fails.
 * @property key what determines the answer; then it is asked for only once. Null if that is not known.
 * @property life milliseconds for which the answer is kept; by default, as long as there is room.
 * @property requests how many it takes; by default one.
 */
type Question = { what: string; logged: string; key?: string | null; life?: number; requests?: number };

/** One thing that GitHub left out of an answer, and where. */
export type GraphqlProblem = { type?: string; message?: string; path: (string | number)[] };

/** Webhook events that change a few facts and nothing else. They are frequent. */
export type FactEvent =
  | 'check_run'
  | 'deployment_status'
  | 'label'
  | 'milestone'
  | 'pull_request_review_comment'
  | 'pull_request_review_thread'
  | 'push';

/** Attributes that become known together, or not at all. */
export type AttributeGroup = {
  /** Read if any of these is needed; null: always. */
  needs: readonly Need[] | null;
  attributes: readonly AttributeName[];
  /** What the question about many pull requests asks for. */
  fields: readonly FactField<unknown>[];
  changedBy?: readonly FactEvent[];
  read(subject: AskedSubject): Promise<Fact<AttributeValues>>;
};

export const fieldGroup = <Value>(
  needs: AttributeGroup['needs'],
  attributes: readonly AttributeName[],
  field: FactField<Value>,
  valuesOf: (value: Value | null, answer: PullRequestAnswer) => AttributeValues,
  changedBy: readonly FactEvent[] = [],
): AttributeGroup => ({
  needs,
  attributes,
  fields: [field],
  changedBy,
  read: async (subject) => map(await subject.value(field), (value) => valuesOf(value, subject.answer)),
});

export const listGroup = <Item>(
  need: Need,
  attributes: readonly AttributeName[],
  list: List<Item>,
  valuesOf: (items: Item[]) => AttributeValues,
  changedBy: readonly FactEvent[] = [],
): AttributeGroup => ({
  needs: [need],
  attributes,
  fields: [list],
  changedBy,
  read: async (subject) => map(await subject.list(list), valuesOf),
});

export const map = <From, To>(fact: Fact<From>, to: (value: From) => To): Fact<To> =>
  fact.known ? known(to(fact.value)) : fact;

export const andThen = <From, To>(fact: Fact<From>, to: (value: From) => Fact<To>): Fact<To> =>
  fact.known ? to(fact.value) : fact;
