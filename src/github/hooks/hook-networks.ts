import { BlockList, isIP } from 'node:net';
import { cachePerService, keepAnswer } from '../cache.ts';
import type { Deps } from '../../deps.ts';

/** GitHub asks people to look at the list from time to time. In milliseconds. */
const freshFor = 86_400_000;
const retryAfter = 60_000;

const networksOf = cachePerService<'hooks', Promise<BlockList | null>>(1, freshFor);
/** What was read last, for a request that cannot wait. */
const known = new WeakMap<object, BlockList>();

type Needed = Pick<Deps, 'db' | 'github' | 'clock' | 'log'>;

/** Whether GitHub sends webhooks from this address, as far as its list was read. */
export const isOfGitHub = ({ github }: Needed, address: string): boolean =>
  isIP(address) !== 0 && (known.get(github)?.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4') ?? false);

/** The address through which GitHub's webhooks come, if it is neither GitHub's nor a trusted proxy. */
const unnamed = new WeakMap<object, string>();

/** The proxy that TRUSTED_PROXIES should name; null if none is known. */
export const unnamedProxy = ({ github }: Needed): string | null => unnamed.get(github) ?? null;

/** Notes where a webhook with a right signature came from, and logs a proxy that nobody named, once. */
export function noteSender(deps: Needed, address: string): void {
  const { github, log } = deps;
  if (!known.has(github)) return;
  if (isOfGitHub(deps, address)) unnamed.delete(github);
  else if (unnamed.get(github) !== address) {
    unnamed.set(github, address);
    log.warn(
      { address },
      'GitHub’s webhooks come through a proxy that TRUSTED_PROXIES does not name, so strangers can crowd them out',
    );
  }
}

/** Reads the addresses that GitHub sends webhooks from, at most once a day. Never throws. */
export async function readGitHubNetworks(deps: Needed): Promise<void> {
  const networks = networksOf(deps);
  await (networks.get('hooks') ??
    keepAnswer(networks, deps.clock, 'hooks', read(deps), (list) => (list ? freshFor : retryAfter)));
}

async function read({ db, github, log }: Needed): Promise<BlockList | null> {
  try {
    // The App itself cannot ask: GitHub takes its own credential only for questions about the App.
    const { id } = await db.installation.findFirstOrThrow({ where: { deletedAt: null, suspendedAt: null } });
    const { data } = await (await github.asInstallation(id)).rest.meta.get();
    const list = new BlockList();
    for (const network of data.hooks ?? []) {
      const [address = '', bits] = network.split('/');
      list.addSubnet(address, Number(bits), isIP(address) === 6 ? 'ipv6' : 'ipv4');
    }
    known.set(github, list);
    return list;
  } catch (error) {
    log.debug({ err: error }, 'the addresses of GitHub’s webhooks could not be read');
    return null;
  }
}
