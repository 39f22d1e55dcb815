// Somebody else's address that Holdfast tells what happened: a receiver of Standard Webhooks, or the webhook of a chat.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';

/** One request, as it arrived. @property signed null where nobody asked for a signature. */
export type Arrival = {
  at: Date;
  path: string;
  headers: IncomingMessage['headers'];
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into bodies of every shape
  body: any;
  bytes: number;
  signed: boolean | null;
  /** What it was answered; null: nothing. */
  status: number | null;
};

/** What a receiver does with a request. */
type Behaviour = { status: number; headers?: Record<string, string> } | 'hang' | 'reset';

export const accepts: Behaviour = { status: 204 };
export const fails: Behaviour = { status: 500 };
export const isGone: Behaviour = { status: 410 };
/** Answers nothing, until `release`. */
export const hangs: Behaviour = 'hang';
/** Closes the connection. */
export const resets: Behaviour = 'reset';
export const redirectsTo = (location: string): Behaviour => ({ status: 302, headers: { location } });
/** @param after seconds, or a date. */
export const isTooBusy = (after: number | string): Behaviour => ({
  status: 429,
  headers: { 'retry-after': String(after) },
});

export type Receiver = {
  /** Where it listens, with a path that is a secret. */
  url: string;
  /** Every request, the earliest first. */
  arrivals: Arrival[];
  /** Those that it accepted. */
  accepted(): Arrival[];
  /** From now on it refuses what is not signed with this secret (401). */
  require(secret: string): void;
  /** What it does with the next requests, one after another. Then it does as before. */
  next(...behaviours: Behaviour[]): void;
  /** What it does from now on. */
  now(behaviour: Behaviour): void;
  /** Resolves when so many requests have arrived. */
  hasHeard(count: number): Promise<void>;
  /** Accepts what hangs. */
  release(): void;
  close(): Promise<void>;
};

/** @param now the time by which signatures are judged. */
export async function startReceiver({ now }: { now: () => Date }): Promise<Receiver> {
  const arrivals: Arrival[] = [];
  const planned: Behaviour[] = [];
  const hanging = new Set<() => void>();
  let usual = accepts;
  let secret: string | null = null;
  let heard = Promise.withResolvers<undefined>();

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const { headers, url } = request;
    const signed = secret === null ? null : isSigned(text, headers, secret, now());
    const arrival: Arrival = {
      ...{ at: now(), path: url!, headers, body: parsed(text), bytes: Buffer.byteLength(text), signed },
      status: null,
    };
    arrivals.push(arrival);
    heard.resolve(undefined);
    heard = Promise.withResolvers<undefined>();
    const answer = (behaviour: Behaviour): void => {
      if (behaviour === 'reset') request.socket.destroy();
      else if (behaviour === 'hang') {
        const release = () => answer(accepts);
        hanging.add(release);
        response.on('close', () => hanging.delete(release));
      } else {
        arrival.status = behaviour.status;
        response.writeHead(behaviour.status, behaviour.headers).end();
      }
    };
    answer(signed === false ? { status: 401 } : (planned.shift() ?? usual));
  };

  const server = createServer(
    (request, response) => void serve(request, response).catch(() => response.destroy()),
  );
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hooks/s3cret-${port}-path`,
    arrivals,
    accepted: () => arrivals.filter(({ status }) => status !== null && status < 300),
    require: (required) => void (secret = required),
    next: (...behaviours) => void planned.push(...behaviours),
    now: (behaviour) => void (usual = behaviour),
    async hasHeard(count) {
      while (arrivals.length < count) await heard.promise;
    },
    release: () => hanging.forEach((release) => release()),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** As the library judges it, but by the time of the sandbox. */
function isSigned(text: string, headers: IncomingMessage['headers'], secret: string, now: Date): boolean {
  const wallClock = Date.now;
  // It asks nothing else for the time, and does so before it returns.
  Date.now = () => now.getTime();
  try {
    new Webhook(secret).verify(text, headers as Record<string, string>);
    return true;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return false;
    throw error;
  } finally {
    Date.now = wallClock;
  }
}
