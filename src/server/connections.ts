import type { IncomingMessage, Server } from 'node:http';
import type { BlockList, Socket } from 'node:net';
import { within } from '../time/clock.ts';
import { clientAddress, isTrusted, networkOf } from '../github/limits/client-address.ts';

/** The connections of a process. */
const most = 1_000;
/** What one network may have of them. Behind a trusted proxy is everybody, so only the total counts. */
const mostOfOne = most / 4;

/**
 * Milliseconds. A head takes one round trip, and a body of 1 MiB few seconds; webhooks have limits of their own. Node
 * answers 408 to what takes longer.
 */
export const slowest = { headersTimeout: 10_000, requestTimeout: 20_000, connectionsCheckingInterval: 2_000 };

/** Milliseconds until a connection that became idle is ended when the service stops. */
const endIdleEvery = 50;

/** @property request the last one that came through the connection, while it is not answered. */
type Connection = { network: string | null; isUsed: boolean; request: IncomingMessage | null };

/**
 * Closes the connection that has been waiting for its client for longest, when a new one is too many: idle ones, and slow
 * heads and bodies. So they keep out nobody whose request comes at once, such as GitHub.
 * @returns a function that stops listening, and waits until clients have the answers to what they asked. A client whose
 *   answer is lost repeats what was done. After `patience` milliseconds it cuts what is left.
 */
export function limitConnections(
  server: Server,
  trustedProxies: BlockList,
): (patience: number) => Promise<void> {
  /** In the order in which they began or ended a request. */
  const open = new Map<Socket, Connection>();
  const keepTo = (limit: number, isMeant: (connection: Connection) => boolean) => {
    const meant = [...open].filter(([, connection]) => isMeant(connection));
    if (meant.length <= limit) return;
    // The new one waits for its client, too.
    const [socket] = meant.find(([, { request }]) => !request?.complete)!;
    open.delete(socket);
    socket.destroy();
  };
  const note = (socket: Socket, request: IncomingMessage | null) => {
    const connection = open.get(socket);
    if (!connection) return;
    open.delete(socket);
    open.set(socket, { ...connection, isUsed: true, request });
  };
  server.on('connection', (socket: Socket) => {
    const address = clientAddress(socket.remoteAddress, undefined, trustedProxies);
    const network = address && isTrusted(address, trustedProxies) ? null : networkOf(address);
    open.set(socket, { network, isUsed: false, request: null });
    socket.once('close', () => open.delete(socket));
    if (network !== null) keepTo(mostOfOne, (other) => other.network === network);
    keepTo(most, () => true);
  });
  server.on('request', (request, response) => {
    const { socket } = request;
    note(socket, request);
    response.once('close', () => {
      if (open.get(socket)?.request === request) note(socket, null);
    });
  });
  return async (patience) => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    // Browsers open some connections ahead, and Node does not count them as idle.
    for (const [socket, { isUsed }] of open) if (!isUsed) socket.destroy();
    const ending = setInterval(() => server.closeIdleConnections(), endIdleEvery);
    await within(patience, closed);
    clearInterval(ending);
    server.closeAllConnections();
    await closed;
  };
}
