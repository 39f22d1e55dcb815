import { join } from 'node:path';
import { readJsonFile, settingsFolder, writeJsonFile } from '../memory.ts';
import { misused } from '../stop.ts';
import type { World } from '../world.ts';

/** The GitHub host, as for `gh`. */
export const hostOf = ({ env }: Pick<World, 'env'>): string => env.GH_HOST?.trim() || 'github.com';

/** The address that somebody named: by the option, by `HOLDFAST_URL`, or by `holdfast login`. */
export const namedAddress = (world: World, option: string | undefined): string | null =>
  option ?? (world.env.HOLDFAST_URL?.trim() || savedAddress(world));

/** The address of the service. @throws Stop if nobody named one, or if it is not an address. */
export function addressOf(world: World, option: string | undefined): string {
  const named = namedAddress(world, option);
  if (!named) {
    throw misused(
      'Set the address of Holdfast with holdfast login https://holdfast.example.com, or with HOLDFAST_URL.',
    );
  }
  return readAddress(named);
}

/** An address as people write it, without `/v1` and slashes at its end. @throws Stop if it is not an address. */
export function readAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  // Does not repeat a text that may be a secret.
  if (url && (url.username || url.password || url.search || url.hash))
    throw misused(
      'The address of a Holdfast has no user, password, query or fragment. Write one such as https://holdfast.example.com.',
    );
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw misused(
      `"${text}" is not the address of a Holdfast. Write one such as https://holdfast.example.com.`,
    );
  }
  return url.href.replace(/\/+$/, '').replace(/\/v1$/, '');
}

/** Whether others on the way can read what is sent to this address: http, to another machine. */
export function isReadableOnTheWay(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === 'http:' && !/^(?:localhost|.*\.localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
}

/** The file that `holdfast login` writes: the address of Holdfast for each GitHub. It holds no credential. */
export const addressesFile = (world: World): string => join(settingsFolder(world), 'config.json');

/** The address of Holdfast for the GitHub of this call; null if none is saved. */
function savedAddress(world: World): string | null {
  const url = hostsIn(readJsonFile(addressesFile(world)))[hostOf(world)]?.url;
  return typeof url === 'string' ? url : null;
}

/** Saves an address for a GitHub. The others stay. */
export function saveAddress(world: World, host: string, url: string): void {
  const saved = readJsonFile(addressesFile(world)) ?? {};
  writeJsonFile(addressesFile(world), { ...saved, hosts: { ...hostsIn(saved), [host]: { url } } });
}

const hostsIn = (saved: Record<string, unknown> | null) =>
  (saved?.['hosts'] ?? {}) as Record<string, { url?: unknown } | undefined>;
