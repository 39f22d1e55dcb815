import type { WebClient } from '@slack/web-api';
import { cutText } from '../../cut-text.ts';
import { fetchThroughProxy } from '../../github/through-proxy.ts';
import type { Ground } from '../../database/ground.ts';

/** Why Slack did not do something. */
export class SlackFailure extends Error {
  /** `refused`: asking again changes nothing. `limited`: not before `retryAfter` seconds. `down`: it did not answer. */
  readonly kind: 'refused' | 'limited' | 'down';
  /** Slack's word, such as `channel_not_found`, or the status of HTTP. */
  readonly reason: string;
  readonly retryAfter: number | null;

  constructor(kind: SlackFailure['kind'], reason: string, retryAfter: number | null = null) {
    super(`Slack: ${reason}`);
    this.name = 'SlackFailure';
    this.kind = kind;
    this.reason = reason;
    this.retryAfter = retryAfter;
  }
}

/** Milliseconds that Slack has for an answer. */
const slackPatience = 10_000;

/** The library would write to the console. */
export const quiet = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  setLevel() {},
  setName() {},
  getLevel: () => 'error' as never,
};

/** Options of the library: our jobs try again, so that it does not. */
export const optionsOf = ({ config }: Pick<Ground, 'config'>) => ({
  slackApiUrl: config.slack.apiUrl,
  fetch: fetchThroughProxy(config) as never,
  retryConfig: { retries: 0 },
  rejectRateLimitedCalls: true,
  timeout: slackPatience,
  logger: quiet,
});

/**
 * Asks Slack as a bot or an app. Loads the library at the first question: a service without Slack never needs it.
 * @throws SlackFailure.
 */
export async function askSlack<Answer>(
  deps: Pick<Ground, 'config'>,
  token: string,
  ask: (client: WebClient) => Promise<Answer>,
): Promise<Answer> {
  const { WebClient } = await import('@slack/web-api');
  try {
    return await ask(new WebClient(token, optionsOf(deps)));
  } catch (error) {
    throw failureOf(error);
  }
}

type LibraryError = Error & {
  code?: string;
  data?: { error: string };
  retryAfter?: number;
  statusCode?: number;
};

function failureOf(error: unknown): unknown {
  const { code, data, retryAfter, statusCode, message } = error as LibraryError;
  if (code === 'slack_webapi_platform_error')
    return data!.error === 'ratelimited'
      ? new SlackFailure('limited', data!.error, 30)
      : new SlackFailure(passing.has(data!.error) ? 'down' : 'refused', data!.error);
  if (code === 'slack_webapi_rate_limited_error')
    return new SlackFailure('limited', 'ratelimited', retryAfter ?? 30);
  if (code === 'slack_webapi_http_error') return new SlackFailure('down', `HTTP ${statusCode}`);
  if (code === 'slack_webapi_request_error') return new SlackFailure('down', message);
  return error;
}

/** What Slack says while it cannot do anything. */
const passing = new Set(['internal_error', 'fatal_error', 'service_unavailable', 'request_timeout']);

/** What somebody reads in Slack. */
export type SlackMessage = { text: string; blocks?: object[] };

/**
 * Whether this is an address of Slack's for answers. A request that its signer made up could name any other.
 * @param apiUrl where Slack's API is: elsewhere in tests.
 */
export function isResponseUrl(apiUrl: string, text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { origin } = new URL(text);
  return (
    origin === 'https://hooks.slack.com' ||
    origin === 'https://hooks.slack-gov.com' ||
    (origin === new URL(apiUrl).origin && !/\bslack(?:-gov)?\.com$/.test(new URL(apiUrl).hostname))
  );
}

/**
 * Answers a request of Slack at the address that it named.
 * @param isPublic whether the whole channel sees it, or only who asked.
 * @throws SlackFailure.
 */
export async function respond(
  { config }: Pick<Ground, 'config'>,
  url: string,
  message: SlackMessage,
  isPublic: boolean,
): Promise<void> {
  const body = {
    ...message,
    response_type: isPublic ? 'in_channel' : 'ephemeral',
    replace_original: false,
  };
  let answer: Response;
  try {
    answer = await fetchThroughProxy(config)(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
      redirect: 'error',
      signal: AbortSignal.timeout(slackPatience),
    });
  } catch (error) {
    throw new SlackFailure('down', (error as Error).message);
  }
  if (answer.ok) return void (await answer.body?.cancel());
  // The database keeps it: whole characters, none that it refuses.
  const text = cutText((await answer.text()).replaceAll(/\p{C}+/gu, ' '), 100);
  if (answer.status === 429)
    throw new SlackFailure('limited', 'ratelimited', Number(answer.headers.get('Retry-After') ?? 30));
  throw new SlackFailure(answer.status >= 500 ? 'down' : 'refused', `HTTP ${answer.status} ${text}`);
}
