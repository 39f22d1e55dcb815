import type { Clock } from '../time/clock.ts';
import type { Metrics } from '../metrics.ts';

/** GitHub itself ends requests after 10 s. We wait little longer for a silent connection. */
const requestTimeout = 12_000;

export type Counting = Pick<Metrics, 'countGitHubRequest'>;

/** GitHub answers each version for two years after the next one. */
const apiVersion = { 'x-github-api-version': '2022-11-28' };

/**
 * Asks GitHub once, or twice if a connection ended.
 * @param cutOff ends every request under way. @param hear gets each answer, and when it was asked for.
 */
export const fetchUntil =
  (
    fetchGitHub: typeof fetch,
    cutOff: AbortSignal,
    metrics: Counting,
    hear: (answer: Response, askedAt: number) => void,
    clock: Clock,
  ): typeof fetch =>
  async (input, init) => {
    const signals = [cutOff, AbortSignal.timeout(requestTimeout), init?.signal].filter((signal) => !!signal);
    const headers = { ...apiVersion, ...(init?.headers as Record<string, string>) };
    const send = async () => {
      const askedAt = clock.elapsed();
      const answer = fetchGitHub(input, { ...init, headers, signal: AbortSignal.any(signals) });
      metrics.countGitHubRequest((await answer.catch(() => null))?.status ?? null);
      hear(await answer, askedAt);
      return withData(await answer);
    };
    return isRead(input, init) ? send().catch((error) => (isCutOff(error) ? send() : fail(error))) : send();
  };

/**
 * What Octokit takes as it is (`parseSuccessResponseBody`): its own parser looks at each value for integers beyond 2^53,
 * which GitHub does not send.
 * @throws if the connection ends before the body does.
 */
async function withData(answer: Response): Promise<Response> {
  if (!answer.ok || !/json/.test(answer.headers.get('content-type') ?? '')) return answer;
  const text = await answer.text();
  const { status, url, headers } = answer;
  const body = text === '' ? '' : (JSON.parse(text) as object);
  return { status, url, headers, body: url.endsWith('/graphql') ? graphqlBody(body) : body } as Response;
}

/** GraphQL can refuse with status 200 and a body of REST. Octokit would take that for an answer without data. */
const graphqlBody = (body: object | string): object | string =>
  typeof body === 'object' && 'message' in body && !('data' in body || 'errors' in body)
    ? { data: null, errors: [body] }
    : body;

/** Whether the request can be sent twice. GraphQL requests are all queries. */
const isRead = (input: unknown, init: RequestInit | undefined): boolean =>
  (init?.method ?? 'GET') === 'GET' || new URL(String(input)).pathname.endsWith('/graphql');

/** GitHub closes idle connections, sometimes while the next request is on its way. */
const isCutOff = (error: unknown): boolean =>
  ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'].includes(
    (error as { cause?: { code?: string } }).cause?.code ?? '',
  );

const fail = (error: unknown): never => {
  throw error;
};
