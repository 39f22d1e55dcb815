import { GraphqlResponseError } from '@octokit/graphql';
import type { GraphqlProblem, FactsPage } from '../facts/attribute-group.ts';
import type { GitHubClient } from '../github-app.ts';
import { classifyGitHubError, isGitHubStatus } from '../github-error.ts';
import { didNotGive, type Fact, known, mayNotRead } from './pull-request.ts';
import type { LoadFrom } from './load-pull-requests.ts';
import { canBeLeftOut, missingFieldAt, variablesFor } from './queries.ts';
import type { PullRequestAnswer } from './pull-request-answer.ts';

/** What GitHub gave, what it left out, and an error for callers who need everything. */
type PartialAnswer<Answer> = { answer: Answer; problems: GraphqlProblem[]; error: unknown };

/**
 * Asks, and accepts a partial answer if each error says which part is missing.
 * @throws any other error, such as rate limits.
 */
export async function askInPart<Answer>(
  client: GitHubClient,
  query: string,
  variables: Record<string, unknown>,
): Promise<PartialAnswer<Answer>> {
  try {
    return { answer: await client.graphql<Answer>(query, variables), problems: [], error: null };
  } catch (error) {
    if (!(error instanceof GraphqlResponseError) || !error.data) throw error;
    const problems = (error.errors ?? []) as Partial<GraphqlProblem>[];
    if (!problems.every(isLocated)) throw error;
    return { answer: error.data as Answer, problems, error };
  }
}

const isLocated = (problem: Partial<GraphqlProblem>): problem is GraphqlProblem =>
  problem.path !== undefined && problem.path.length > 0 && !/^RATE_LIMIT/.test(problem.type ?? '');

/** Why a part is missing, as a reason for `Fact`. */
export const whyMissing = (problems: { type?: string }[], what: string): string =>
  problems.some(({ type }) => type === 'FORBIDDEN') ? mayNotRead(what) : didNotGive(what);

/**
 * Why a request about one fact failed, as a reason for `Fact`.
 * @throws the error itself if it is a rate limit or GitHub is not reachable: these stop the whole load. If GitHub fails
 *   to answer about one pull request ("this diff is taking too long"), the others still load.
 */
export function whyNotRead(error: unknown, what: string): string {
  const failure = classifyGitHubError(error, 0);
  const { kind } = failure;
  if (kind === 'limited' || (kind === 'down' && !isAnswered(error))) throw error;
  return kind === 'forbidden' ? mayNotRead(what, failure.permission) : didNotGive(what);
}

/** Whether GitHub answered, even with a failure. Octokit also says 500, with a cause, if no answer arrived. */
function isAnswered(error: unknown): boolean {
  if (error instanceof GraphqlResponseError) return true;
  return (
    error instanceof Error &&
    error.name === 'HttpError' &&
    'response' in error &&
    error.response !== undefined
  );
}

/**
 * The items of a list, page by page. If one is missing, the whole list is.
 * @param missed the fact if an item or the next page is missing.
 */
export async function readToEnd<Item>(
  missed: Fact<never>,
  readPage: (after: string | null) => Promise<Fact<FactsPage<Item> | null | undefined>>,
): Promise<Fact<Item[]>> {
  const items: Item[] = [];
  for (let after: string | null = null; ;) {
    const page: Fact<FactsPage<Item> | null | undefined> = await readPage(after);
    if (!page.known) return page;
    const nodes = page.value?.nodes;
    if (!nodes || nodes.includes(null)) return missed;
    items.push(...(nodes as Item[]));
    const { hasNextPage, endCursor } = page.value!.pageInfo;
    if (!hasNextPage) return known(items);
    // If the cursor does not move, this would never end.
    if (endCursor === null || endCursor === after) return missed;
    after = endCursor;
  }
}

/** A pull request as GitHub gave it, and the fields that it did not give. */
export type ReadPullRequest = {
  answer: PullRequestAnswer;
  problems: { field: string; type?: string }[];
};

type Question<Answer> = {
  query: string;
  variables: Record<string, unknown>;
  /** The path to the pull request, or to the list of them. */
  path: string[];
  pullRequestsOf(answer: Answer): (PullRequestAnswer | null)[];
};

/** The whole answer, and its pull requests; null for one that does not exist. */
type Answered<Answer> = { answer: Answer; read: (ReadPullRequest | null)[] };

/**
 * Asks for pull requests. A partial answer counts only if we can tell what its nulls mean: fields that are not known, or
 * pull requests that are gone. This throws any other error, so that nothing looks absent by mistake.
 * @param mayAskForLess throws if GitHub found the question too big, even with a partial answer.
 */
export async function askForPullRequests<Answer>(
  { client, deps, needs }: LoadFrom,
  question: Question<Answer>,
  mayAskForLess = false,
): Promise<Answered<Answer>> {
  const context = deps.config.statusContext;
  const leftOut = new Set<string>();
  for (;;) {
    const variables = { ...question.variables, context, ...variablesFor(needs.facts, leftOut) };
    const { answer, problems, error } = await askInPart<Answer>(client, question.query, variables);
    if (problems.length > 0) {
      if (mayAskForLess && isTooMuch(error)) throw error;
      const { message, type, path } = problems[0]!;
      deps.log.warn({ count: problems.length, first: { message, type, path } }, 'GitHub answered in part');
    }
    const located = problems.map((problem) => locate(question.path, problem));
    if (!located.every(({ field, isGone }) => field !== null || isGone)) throw error;
    const answers = question.pullRequestsOf(answer);
    // If GitHub cannot give a field that must not be null, the whole pull request is null. We ask again without that
    // field and then read it on its own.
    const lost = located.filter(({ index, field }) => field !== null && !answers[index]);
    if (lost.length === 0) {
      const read = answers.map(
        (each, index) => each && { answer: each, problems: problemsOfAnswer(located, index) },
      );
      return { answer, read };
    }
    for (const { field } of lost) {
      if (!canBeLeftOut(field!) || leftOut.has(field!)) throw error;
      leftOut.add(field!);
    }
  }
}

/** The pull request in the answer that an error is about, and the field of it. */
type Located = { index: number; field: string | null; isGone: boolean; type?: string };

function locate(prefix: string[], { path, type }: GraphqlProblem): Located {
  if (!prefix.every((step, at) => path[at] === step)) return { index: 0, field: null, isGone: false };
  const below = path.slice(prefix.length);
  const index = typeof below[0] === 'number' ? (below.shift() as number) : 0;
  return { index, field: missingFieldAt(below), isGone: below.length === 0 && type === 'NOT_FOUND', type };
}

const problemsOfAnswer = (located: Located[], index: number): ReadPullRequest['problems'] =>
  located.flatMap((problem) =>
    problem.index === index && problem.field ? [{ field: problem.field, type: problem.type }] : [],
  );

/** Whether GitHub found a question too slow or too big. */
export function isTooMuch(error: unknown): boolean {
  if (isGitHubStatus(error, 502, 504)) return true;
  if (!(error instanceof GraphqlResponseError)) return false;
  const errors = (error.errors ?? []) as { type?: string; message?: string }[];
  return errors.some(
    ({ type, message }) =>
      type === 'RESOURCE_LIMITS_EXCEEDED' || (!type && /timeout|timed out/i.test(message ?? '')),
  );
}
