import { classifyGitHubError } from '../github/github-error.ts';
import { didNotGive, mayNotRead } from './fact.ts';

/**
 * Why a request about one fact failed, as a reason for `Fact`.
 * @throws the error itself where it is a rate limit or an outage: those stop the whole load, and are not about one
 *   pull request.
 */
export function whyNotRead(error: unknown, what: string): string {
  const { kind } = classifyGitHubError(error, 0);
  if (kind === 'limited' || kind === 'down') throw error;
  return kind === 'refused' ? mayNotRead(what) : didNotGive(what);
}
