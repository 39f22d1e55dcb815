import type { IncomingMessage, ServerResponse } from 'node:http';

/** Bytes of a body that are taken, and dropped, after it was refused, so that its sender gets to the answer. */
const mostUnwanted = 2 * 1024 * 1024;
/** Milliseconds that its sender has to finish, and to read why it was refused. */
const timeToRead = 1_000;

/** Absent for a request without a socket. */
type Node = { incoming?: IncomingMessage; outgoing?: ServerResponse };

/**
 * Takes little more of a body that was answered before it had come. Node, and what adapts it to the Fetch API, would read
 * up to the end of it at the speed of the sender, only to drop it.
 */
export function leaveUnread({ incoming, outgoing }: Node): void {
  if (!incoming || !outgoing || incoming.complete) return;
  incoming.pause();
  // Drops what came. Otherwise Node takes a body of which nobody read anything for one that it has to read to its end.
  incoming.read();
  outgoing.once('finish', () => {
    const cut = setTimeout(() => incoming.destroy(), timeToRead).unref();
    let unwanted = 0;
    incoming.on('data', (chunk: Buffer) => {
      unwanted += chunk.length;
      if (unwanted > mostUnwanted) incoming.pause();
    });
    incoming.once('end', () => clearTimeout(cut)).resume();
  });
}
