import { classifyGitHubError } from '../github-error.ts';
import { GraphqlResponseError } from '@octokit/graphql';
import { didNotGive, mayNotRead } from './fact.ts';

/**
 * Why a request about one fact failed, as a reason for `Fact`.
 * @throws the error itself where it is a rate limit, or GitHub is out of reach: those stop the whole load. What GitHub
 *   fails to answer about one pull request ("this diff is taking too long") must not keep it from the others.
 */
export function whyNotRead(error: unknown, what: string): string {
  const { kind } = classifyGitHubError(error, 0);
  if (kind === 'limited' || (kind === 'down' && !isAnswered(error))) throw error;
  return kind === 'forbidden' ? mayNotRead(what) : didNotGive(what);
}

/** Whether GitHub answered, if only that it failed. Octokit calls what never arrived a 500 as well, with a cause. */
function isAnswered(error: unknown): boolean {
  if (error instanceof GraphqlResponseError) return true;
  return (
    error instanceof Error &&
    error.name === 'HttpError' &&
    'response' in error &&
    error.response !== undefined
  );
}
