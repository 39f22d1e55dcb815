import { BlockList, isIP, isIPv4 } from 'node:net';

// By which names people and GitHub reach this service.

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Whether an IP address is a loopback address, also as IPv4 in IPv6 notation. */
export function isLoopbackAddress(address: string): boolean {
  const version = isIP(address);
  return version !== 0 && loopback.check(address, version === 6 ? 'ipv6' : 'ipv4');
}

/** Whether a URL's host name (`[::1]` in brackets) always means this machine. */
const isLoopbackHost = (hostname: string): boolean =>
  hostname === 'localhost' || isLoopbackAddress(hostname.replace(/^\[|\]$/g, ''));

/**
 * The origin in the address bar of a person who opens the setup page: a name of this machine, or PUBLIC_URL. Null for
 * any other name, because an attacker may point it at us (DNS rebinding), or the cookies would not work.
 * @param host the Host header, with its port.
 */
export function originOf(host: string | undefined, publicUrl: string): string | null {
  if (host === undefined || !/^[\w.:[\]-]+$/.test(host)) return null;
  const local = URL.parse(`http://${host}`);
  if (local && isLoopbackHost(local.hostname)) return local.origin;
  const named = new URL(publicUrl);
  return URL.parse(`${named.protocol}//${host}`)?.host === named.host ? named.origin : null;
}

const privateNetworks = new BlockList();
for (const [network, prefix] of [
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['169.254.0.0', 16],
  ['100.64.0.0', 10],
] as const)
  privateNetworks.addSubnet(network, prefix, 'ipv4');

/** Names that only resolve inside one network. */
const isLocalName = (hostname: string): boolean =>
  /^[^.:]+$|\.(?:local|localhost|internal|lan)$/.test(hostname);

/** The reasons why GitHub may not be able to send webhooks to PUBLIC_URL. */
export function publicUrlWarnings(publicUrl: string, webUrl: string): string[] {
  const { hostname, protocol } = new URL(publicUrl);
  const github = new URL(webUrl);
  if (isLoopbackHost(github.hostname)) return [];
  if (isLoopbackHost(hostname)) {
    return [
      `${github.host} cannot reach ${publicUrl}, because that name means this machine. Set PUBLIC_URL to the ` +
        'address where GitHub can reach Holdfast, and restart Holdfast.',
    ];
  }
  const isFarAway = github.host === 'github.com' || github.host.endsWith('.ghe.com');
  const warnings = [];
  if (isFarAway && isIPv4(hostname) && privateNetworks.check(hostname))
    warnings.push(
      `${github.host} cannot reach ${publicUrl}, because that address belongs to a private network.`,
    );
  if (isFarAway && isLocalName(hostname))
    warnings.push(`${github.host} cannot reach ${publicUrl}, because only your network knows that name.`);
  if (protocol === 'http:')
    warnings.push(`${publicUrl} is not encrypted. Put Holdfast behind a proxy that serves HTTPS.`);
  return warnings;
}
