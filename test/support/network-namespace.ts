// The same way as in cut-network.ts through a network namespace of its own: the kernel drops packets, as of a cable that
// was cut. It takes root and iproute2.
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Way } from './cut-network.ts';

const relay = fileURLToPath(new URL('./relay.ts', import.meta.url));
const ip = (...words: string[]) => promisify(execFile)('ip', words);
const nameOfOne = () => `hf${randomBytes(4).toString('hex')}`;

/** Whether this machine lets us make namespaces, and pairs of interfaces between them. */
export function canMakeNamespaces(): boolean {
  const name = nameOfOne();
  const does = (...words: string[]) => spawnSync('ip', words).status === 0;
  const can =
    does('netns', 'add', name) &&
    does('link', 'add', `${name}a`, 'type', 'veth', 'peer', 'name', `${name}b`, 'netns', name);
  does('netns', 'del', name);
  return can;
}

/** @param port where the way begins. @param folder for a socket between the namespaces. */
export async function openKernelWay(
  to: { host: string; port: number },
  port: number,
  folder: string,
): Promise<Way> {
  const name = nameOfOne();
  const [outside, inside] = [`${name}a`, `${name}b`];
  const net = `10.211.${randomInt(256)}`;
  const address = `${net}.2`;
  /** From where connections come; after `forget`, new ones come from another address. */
  let source = `${net}.1`;
  const socket = join(folder, `${name}.sock`);
  const server = createServer((near) => {
    const far = connect(to);
    near.pipe(far).pipe(near);
    near.on('error', () => far.destroy()).on('close', () => far.destroy());
    far.on('error', () => near.destroy());
  }).listen(socket);
  await once(server, 'listening');
  await ip('netns', 'add', name);
  await ip('link', 'add', outside, 'type', 'veth', 'peer', 'name', inside, 'netns', name);
  await ip('address', 'add', `${source}/30`, 'dev', outside);
  await ip('link', 'set', outside, 'up');
  await ip('-n', name, 'address', 'add', `${address}/30`, 'dev', inside);
  await ip('-n', name, 'link', 'set', inside, 'up');
  const hear = (from: string) => ip('-n', name, 'route', 'replace', `${from}/32`, 'dev', inside);
  const ignore = (from: string) => ip('-n', name, 'route', 'replace', 'blackhole', `${from}/32`);

  let child: ChildProcess | undefined;
  const start = async () => {
    if (child?.exitCode === null && child.signalCode === null) return;
    child = spawn('ip', ['netns', 'exec', name, process.execPath, relay, address, String(port), socket], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout!, 'data');
  };
  const refuse = async () => {
    const ended = once(child!, 'exit');
    child!.kill('SIGKILL');
    await ended;
  };
  await start();
  return {
    ...{ address, port, refuse },
    part: () => ignore(source),
    async heal() {
      await hear(source);
      await start();
    },
    async forget() {
      const former = source;
      source = `${net}.${randomInt(5, 250)}`;
      await ip('address', 'add', `${source}/32`, 'dev', outside);
      await ip('route', 'replace', `${net}.0/30`, 'dev', outside, 'src', source);
      await hear(source);
      await ignore(former);
    },
    async close() {
      await refuse();
      await ip('netns', 'del', name);
      server.close();
    },
  };
}
