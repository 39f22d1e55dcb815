import { type LookupAddress, lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { Dispatcher } from 'undici';
import { within } from '../time/clock.ts';
import { compileGlob } from '../conditions/patterns/compile-glob.ts';
import type { Config } from '../config.ts';
import { type Proxies, proxyOptions } from '../github/through-proxy.ts';
import type { Ground } from '../database/ground.ts';

/** We never connect to this address. The message tells people why, and what to do. It never has the path: that is a secret. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;

const nat64 = ipaddr.parseCIDR('64:ff9b::/96');
const sixToFour = ipaddr.parseCIDR('2002::/16');
const globalUnicast = ipaddr.parseCIDR('2000::/3');

/** The IPv4 address that an IPv6 address stands for, or itself. */
function unwrapped(address: Address): Address {
  if (address instanceof ipaddr.IPv4) return address;
  if (address.isIPv4MappedAddress()) return address.toIPv4Address();
  const bytes = address.toByteArray();
  if (address.match(nat64)) return new ipaddr.IPv4(bytes.slice(12));
  return address.match(sixToFour) ? new ipaddr.IPv4(bytes.slice(2, 6)) : address;
}

/** Public by its number alone: every virtual machine of Azure finds the services of its host there. */
const azureHost = '168.63.129.16';

function isPublic(address: Address): boolean {
  const inner = unwrapped(address);
  if (inner.range() !== 'unicast' || inner.toString() === azureHost) return false;
  return inner instanceof ipaddr.IPv4 || inner.match(globalUnicast);
}

type Test = (host: string, address: Address | null) => boolean;

/** The tests of each list of allowed hosts: parsing it costs more than asking it. */
const testsOf = new WeakMap<string[], Test[]>();

function testOf(allowed: string): Test {
  if (ipaddr.isValidCIDR(allowed)) {
    const [network, bits] = ipaddr.parseCIDR(allowed);
    return (_, address) =>
      address !== null && address.kind() === network.kind() && address.match(network, bits);
  }
  if (ipaddr.isValid(allowed)) {
    const text = unwrapped(ipaddr.parse(allowed)).toString();
    return (_, address) => address?.toString() === text;
  }
  const isMatch = compileGlob(allowed);
  return (host, address) => address === null && isMatch(host);
}

/** Whether WEBHOOK_ALLOWED_HOSTS has a name, a glob of names, an address or a network for a host. */
function isAllowed(host: string, allowedHosts: string[]): boolean {
  const address = isIP(host) === 0 ? null : unwrapped(ipaddr.parse(host));
  const tests = testsOf.get(allowedHosts) ?? allowedHosts.map(testOf);
  testsOf.set(allowedHosts, tests);
  return tests.some((test) => test(host, address));
}

/** The host of an address as DNS and WEBHOOK_ALLOWED_HOSTS write it. */
const hostOfUrl = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');

const allowIt = (host: string) =>
  `If it is meant, whoever runs Holdfast adds ${host} to WEBHOOK_ALLOWED_HOSTS.`;

/** Never says to which address a name resolves: that would map our network for whoever asks. */
const notPublic = (host: string, isResolved = false) =>
  new AddressRefused(
    `The host ${host} ${isResolved ? 'resolves to an internal address, which is not a public address' : 'is not a public address'}. ${allowIt(host)}`,
  );

/** Judges an address that a person named, as far as its text tells. @throws AddressRefused */
export function checkAddress(text: string, allowedHosts: string[]): URL {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || !url.hostname)
    throw new AddressRefused('This is not an address. Use one such as https://example.com/hook.');
  if (url.username || url.password)
    throw new AddressRefused('The address has a user name or password. Remove what is before the @.');
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
  if (port < 1024 && port !== 80 && port !== 443)
    throw new AddressRefused(`Port ${port} is not allowed. Use 443, 80, or a port from 1024.`);
  const host = hostOfUrl(url);
  if (isAllowed(host, allowedHosts)) return url;
  if (url.protocol !== 'https:')
    throw new AddressRefused(`The address must begin with https://. For http, ${lowerFirst(allowIt(host))}`);
  if (isIP(host) !== 0 && !isPublic(ipaddr.parse(host))) throw notPublic(host);
  return url;
}

const lowerFirst = (text: string) => text[0]!.toLowerCase() + text.slice(1);

/**
 * Resolves names for connections, and refuses a name if one of its addresses is not public. What it returns is connected
 * to, so a name cannot change in between.
 */
function judgedLookup(allowedHosts: string[], resolve: LookupFunction = lookup): LookupFunction {
  return (name, options, callback) => {
    resolve(name, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, []);
      const addresses = found as LookupAddress[];
      const host = name.toLowerCase().replace(/\.$/, '');
      const isBad = addresses.some(
        ({ address }) => !isPublic(ipaddr.parse(address)) && !isAllowed(address, allowedHosts),
      );
      if (isBad && !isAllowed(host, allowedHosts)) return callback(notPublic(host, true), []);
      if (options.all) return callback(null, addresses);
      const [first] = addresses;
      callback(null, first!.address, first!.family);
    });
  };
}

/** Milliseconds that a look-up may take while a person waits. */
const lookupPatience = 2000;

/**
 * Judges an address before it is saved: also what its name resolves to now. A name that does not resolve passes.
 * @throws AddressRefused
 */
export async function checkReachable(
  text: string,
  allowedHosts: string[],
  resolve?: LookupFunction,
): Promise<URL> {
  const url = checkAddress(text, allowedHosts);
  const host = hostOfUrl(url);
  if (isIP(host) !== 0) return url;
  const refused = new Promise<Error | null>((done) =>
    judgedLookup(allowedHosts, resolve)(host, { all: true }, (error) => done(error)),
  );
  const error = await within(lookupPatience, refused);
  if (error instanceof AddressRefused) throw error;
  return url;
}

/** What a public address answered. */
export type PublicAnswer = {
  status: number;
  /** @param name in lower case. */
  header(name: string): string | null;
  /** Reads the body, once. Resolves to null if it has more than so many bytes; then the connection is closed. */
  bytes(most: number): Promise<Buffer | null>;
  /** The same in UTF-8. */
  text(most: number): Promise<string | null>;
  /** Ignores the body. */
  drop(): Promise<void>;
};

type PublicRequest = {
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body?: string;
  signal: AbortSignal;
};

/** A body that is ignored is read up to so many bytes, to keep the connection. */
const ignoredBytes = 8192;

/** To one host. What is too many waits. */
const mostConnections = 32;

/** A service that tells nobody never needs it, and it takes some MiB. */
const loadUndici = () => import('undici');

/** The connections of each service in this process. Tests run several. */
const agents = new WeakMap<Config, Promise<Dispatcher>>();

/**
 * An agent for addresses that people named. Behind a proxy, the proxy resolves the names: then it decides which addresses
 * can be reached.
 */
export async function createPublicAgent(
  config: Pick<Config, 'webhookAllowedHosts'> & Proxies,
  resolve?: LookupFunction,
): Promise<Dispatcher> {
  const { EnvHttpProxyAgent } = await loadUndici();
  return new EnvHttpProxyAgent({
    connect: { lookup: judgedLookup(config.webhookAllowedHosts, resolve) },
    allowH2: false,
    connections: mostConnections,
    ...proxyOptions(config),
  });
}

/**
 * Asks an address that a person named. It connects only to addresses that it judged, and follows no redirect.
 * @throws AddressRefused, the reason of the signal, or the error of the network.
 */
export async function fetchPublic(
  { config }: Pick<Ground, 'config'>,
  url: URL,
  init: PublicRequest,
): Promise<PublicAnswer> {
  checkAddress(url.href, config.webhookAllowedHosts);
  const dispatcher = agents.get(config) ?? createPublicAgent(config);
  agents.set(config, dispatcher);
  return askDns(await dispatcher, url, init);
}

/** `fetchPublic` through an agent. */
export async function askDns(dispatcher: Dispatcher, url: URL, init: PublicRequest): Promise<PublicAnswer> {
  const { request } = await loadUndici();
  const { statusCode, headers, body } = await request(url, { ...init, dispatcher });
  const bytes = async (most: number): Promise<Buffer | null> => {
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of body as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > most) return null;
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  };
  return {
    status: statusCode,
    header: (name) => [headers[name] ?? []].flat()[0] ?? null,
    bytes,
    text: async (most) => (await bytes(most))?.toString() ?? null,
    drop: () => body.dump({ limit: ignoredBytes, signal: init.signal }),
  };
}
