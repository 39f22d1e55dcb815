import { addressFor } from '../memory/addresses.ts';
import { misused } from '../stop.ts';
import type { World } from '../world.ts';

/** The GitHub host, as for `gh`. */
export const hostOf = ({ env }: Pick<World, 'env'>): string => env.GH_HOST?.trim() || 'github.com';

/**
 * The address of the service: from the option, from `HOLDFAST_URL`, or as `holdfast login` saved it.
 * @throws Stop if there is none, or if it is not an address.
 */
export function addressOf(world: World, option: string | undefined): string {
  const given = option ?? (world.env.HOLDFAST_URL?.trim() || addressFor(world, hostOf(world)));
  if (!given) {
    throw misused(
      'Set the address of Holdfast with holdfast login https://holdfast.example.com, or with HOLDFAST_URL.',
    );
  }
  return readAddress(given);
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
