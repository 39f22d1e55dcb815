// Whether GitHub's API answers at GITHUB_API_URL. A web server, a sign-in page or another product there would be taken for
// GitHub: its 404 would mean that an installation is gone.
import type { Logger } from 'pino';
import type { Clock } from '../time/clock.ts';
import { isSigned } from './key-standing.ts';

/** Milliseconds until the log repeats what is wrong. */
const repeatEvery = 3_600_000;

/**
 * What the first answers say of the address: those to what the App signs, because a start asks GitHub so, and every retry
 * does. Once GitHub answered, the address is right: then a page in between is a disturbance.
 */
export class ApiAddress {
  readonly #url: string;
  readonly #clock: Clock;
  readonly #log: Logger;
  #isRight = false;
  #problem: string | null = null;
  #loggedAt = -Infinity;

  constructor(url: string, clock: Clock, log: Logger) {
    this.#url = url;
    this.#clock = clock;
    this.#log = log;
  }

  /** What to say while something else than GitHub's API answers there; null if nothing is known against the address. */
  problem(): string | null {
    return this.#problem;
  }

  /**
   * Hands answers on that GitHub gave. Other requests than those that prove it are not sent where GitHub is not: they have
   * tokens.
   * @param isProof whether the answer to a request counts.
   */
  watch(send: typeof fetch, isProof = isOfApp): typeof fetch {
    return async (input, init) => {
      if (this.#isRight) return send(input, init);
      const counts = isProof(init);
      if (!counts && this.#problem) throw new Error(this.#problem);
      const answer = await send(input, init);
      if (counts) this.#note(await judgeAnswer(answer, new URL(String(input)), this.#url));
      if (this.#problem) throw new Error(this.#problem);
      return answer;
    };
  }

  #note(verdict: AddressVerdict): void {
    if (verdict === 'unclear') return;
    const wasWrong = this.#problem !== null;
    this.#isRight = verdict === 'right';
    this.#problem = verdict === 'right' ? null : notGitHub(this.#url, verdict.sends);
    if (this.#isRight && wasWrong) this.#log.info('GitHub’s API answers at GITHUB_API_URL');
    if (!this.#problem || this.#clock.now() < this.#loggedAt + repeatEvery) return;
    this.#loggedAt = this.#clock.now();
    this.#log.error({ problem: this.#problem }, 'GITHUB_API_URL is wrong, so nothing is held or let go');
  }
}

const isOfApp = (init: RequestInit | undefined): boolean =>
  isSigned(init?.headers as Record<string, string> | undefined);

/** `unclear`: GitHub may be down. `sends`: what answers in its place, for a sentence. */
type AddressVerdict = 'right' | 'unclear' | { sends: string };

/** What an answer says of the address that it came from. @param asked what was requested, below `apiUrl`. */
export async function judgeAnswer(answer: Response, asked: URL, apiUrl: string): Promise<AddressVerdict> {
  const { status, headers } = answer;
  if (status >= 500 || status === 408 || status === 429 || status === 204) return 'unclear';
  const from = URL.parse(answer.url)?.origin ?? asked.origin;
  if (from !== new URL(apiUrl).origin) return { sends: `sends everybody on to ${from}` };
  const type = (headers.get('content-type') ?? '').split(';')[0]!.trim();
  if (!/json$/.test(type)) return { sends: `answers ${status} with ${type || 'no type of content'}` };
  const body = await bodyOf(answer);
  const isApp = asked.href.split('?')[0] === `${apiUrl}/app`;
  if (status >= 400) {
    // GitHub names its documentation in each refusal. Everywhere there is an /app: without it, the path is another one.
    const isGitHub = typeof body['message'] === 'string' && typeof body['documentation_url'] === 'string';
    const isOtherPath = isApp && body['message'] === 'Not Found';
    return isGitHub && !isOtherPath ? 'right' : { sends: `answers ${status} with JSON of something else` };
  }
  // Apps, installations and deliveries have ids, and lists are of these.
  if (Array.isArray(body) || typeof body['id'] === 'number' || typeof body['token'] === 'string')
    return 'right';
  return isApp ? { sends: `answers ${status} with JSON of something else` } : 'unclear';
}

/** The JSON of an answer, which others can read too. Answers of `fetchUntil` have it already. */
async function bodyOf(answer: Response): Promise<Record<string, unknown>> {
  const body: unknown =
    'clone' in answer
      ? await answer
          .clone()
          .json()
          .catch(() => null)
      : (answer as { body: unknown }).body;
  return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
}

/** The sentence about an address where something else answers. @param sends see `Verdict`. */
export function notGitHub(apiUrl: string, sends: string): string {
  const { origin, pathname } = new URL(apiUrl);
  const address = origin + (pathname === '/' ? '' : pathname);
  return `GITHUB_API_URL (${address}) does not answer as GitHub's API does, because it ${sends}: ${rightAddress(new URL(apiUrl))}.`;
}

/** Where the API is that somebody meant. */
function rightAddress({ origin, hostname, pathname }: URL): string {
  const [, tenant] = /(?:^|\.)([^.]+\.ghe\.com)$/.exec(hostname) ?? [];
  const hosted = /(?:^|\.)github\.com$/.test(hostname) ? 'github.com' : tenant;
  const path = pathname.replace(/\/+$/, '');
  const meant = hosted ? `https://api.${hosted}` : `${origin}/api/v3`;
  if (origin + path === meant)
    return 'check its host name, and that no proxy and no sign-in answers in the place of GitHub';
  return hosted
    ? `for ${hosted} it is ${meant}`
    : `for GitHub Enterprise Server it ends in /api/v3, as in ${meant}`;
}
