import type { ContentfulStatusCode } from 'hono/utils/http-status';

const documentation = 'https://docs.github.com/rest';

/** An answer that is not a success, with the body that GitHub sends. */
export class GitHubError extends Error {
  readonly status: ContentfulStatusCode;
  readonly details: object;
  readonly headers: Record<string, string>;

  constructor(
    status: ContentfulStatusCode,
    message: string,
    details: object = {},
    headers: Record<string, string> = {},
  ) {
    super(message);
    this.status = status;
    this.details = details;
    this.headers = headers;
  }

  get body() {
    const { message, status, details } = this;
    return { message, ...details, documentation_url: documentation, status: String(status) };
  }
}

export const notFound = () => new GitHubError(404, 'Not Found');
export const badCredentials = () => new GitHubError(401, 'Bad credentials');
/** @param needs a permission of an App that would be enough: `contents=read`. */
export const notAccessible = (needs?: string) =>
  new GitHubError(
    403,
    'Resource not accessible by integration',
    {},
    needs === undefined ? {} : { 'x-accepted-github-permissions': needs },
  );
/** What GitHub says of rules in private repositories to accounts on GitHub Free, organizations among them. */
export const upgradeNeeded = () =>
  new GitHubError(403, 'Upgrade to GitHub Pro or make this repository public to enable this feature.');
export const invalid = (resource: string, errors: object[]) =>
  new GitHubError(422, 'Validation Failed', { errors: errors.map((error) => ({ resource, ...error })) });
