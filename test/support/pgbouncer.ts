// A pgbouncer in transaction mode between the service and its database, where Debian's package is there.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from './free-port.ts';

const program = '/usr/sbin/pgbouncer';
export const hasPgbouncer = existsSync(program);

export type Pooler = { port: number; close(): Promise<void> };

/** @param to the server. @param user whom everybody is there. @param folder for its configuration. */
export async function startPgbouncer(
  to: { host: string; port: number; user: string },
  folder: string,
): Promise<Pooler> {
  const port = await freePort();
  const file = join(folder, 'pgbouncer.ini');
  const settings = {
    ...{ listen_addr: '127.0.0.1', listen_port: port, unix_socket_dir: '', auth_type: 'any' },
    // Fewer connections than the service uses, so that it meets what others prepared.
    ...{ pool_mode: 'transaction', default_pool_size: 3 },
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  const server = `* = host=${to.host} port=${to.port} user=${to.user}`;
  await writeFile(file, `[databases]\n${server}\n[pgbouncer]\n${lines.join('\n')}\n`);
  // It refuses to be root.
  const isRoot = process.getuid?.() === 0;
  await chmod(folder, 0o755);
  const child = spawn(program, [...(isRoot ? ['-u', 'postgres'] : []), file], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  for (;;) {
    const socket = connect(port, '127.0.0.1');
    const isThere = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isThere) break;
    if (child.exitCode !== null) throw new Error(`pgbouncer ended with ${child.exitCode}`);
    await delay(50);
  }
  return {
    port,
    async close() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
