import { addressFor } from '../memory/addresses.ts';
import { misused } from '../stop.ts';
import type { World } from '../world.ts';

/** The GitHub that is meant, as `gh` has it. */
export const hostOf = ({ env }: Pick<World, 'env'>): string => env.GH_HOST?.trim() || 'github.com';

/**
 * Where the service answers: as the option says, `HOLDFAST_URL`, or what `holdfast login` kept.
 * @throws Stop where nobody said, or it is no address.
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

/** An address as people write it, without `/v1` and slashes at its end. @throws Stop where it is none. */
export function readAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  // What may be a secret is not said again.
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

/** Whether others on the way to this address can read what is sent: http, to another machine. */
export function isReadableOnTheWay(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === 'http:' && !/^(?:localhost|.*\.localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
}
