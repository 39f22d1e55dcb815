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
  /** From this machine. `origin` is the one in the browser's address bar, here as below. */
  | { kind: 'local'; origin: string }
  /** Whoever knows the code may go on. */
  | { kind: 'with-code'; origin: string }
  /** By another name: a name that an attacker points at us (DNS rebinding), or one that the cookies would not survive. */
  | { kind: 'elsewhere' };

/**
 * Who is let in, and on which terms. Behind a proxy on this machine everybody comes from it, and a bare one leaves no
 * trace: where PUBLIC_URL says that others reach the service, loopback asks for the code as well.
 */
export function admissionOf({ address, host, isForwarded }: Visit, publicUrl: string): Admission {
  if (host === undefined || !/^[\w.:[\]-]+$/.test(host)) return { kind: 'elsewhere' };
  const local = URL.parse(`http://${host}`);
  const named = new URL(publicUrl);
  if (local && !isForwarded && isLoopbackAddress(address ?? '') && isLoopbackHost(local.hostname))
    return { kind: isLoopbackHost(named.hostname) ? 'local' : 'with-code', origin: local.origin };
  return URL.parse(`${named.protocol}//${host}`)?.host === named.host
    ? { kind: 'with-code', origin: named.origin }
    : { kind: 'elsewhere' };
}
