// GitHub's webhooks: where they come from, and when they were turned away.
import { BlockList, isIP } from 'node:net';
import { answersPerService } from './cache.ts';
import type { Tx } from '../database/database.ts';
import type { GitHubDeps } from './github-deps.ts';

/** GitHub asks people to look at the list from time to time. In milliseconds. */
const hooksFreshFor = 86_400_000;
const retryAfter = 60_000;

const networksOf = answersPerService<BlockList | null>(1, (list) => (list ? hooksFreshFor : retryAfter));
/** What was read last, for a request that cannot wait. */
const known = new WeakMap<object, BlockList>();

type Needed = Pick<GitHubDeps, 'db' | 'github' | 'clock' | 'log'>;

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
  await networksOf(deps).get('hooks', () => readHooks(deps));
}

async function readHooks({ db, github, log }: Needed): Promise<BlockList | null> {
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

/** Milliseconds for which answers tell that webhooks were turned away. */
const toldFor = 60_000;

/** When webhooks were last turned away, if that was within a minute. */
export async function webhooksRefusedAt(tx: Tx, now: Date): Promise<Date | null> {
  const at = (await tx.deliveryScan.findUnique({ where: { id: 1 } }))?.refusedAt ?? null;
  return at && now.getTime() - at.getTime() < toldFor ? at : null;
}

export async function saveRefusedAt(tx: Tx, refusedAt: Date): Promise<void> {
  const create = { scannedUntil: new Date(0), refusedAt };
  await tx.deliveryScan.upsert({ where: { id: 1 }, create, update: { refusedAt } });
}
