import type { EnvHttpProxyAgent } from 'undici';
import type { Config } from '../config.ts';

// Requests to the services that the settings name: GitHub, its issuer of tokens, and Slack. Addresses that people name
// are judged besides, by `notices/public-address.ts`, behind the same proxies.

/** What the settings say of proxies. */
export type Proxies = Pick<Config, 'httpProxy' | 'httpsProxy' | 'noProxy'>;

/** The same for an agent. An empty text keeps it from reading the environment itself. */
export const proxyOptions = ({ httpProxy, httpsProxy, noProxy }: Proxies) => ({
  httpProxy: httpProxy ?? '',
  httpsProxy: httpsProxy ?? '',
  noProxy,
});

/** The connections of each service in this process. Tests run several. */
const agents = new WeakMap<Proxies, EnvHttpProxyAgent>();

/** An agent for the proxies of the settings; undefined if there are none. It takes some MiB, so only then. */
export async function proxyAgent(config: Proxies): Promise<EnvHttpProxyAgent | undefined> {
  if (config.httpProxy === null && config.httpsProxy === null) return undefined;
  const { EnvHttpProxyAgent } = await import('undici');
  const known = agents.get(config) ?? new EnvHttpProxyAgent(proxyOptions(config));
  agents.set(config, known);
  return known;
}

/** `fetch`, through the proxies of the settings. */
export const fetchThroughProxy =
  (config: Proxies): typeof fetch =>
  async (url, init) => {
    const dispatcher = await proxyAgent(config);
    if (!dispatcher) return fetch(url, init);
    const { fetch: fetchThrough } = await import('undici');
    return fetchThrough(url as string, { ...(init as object), dispatcher }) as unknown as Promise<Response>;
  };
