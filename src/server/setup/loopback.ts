import { BlockList, isIP } from 'node:net';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Whether an IP address is a loopback address, also as IPv4 in IPv6 notation. */
export function isLoopbackAddress(address: string): boolean {
  const version = isIP(address);
  return version !== 0 && loopback.check(address, version === 6 ? 'ipv6' : 'ipv4');
}

/** Whether a URL's host name (`[::1]` in brackets) always means this machine. */
export const isLoopbackHost = (hostname: string): boolean =>
  hostname === 'localhost' || isLoopbackAddress(hostname.replace(/^\[|\]$/g, ''));
