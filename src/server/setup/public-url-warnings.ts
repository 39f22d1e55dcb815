import { BlockList, isIPv4 } from 'node:net';
import { isLoopbackHost } from './loopback.ts';

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
