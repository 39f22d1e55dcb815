import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../support/free-port.ts';

const run = promisify(execFile);
const versions = '/usr/lib/postgresql';

/** A PostgreSQL of the test's own, which may be restarted. */
export type PostgresCluster = {
  url: string;
  /** `immediate`: as after a power cut. */
  restart(mode: 'immediate' | 'fast'): Promise<void>;
  stop(): Promise<void>;
};

/** Null where PostgreSQL is not installed. */
export async function startPostgres(): Promise<PostgresCluster | null> {
  const [newest] = (await readdir(versions).catch(() => [])).sort((one, other) => +other - +one);
  if (!newest) return null;
  const bin = join(versions, newest, 'bin');
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-faults-postgres-'));
  await chmod(folder, 0o755);
  const data = join(folder, 'data');
  const isRoot = process.getuid?.() === 0;
  // PostgreSQL refuses to run as root.
  const postgres = (program: string, ...parameters: string[]) =>
    isRoot
      ? run('runuser', ['-u', 'postgres', '--', join(bin, program), ...parameters], { cwd: folder })
      : run(join(bin, program), parameters, { cwd: folder });
  if (isRoot) await run('install', ['-d', '-o', 'postgres', '-g', 'postgres', data]);
  await postgres('initdb', '-D', data, '-U', 'postgres', '--auth=trust', '-E', 'UTF8', '--locale=C.UTF-8');
  const port = await freePort();
  const settings = [
    `-p ${port}`,
    '-c listen_addresses=127.0.0.1',
    `-c unix_socket_directories=${data}`,
    '-c fsync=off',
    '-c max_connections=200',
  ].join(' ');
  const control = (...parameters: string[]) =>
    postgres('pg_ctl', '-D', data, '-w', '-l', join(data, 'log'), ...parameters);
  await control('-o', settings, 'start');
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    restart: async (mode) => void (await control('-o', settings, '-m', mode, 'restart')),
    async stop() {
      await control('-m', 'immediate', 'stop');
      await rm(folder, { recursive: true, force: true });
    },
  };
}
