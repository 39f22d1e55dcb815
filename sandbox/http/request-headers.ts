import { GitHubError } from './github-error.ts';
import type { ApiContext } from './api.ts';

/** Versions of the REST API, oldest first. A request without one gets the oldest. */
const versions = ['2022-11-28', '2026-03-10'];

/** GitHub answers nothing to a client that does not say who it is. Its answer is no JSON. */
export function refuseNameless(c: ApiContext): Response | null {
  if (c.req.header('user-agent')) return null;
  return c.text(
    'Request forbidden by administrative rules. Please make sure your request has a User-Agent header (https://docs.github.com/en/rest/overview/resources-in-the-rest-api#user-agent-required). Check https://developer.github.com for other possible causes.',
    403,
  );
}

/** Refuses a version of the REST API that there is not. */
export function refuseVersion(c: ApiContext): void {
  const version = c.req.header('x-github-api-version');
  if (version === undefined || versions.includes(version)) return;
  const supported = versions
    .toReversed()
    .map((each, index) => `"${each}"${index === 0 ? ' (most recent)' : ''}`);
  throw new GitHubError(
    400,
    `The version you specified in the "X-GitHub-API-Version" request header, "${version}", is not a supported version. The following versions are currently supported: ${supported.join(', ')}.`,
  );
}
