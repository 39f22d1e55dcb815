import type { IncomingMessage, ServerResponse } from 'node:http';

/** Bytes of a body that nobody asked for, and that are read all the same, so that its sender can go on using the connection. */
const mostUnwanted = 1024 * 1024;
/** Milliseconds that the sender of a longer one has to read why it was refused. */
const timeToRead = 1_000;

/** Absent for a request without a socket. */
type Node = { incoming?: IncomingMessage; outgoing?: ServerResponse };

/**
 * Takes no more of a body that was refused before it had come. Node, and what adapts it to the Fetch API, would read up to
 * the end of it at the speed of the sender, only to drop it.
 */
export function leaveUnread({ incoming, outgoing }: Node): void {
  if (!incoming || !outgoing || incoming.complete) return;
  // Of one that somebody began to read and gave up, nobody would take the rest.
  if (isShort(incoming) && !incoming.readableDidRead) return;
  incoming.pause();
  // Node drops the rest of a body of which nothing was asked, and does not wait for anybody to take it.
  incoming.read(0);
  outgoing.once('finish', () => setTimeout(() => incoming.destroy(), timeToRead).unref());
}

const isShort = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) <= mostUnwanted;
