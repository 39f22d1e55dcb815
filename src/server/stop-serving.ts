import { within } from '../clock.ts';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Milliseconds until a connection that became idle is ended. */
const endIdleEvery = 50;

/** Connections that no request came through yet. Browsers open some ahead, and Node does not count them as idle. */
export function unusedConnections(server: Server): Set<Socket> {
  const unused = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    unused.add(socket);
    socket.once('close', () => unused.delete(socket));
  });
  server.on('request', ({ socket }) => unused.delete(socket));
  return unused;
}

/**
 * Stops listening, and waits until clients have the answers to what they asked. A client whose answer is lost repeats
 * what was done.
 * @param patience milliseconds, after which it cuts what is left.
 */
export async function stopServing(server: Server, unused: Set<Socket>, patience: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  for (const socket of unused) socket.destroy();
  const ending = setInterval(() => server.closeIdleConnections(), endIdleEvery);
  await within(patience, closed);
  clearInterval(ending);
  server.closeAllConnections();
  await closed;
}
