import { GraphqlResponseError } from '@octokit/graphql';
import type { RequestError } from '@octokit/request-error';
import { isSigned } from './key-standing.ts';

/** Whether GitHub answered with this HTTP status. */
export const isGitHubStatus = (error: unknown, ...statuses: number[]): error is RequestError =>
  error instanceof Error && error.name === 'HttpError' && statuses.includes((error as RequestError).status);

/** Whether GitHub refused the key of an App. That says nothing about what was asked. */
export const isKeyRefused = (error: unknown): boolean =>
  isGitHubStatus(error, 401) && isSigned(error.request.headers);

/** GitHub's answer; null if it answers that this is not there. */
export const nullIf404 = <Answer>(answer: Promise<Answer>): Promise<Answer | null> =>
  answer.catch((error: unknown) => {
    if (isGitHubStatus(error, 404)) return null;
    throw error;
  });

/**
 * GitHub answered about another repository than ours: somebody took the name that we know, or ours has a new one. What it
 * said counts for nothing.
 */
export class NotOurRepository extends Error {
  constructor(id: bigint, name: string) {
    super(`GitHub's answer under the name ${name} is not about the repository ${id}`);
  }
}

export type GitHubFailure =
  /** It does not exist, or we cannot see it. */
  | { kind: 'absent' }
  /**
   * GitHub refuses, and will refuse again: archived, suspended, or a permission or a plan is missing. `permission`: what
   * it names as enough, such as `contents: read`. `upgrade`: what it says of the plan, which does not have this.
   */
  | { kind: 'forbidden'; message: string; permission?: string; upgrade?: string }
  /** The request itself was wrong. */
  | { kind: 'invalid'; message: string }
  /**
   * A rate limit, of all requests or of GraphQL's budget. We must send nothing before `retryAt`, ms since the epoch.
   * `isSecondary`: we ask too fast, and no hourly budget is used up. `isContentCreation`: GitHub says so in the words that
   * it has for statuses and comments.
   */
  | {
      kind: 'limited';
      retryAt: number;
      of: 'all' | 'graphql';
      isSecondary: boolean;
      isContentCreation: boolean;
    }
  /** GitHub is down, slow or not reachable, or refuses the key of the App. */
  | { kind: 'down'; message: string };

/**
 * What a failed call to GitHub means. If the answer is not clear, GitHub counts as down: this is never a no.
 * @param now milliseconds since the epoch.
 */
export function classifyGitHubError(error: unknown, now: number): GitHubFailure {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof GraphqlResponseError) return classifyGraphqlError(error, now);
  if (error instanceof NotOurRepository) return { kind: 'absent' };
  if (!isHttpError(error) || isKeyRefused(error)) return { kind: 'down', message };
  const limit = limitIn(error, now);
  if (limit) {
    const isContentCreation = /blocked from content creation/i.test(message);
    return { kind: 'limited', ...limit, of: isGraphqlBudget(error) ? 'graphql' : 'all', isContentCreation };
  }
  const kind = kindOf[error.status] ?? 'down';
  if (kind === 'absent') return { kind };
  return kind === 'forbidden' ? { kind, message, ...missingIn(error) } : { kind, message };
}

/** GitHub's words. Octokit adds the address of the documentation. */
export const wordsOfGitHub = (message: string): string => message.replace(/ - https?:\S+$/, '').trim();

/** What GitHub says to an account whose plan does not have what we asked for; null for any other error. */
export const upgradeIn = (error: unknown): string | null =>
  isGitHubStatus(error, 403) && /\bupgrade to\b/i.test(error.message) ? wordsOfGitHub(error.message) : null;

/** What is missing, as GitHub says. Other refusals name permissions, too, because all answers do. */
function missingIn(error: RequestError): { permission?: string; upgrade?: string } {
  const upgrade = upgradeIn(error);
  if (upgrade !== null) return { upgrade };
  if (!/not accessible by/i.test(error.message)) return {};
  const permission = permissionsIn(error.response?.headers['x-accepted-github-permissions']);
  return permission === '' ? {} : { permission };
}

/** `a=read,b=write; c=read`: either the first two or the last one. */
const permissionsIn = (header: unknown): string =>
  (typeof header === 'string' ? header : '')
    .split(';')
    .map((set) =>
      [...set.matchAll(/(\w+)=(read|write|admin)\b/g)].map(([, name, level]) => `${name}: ${level}`),
    )
    .filter((set) => set.length > 0)
    .map((set) => set.join(' and '))
    .join(', or ');

const kindOf: Readonly<Record<number, 'absent' | 'forbidden' | 'invalid'>> = {
  400: 'invalid',
  401: 'forbidden',
  403: 'forbidden',
  404: 'absent',
  409: 'invalid',
  410: 'absent',
  422: 'invalid',
  451: 'forbidden',
};

/** GraphQL answers 200 for most failures, limits among them, and names them in `errors`. */
function classifyGraphqlError(error: GraphqlResponseError<unknown>, now: number): GitHubFailure {
  const errors = (error.errors ?? []) as { type?: string; message?: string }[];
  const types = errors.map(({ type }) => type);
  const message = errors.map((each) => each.message ?? '').join('; ');
  const isSecondary = secondaryWords.test(message);
  // The name has changed over time, and both exist.
  if (isSecondary || types.includes('RATE_LIMITED') || types.includes('RATE_LIMIT')) {
    const limit = endOfLimit(error.headers, !isSecondary, now);
    return { kind: 'limited', ...limit, of: limit.isSecondary ? 'all' : 'graphql', isContentCreation: false };
  }
  if (types.includes('NOT_FOUND')) return { kind: 'absent' };
  if (types.includes('FORBIDDEN')) return { kind: 'forbidden', message: error.message };
  return { kind: 'down', message: error.message };
}

/** Whether GraphQL's hourly budget is used up. Secondary limits name a pause, and apply to all requests. */
function isGraphqlBudget({ response }: RequestError): boolean {
  const headers = response?.headers ?? {};
  return headers['retry-after'] === undefined && headers['x-ratelimit-resource'] === 'graphql';
}

/** How long to wait after a secondary limit without `retry-after`, as GitHub recommends. */
const unknownPause = 60_000;

/** Limits are for an hour at most. */
const longestLimit = 3_600_000;

/** The words of a secondary limit. Older Enterprise Servers call it abuse detection. */
const secondaryWords = /secondary rate limit|abuse detection/i;

type Headers = { [name: string]: string | number | undefined };
type Limit = { retryAt: number; isSecondary: boolean };

/** When a rate limit ends; null if it is no rate limit. */
function limitIn(error: RequestError, now: number): Limit | null {
  if (error.status !== 403 && error.status !== 429) return null;
  const headers: Headers = error.response?.headers ?? {};
  const isPrimary = headers['x-ratelimit-remaining'] === '0';
  const isLimit = isPrimary || error.status === 429 || secondaryWords.test(error.message);
  return isLimit || pauseIn(headers) !== null ? endOfLimit(headers, isPrimary, now) : null;
}

/** Primary limits name a reset, secondary ones a pause. */
function endOfLimit(headers: Headers, isPrimary: boolean, now: number): Limit {
  const pause = pauseIn(headers);
  if (pause !== null) return { retryAt: now + Math.min(pause, longestLimit), isSecondary: true };
  if (isPrimary) return { retryAt: resetOf(headers, now), isSecondary: false };
  return { retryAt: now + unknownPause, isSecondary: true };
}

/** What `retry-after` says, in milliseconds. */
function pauseIn(headers: Headers): number | null {
  const seconds = Number(headers['retry-after']);
  return headers['retry-after'] !== undefined && Number.isFinite(seconds) ? seconds * 1000 : null;
}

function resetOf(headers: Headers, now: number): number {
  const reset = Number(headers['x-ratelimit-reset']) * 1000;
  return reset > now ? Math.min(reset, now + longestLimit) : now + unknownPause;
}

const isHttpError = (error: unknown): error is RequestError =>
  error instanceof Error && error.name === 'HttpError' && 'status' in error;
