import { isLoopbackHost } from './loopback.ts';

/**
 * The origin in the address bar of whoever opens the setup page: this machine's own name, or PUBLIC_URL. Null for any
 * other name: one that an attacker points at us (DNS rebinding), or one that the cookies would not survive.
 * @param host the header, with its port.
 */
export function originOf(host: string | undefined, publicUrl: string): string | null {
  if (host === undefined || !/^[\w.:[\]-]+$/.test(host)) return null;
  const local = URL.parse(`http://${host}`);
  if (local && isLoopbackHost(local.hostname)) return local.origin;
  const named = new URL(publicUrl);
  return URL.parse(`${named.protocol}//${host}`)?.host === named.host ? named.origin : null;
}
