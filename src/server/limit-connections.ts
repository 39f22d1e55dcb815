import type { IncomingMessage, Server } from 'node:http';
import type { BlockList, Socket } from 'node:net';
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

/** A connection, and the request that came through it last and is not answered. */
type Connection = { network: string | null; request: IncomingMessage | null };

/**
 * Closes the connection that has been waiting for its client for longest, when a new one is too many: idle ones, and slow
 * heads and bodies. So they keep out nobody whose request comes at once, such as GitHub.
 */
export function limitConnections(server: Server, trustedProxies: BlockList): void {
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
    open.set(socket, { ...connection, request });
  };
  server.on('connection', (socket: Socket) => {
    const address = clientAddress(socket.remoteAddress, undefined, trustedProxies);
    const network = address && isTrusted(address, trustedProxies) ? null : networkOf(address);
    open.set(socket, { network, request: null });
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
}
