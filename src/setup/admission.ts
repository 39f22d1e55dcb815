import { isLoopbackAddress, isLoopbackHost } from './loopback.ts';

/** What is known of who opens the setup page. */
export type Visit = {
  /** Of the socket. What proxies say of others is not believed. */
  address: string | undefined;
  /** The header, with its port. */
  host: string | undefined;
  /** Whether a proxy seems to have passed it on. */
  isForwarded: boolean;
};

export type Admission =
  /** From this machine. `origin` is the one in the browser's address bar. */
  | { kind: 'local'; origin: string }
  /** By PUBLIC_URL: whoever knows the code may go on. */
  | { kind: 'with-code'; origin: string }
  /** By another name: a name that an attacker points at us (DNS rebinding), or one that the cookies would not survive. */
  | { kind: 'elsewhere' };

/** Who is let in, and on which terms. */
export function admissionOf({ address, host, isForwarded }: Visit, publicUrl: string): Admission {
  if (host === undefined || !/^[\w.:[\]-]+$/.test(host)) return { kind: 'elsewhere' };
  const local = URL.parse(`http://${host}`);
  if (local && !isForwarded && isLoopbackAddress(address ?? '') && isLoopbackHost(local.hostname))
    return { kind: 'local', origin: local.origin };
  const named = new URL(publicUrl);
  return URL.parse(`${named.protocol}//${host}`)?.host === named.host
    ? { kind: 'with-code', origin: named.origin }
    : { kind: 'elsewhere' };
}
