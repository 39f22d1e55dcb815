import { createHash, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';
import { BlockList, isIP, isIPv4 } from 'node:net';
import type { Context } from 'hono';
import type { Clock } from '../../time/clock.ts';
import { type Cookie, dropCookie, readCookie, writeCookie } from '../../auth/sign-in/sessions.ts';
import { deriveKey, openingKeys, type SecretKeys } from '../../database/secret-key.ts';
import { type Cache, createCache } from '../../github/cache.ts';
import { minute } from '../../time/units.ts';

/** What the setup routes know about a visitor. */
export type SetupEnv = { Variables: { origin: string } };

/** Where to save the credentials. */
type CredentialStore = 'database' | 'env';

/** A visit to GitHub that started here. */
export type Begun = { state: string; place: CredentialStore };

type Visit = Context<SetupEnv>;

const admittedCookie = 'holdfast_setup';
const begunCookie = 'holdfast_setup_state';
/** In seconds. GitHub's code lasts as long. */
const lifetime = 3600;

/** Signed cookies of the setup page. Each value names its purpose, so that one cannot replace the other. */
export class SetupCookies {
  readonly #clock: Clock;
  readonly #keys: Buffer<ArrayBuffer>[];

  /** @param secretKeys without SECRET_KEY, the cookies are only valid until the process ends. */
  constructor(clock: Clock, secretKeys: SecretKeys) {
    this.#clock = clock;
    this.#keys =
      secretKeys.secretKey === null
        ? [randomBytes(32)]
        : openingKeys(secretKeys).map((key) => deriveKey(key, 'setup cookies'));
  }

  /** Remembers that this browser entered the code. */
  admit(context: Visit): Promise<void> {
    return this.#set(context, admittedCookie, 'admitted');
  }

  async isAdmitted(context: Visit): Promise<boolean> {
    return (await this.#read(context, admittedCookie, 'admitted')) !== null;
  }

  /** Starts a visit to GitHub. The return must carry the state. */
  async begin(context: Visit, place: CredentialStore): Promise<string> {
    const state = randomBytes(24).toString('base64url');
    await this.#set(context, begunCookie, `${place}~${state}`);
    return state;
  }

  /** The visit that this browser started, if the state matches; null if it is forged, foreign or more than an hour old. */
  async begun(context: Visit, state: string): Promise<Begun | null> {
    for (const place of ['database', 'env'] as const) {
      const own = await this.#read(context, begunCookie, place);
      if (own !== null && isSame(own, state)) return { state, place };
    }
    return null;
  }

  end(context: Visit): void {
    for (const name of [begunCookie, admittedCookie]) dropCookie(context, this.#cookie(context, name));
  }

  #cookie(context: Visit, name: string): Cookie {
    return { name, keys: this.#keys, isSecure: context.get('origin').startsWith('https:') };
  }

  async #set(context: Visit, name: string, value: string): Promise<void> {
    const until = Math.floor(this.#clock.now() / 1000) + lifetime;
    await writeCookie(context, this.#cookie(context, name), `${until}~${value}`, lifetime);
  }

  /** The rest of the cookie after `kind`, if its signature is valid and it has not expired. */
  async #read(context: Visit, name: string, kind: string): Promise<string | null> {
    const value = (await readCookie(context, this.#cookie(context, name))) ?? '';
    const [until, itsKind, rest = ''] = value.split('~');
    return Number(until) * 1000 > this.#clock.now() && itsKind === kind ? rest : null;
  }
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Leaves out letters and digits that look alike. */
const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const groups = 4;
const groupLength = 4;

/** How many wrong codes one address may send in a minute. */
const mostWrong = 5;
/** For how many addresses wrong codes are counted. */
const mostAddresses = 1000;

/** 80 random bits, as four groups of four characters. */
const makeCode = (): string =>
  Array.from({ length: groups }, () =>
    Array.from({ length: groupLength }, () => alphabet[randomInt(alphabet.length)]).join(''),
  ).join('-');

const digest = (code: string): Buffer =>
  createHash('sha256')
    .update(code.toUpperCase().replace(/[^A-Z0-9]/g, ''))
    .digest();

type CodeVerdict = 'right' | 'wrong' | 'too-many';

/** The code that allows a person to set up the service, because they can read its log. It works once. */
export class SetupCode {
  #code = makeCode();
  /** The number of wrong codes by address, kept for a minute from the first one. */
  readonly #wrong: Cache<string, { count: number }>;
  readonly #announce: (code: string) => void;

  /** @param announce is called with each new code, never with a used one. */
  constructor(clock: Clock, announce: (code: string) => void) {
    this.#wrong = createCache(clock, mostAddresses, minute);
    this.#announce = announce;
  }

  announce(): void {
    this.#announce(this.#code);
  }

  /**
   * Compares in constant time. The right code is used up, and the next one is announced. The right code always works, so
   * that people who share an address, such as behind a proxy, do not lock each other out. Nobody guesses 80 bits.
   * @param address the address of the socket.
   */
  try(given: string, address: string): CodeVerdict {
    if (timingSafeEqual(digest(given), digest(this.#code))) {
      this.#code = makeCode();
      this.announce();
      return 'right';
    }
    return this.#count(address) > mostWrong ? 'too-many' : 'wrong';
  }

  /** @returns how many wrong codes the address sent in its current minute, including this one. */
  #count(address: string): number {
    const entry = this.#wrong.get(address) ?? { count: 0 };
    if (entry.count++ === 0) this.#wrong.set(address, entry);
    return entry.count;
  }
}

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
