import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context } from 'hono';
import { type BlockList, isIP } from 'node:net';
import type { Ground } from '../../database/ground.ts';

/** An IP address without the notation of IPv4 in IPv6; null if the text is not an address. */
function plain(text: string): string | null {
  const address = text.trim().replace(/^::ffff:(?=\d+\.)/i, '');
  return isIP(address) ? address : null;
}

export const isTrusted = (address: string, trusted: BlockList): boolean =>
  trusted.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');

/**
 * The address that a request came from: that of the socket. If that is a trusted proxy, it is the right-most address of
 * `X-Forwarded-For` that is not a trusted proxy. Anybody could have written the addresses left of it.
 */
export function clientAddress(
  socket: string | undefined,
  forwardedFor: string | undefined,
  trusted: BlockList,
): string {
  let client = plain(socket ?? '') ?? '';
  for (const hop of (forwardedFor ?? '').split(',').toReversed()) {
    const next = plain(hop);
    if (!client || !isTrusted(client, trusted) || next === null) break;
    client = next;
  }
  return client;
}

/** The address that a request came from, as `clientAddress`. */
export const addressOfClient = ({ config }: Pick<Ground, 'config'>, context: Context): string =>
  clientAddress(
    getConnInfo(context).remote.address,
    context.req.header('X-Forwarded-For'),
    config.trustedProxies,
  );

/** What counts as one client: an IPv4 address, or the /64 of IPv6 that one customer gets. */
export function networkOf(address: string): string {
  if (isIP(address) !== 6) return address;
  const [left = '', right] = new URL(`http://[${address.split('%')[0]}]`).hostname.slice(1, -1).split('::');
  const groups = (text: string) => text.split(':').filter((group) => group !== '');
  const zeros = right === undefined ? 0 : 8 - groups(left).length - groups(right).length;
  return [...groups(left), ...Array<string>(zeros).fill('0'), ...groups(right ?? '')].slice(0, 4).join(':');
}
