import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** A port of 127.0.0.1 that is free, and stays it until you listen: it lies below those that systems give to connections. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 30_000);
    if (await isFree(port)) return port;
  }
}

/** Whether nothing listens on this port of 127.0.0.1. */
export function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
