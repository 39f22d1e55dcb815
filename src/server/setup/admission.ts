import { isLoopbackHost } from './loopback.ts';

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
