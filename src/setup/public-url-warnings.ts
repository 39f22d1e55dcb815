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

/** Names that only machines of one network know. */
const isLocalName = (hostname: string): boolean =>
  /^[^.:]+$|\.(?:local|localhost|internal|lan)$/.test(hostname);

/** What is wrong with PUBLIC_URL as the address that GitHub sends webhooks to; nothing, where it looks right. */
export function publicUrlWarnings(publicUrl: string, webUrl: string): string[] {
  const { hostname, protocol } = new URL(publicUrl);
  const github = new URL(webUrl);
  if (isLoopbackHost(github.hostname)) return [];
  if (isLoopbackHost(hostname)) {
    return [
      `${github.host} cannot reach ${publicUrl}: that name means this machine alone. Set PUBLIC_URL to the address ` +
        'at which GitHub reaches Holdfast, and start it again.',
    ];
  }
  const isFarAway = github.host === 'github.com' || github.host.endsWith('.ghe.com');
  const warnings = [];
  if (isFarAway && isIPv4(hostname) && privateNetworks.check(hostname))
    warnings.push(`${github.host} cannot reach ${publicUrl}: that address belongs to a private network.`);
  if (isFarAway && isLocalName(hostname))
    warnings.push(`${github.host} cannot reach ${publicUrl}: that name is known in your network alone.`);
  if (protocol === 'http:')
    warnings.push(`${publicUrl} is not encrypted: put Holdfast behind something that speaks HTTPS.`);
  return warnings;
}
