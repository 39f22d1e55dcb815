import { classifyGitHubError } from '../github-error.ts';
import { GraphqlResponseError } from '@octokit/graphql';
import { didNotGive, mayNotRead } from './fact.ts';

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
