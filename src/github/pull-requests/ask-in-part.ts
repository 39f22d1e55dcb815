import { GraphqlResponseError } from '@octokit/graphql';
import type { GitHubClient } from '../github-app.ts';
import { didNotGive, mayNotRead } from './fact.ts';

/** One thing that GitHub left out of an answer, and where. */
export type GraphqlProblem = { type?: string; message?: string; path: (string | number)[] };

/** What GitHub gave, what it left out, and an error for callers who need everything. */
export type PartialAnswer<Answer> = { answer: Answer; problems: GraphqlProblem[]; error: unknown };

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
