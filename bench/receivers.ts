// Receivers of outgoing webhooks in a process of their own, and how long each message took from its event.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';

export type Ask = { do: 'listen'; count: number } | { do: 'report' };
/** @property delays milliseconds from each event to its arrival, since the last report. */
export type Heard = { urls: string[]; delays: number[] };

let delays: number[] = [];

async function listen(): Promise<string> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const now = Date.now();
      const { timestamp } = JSON.parse(Buffer.concat(chunks).toString()) as { timestamp: string };
      delays.push(now - Date.parse(timestamp));
      response.writeHead(204).end();
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
}

process.on('message', (ask: Ask) => {
  void (async () => {
    const urls = ask.do === 'listen' ? await Promise.all(Array.from({ length: ask.count }, listen)) : [];
    const heard: Heard = { urls, delays };
    delays = [];
    process.send!(heard);
  })();
});
process.send!('hello');
