import { isIPv6 } from 'node:net';

/** The address of a service on this machine. @param host that it listens on, such as `::1`; of all, `localhost` is one. */
export function addressHere(host: string, port: string | number): string {
  const name = ['0.0.0.0', '::'].includes(host) ? 'localhost' : isIPv6(host) ? `[${host}]` : host;
  return `http://${name}:${port}`;
}
