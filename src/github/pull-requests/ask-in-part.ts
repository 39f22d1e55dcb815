import { GraphqlResponseError } from '@octokit/graphql';
import type { GraphqlProblem, Page } from '../facts/attribute-group.ts';
import type { GitHubClient } from '../github-app.ts';
import { classifyGitHubError } from '../github-error.ts';
import { didNotGive, type Fact, known, mayNotRead } from './fact.ts';

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
  const { kind } = classifyGitHubError(error, 0);
  if (kind === 'limited' || (kind === 'down' && !isAnswered(error))) throw error;
  return kind === 'forbidden' ? mayNotRead(what) : didNotGive(what);
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
  readPage: (after: string | null) => Promise<Fact<Page<Item> | null | undefined>>,
): Promise<Fact<Item[]>> {
  const items: Item[] = [];
  for (let after: string | null = null; ;) {
    const page: Fact<Page<Item> | null | undefined> = await readPage(after);
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
