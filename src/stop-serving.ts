import type { Server } from 'node:http';
import { within } from './within.ts';

/** Milliseconds until a connection that became idle is ended. */
const endIdleEvery = 50;

/**
 * Stops listening, and waits until clients have the answers to what they asked. A client whose answer is lost repeats
 * what was done.
 * @param patience milliseconds, after which it cuts what is left.
 */
export async function stopServing(server: Server, patience: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const ending = setInterval(() => server.closeIdleConnections(), endIdleEvery);
  await within(patience, closed);
  clearInterval(ending);
  server.closeAllConnections();
  await closed;
}
