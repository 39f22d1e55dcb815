// A network between the service and its database that a test cuts as networks do: with and without a word.
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

type Pair = { near: Socket; far: Socket; isForgotten: boolean };

export type Way = {
  address: string;
  port: number;
  /** Nothing passes, on old connections and on new ones. What was sent meanwhile arrives after `heal`. */
  part(): unknown;
  heal(): Promise<void>;
  /** As a firewall that was restarted: what comes through old connections is dropped, and new ones work. */
  forget(): unknown;
  /** Breaks all connections, and refuses new ones until `heal`. */
  refuse(): Promise<void>;
  close(): Promise<void>;
};

/** Opens a way to a server. @param from the address and, from the second way on, the port where it begins. */
export async function openWay(to: { host: string; port: number }, from: string, port = 0): Promise<Way> {
  const pairs = new Set<Pair>();
  let isParted = false;
  let taken = port;
  let server: Server | undefined;
  const stop = ({ near, far }: Pair) => [near, far].forEach((socket) => socket.pause());
  const accept = (near: Socket) => {
    const far = connect(to);
    const pair: Pair = { near, far, isForgotten: false };
    pairs.add(pair);
    const carry = (one: Socket, other: Socket) => {
      one.on('data', (bytes) => void (pair.isForgotten || other.write(bytes)));
      one.on('error', () => {});
      one.on('close', () => {
        pairs.delete(pair);
        if (!pair.isForgotten) other.destroy();
      });
    };
    carry(near, far);
    carry(far, near);
    if (isParted) stop(pair);
  };
  const listen = async () => {
    if (server?.listening) return;
    server = createServer(accept).listen(taken, from);
    await once(server, 'listening');
    taken = (server.address() as { port: number }).port;
  };
  const refuse = async () => {
    const closed = once(server!, 'close');
    server!.close();
    for (const { near, far } of pairs) [near, far].forEach((socket) => socket.destroy());
    await closed;
  };
  await listen();
  return {
    address: from,
    port: taken,
    part() {
      isParted = true;
      pairs.forEach(stop);
    },
    async heal() {
      isParted = false;
      await listen();
      for (const { near, far } of pairs) [near, far].forEach((socket) => socket.resume());
    },
    forget() {
      for (const pair of pairs) pair.isForgotten = true;
    },
    refuse,
    close: () => (server?.listening ? refuse() : Promise.resolve()),
  };
}

export type Names = {
  /** For the environment of a process that looks names up here. */
  options: string;
  /** Null: the name server does not answer. */
  point(name: string, to: string | null): Promise<void>;
};

/** A name server for one process, of names below `.test`: a file, which the process reads at each look-up. */
export async function startNames(folder: string): Promise<Names> {
  const file = join(folder, 'names.json');
  const resolver = pathToFileURL(fileURLToPath(new URL('./resolve-from-file.ts', import.meta.url)));
  resolver.searchParams.set('file', file);
  const names: Record<string, string | null> = {};
  const save = async () => {
    await writeFile(`${file}.new`, JSON.stringify(names));
    await rename(`${file}.new`, file);
  };
  await save();
  return {
    options: `--import ${resolver}`,
    async point(name, to) {
      names[name] = to;
      await save();
    },
  };
}
