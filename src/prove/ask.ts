// The questions of a run to GitHub, each kept with its answer.
import { parseJson } from '../cli/service/service.ts';
import type { World } from '../cli/world.ts';
import { fetchThroughProxy, type Proxies } from '../github/through-proxy.ts';
import { Unclear } from './verdict.ts';

/**
 * What a run is about.
 * @property run its name. @property token the owner's. @property stop ends it early. @property note tells how far it is.
 */
export type ProveGround = Record<'apiUrl' | 'organization' | 'run' | 'token', string> & {
  world: Pick<World, 'now' | 'delay'>;
  proxies: Proxies;
  stop: AbortSignal;
  note(text: string): void;
};

/** As recordings call them: the owner, the App itself, its installation, that of the second App, and a weaker token. */
export type ProveCaller = 'ada' | 'app' | 'installation' | 'second' | 'weak';

/** A JSON value, as GitHub sends it. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- answers have every shape, and a step reads few of their fields
export type ProveJson = any;

/** What was asked and what GitHub answered. */
export type Exchange = Record<'method' | 'path', string> & {
  as: ProveCaller;
  sent?: ProveJson;
  status: number;
  headers: Record<string, string>;
  answer: ProveJson;
  requestId: string | null;
};

/** Asks GitHub. Every status is an answer. @throws Unclear if there is none. */
export type Ask = (method: string, path: string, sent?: ProveJson) => Promise<Exchange>;

/** The headers that steps judge by. */
const keptHeaders = ['location', 'retry-after', 'x-accepted-github-permissions', 'x-oauth-scopes'];
/** Milliseconds of real time for an answer. */
const provePatience = 30_000;
const mostRefusals = 3;

export const isLimit = ({ status, answer }: Exchange): boolean =>
  status === 429 || (status === 403 && /rate limit|abuse detection/i.test(String(answer?.message)));

/** Asks of the owner that are kept nowhere. */
export const provedOwner = (ground: ProveGround): Ask => askAs(ground, 'ada', async () => ground.token);

/**
 * Asks with a credential. After a limit it waits as long as GitHub says, and asks again.
 * @param tape where exchanges are kept. @param takesLimits a limit is an answer, too.
 */
export function askAs(
  { apiUrl, proxies, world, stop }: ProveGround,
  as: ProveCaller,
  token: () => Promise<string>,
  tape: Exchange[] = [],
  takesLimits = false,
): Ask {
  const once: Ask = async (method, path, sent) => {
    const response = await fetchThroughProxy(proxies)(apiUrl + path, {
      method,
      redirect: 'manual',
      signal: AbortSignal.any([stop, AbortSignal.timeout(provePatience)]),
      headers: {
        Authorization: `Bearer ${await token()}`,
        Accept: 'application/vnd.github+json',
        'User-Agent': 'holdfast-prove',
        'X-GitHub-Api-Version': '2022-11-28',
      },
      ...(sent !== undefined && { body: JSON.stringify(sent) }),
    });
    const text = await response.text();
    return {
      ...{ as, method, path, ...(sent !== undefined && { sent }), status: response.status },
      headers: Object.fromEntries([...response.headers].filter(([name]) => keptHeaders.includes(name))),
      answer: parseJson(text) ?? (text || null),
      requestId: response.headers.get('x-github-request-id'),
    };
  };
  return async (method, path, sent) => {
    for (let refusals = 0; ; refusals++) {
      const exchange = await once(method, path, sent).catch(({ message, cause }: Error) => {
        const why = cause instanceof Error ? cause.message : message;
        throw new Unclear(`GitHub did not answer ${method} ${path}: ${why}.`);
      });
      if (takesLimits || !isLimit(exchange) || refusals === mostRefusals) {
        tape.push(exchange);
        return exchange;
      }
      await world.delay(1000 * Number(exchange.headers['retry-after'] ?? 60), stop);
    }
  };
}
