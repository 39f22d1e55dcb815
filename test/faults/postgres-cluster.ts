import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../support/free-port.ts';

const run = promisify(execFile);
const versions = '/usr/lib/postgresql';

/** A PostgreSQL of the test's own, which may be restarted. */
export type PostgresCluster = {
  url: string;
  /** The file with the certificate of the authority of its own. */
  authority: string;
  /** `immediate`: as after a power cut. */
  restart(mode: 'immediate' | 'fast'): Promise<void>;
  stop(): Promise<void>;
};

/** @property hba lines of its pg_hba.conf, which then lets nobody else connect. */
type Tls = { hba: string[] };

/**
 * @param tls with a certificate for `localhost`, of an authority that only `authority` names.
 * @returns null where PostgreSQL is not installed.
 */
export async function startPostgres(tls?: Tls): Promise<PostgresCluster | null> {
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
  const authority = join(folder, 'authority.crt');
  if (tls) {
    await makeCertificate(folder, data);
    await writeFile(join(data, 'pg_hba.conf'), `${tls.hba.join('\n')}\n`);
    if (isRoot) await run('chown', ['postgres', join(data, 'server.key'), join(data, 'server.crt')]);
  }
  const port = await freePort();
  const settings = [
    ...(tls ? ['-c ssl=on'] : []),
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
    authority,
    restart: async (mode) => void (await control('-o', settings, '-m', mode, 'restart')),
    async stop() {
      await control('-m', 'immediate', 'stop');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Makes an authority in a folder, and a certificate of it in the data folder. */
async function makeCertificate(folder: string, data: string): Promise<void> {
  const openssl = (line: string, ...more: string[]) =>
    run('openssl', [...line.split(' '), ...more], { cwd: folder });
  const newKey = '-newkey rsa:2048 -nodes -days 2';
  await openssl(
    `req -x509 ${newKey} -keyout authority.key -out authority.crt -subj`,
    '/CN=An authority of the tests',
  );
  await openssl(
    `req ${newKey.replace(' -days 2', '')} -keyout ${data}/server.key -out server.csr -subj`,
    '/CN=localhost',
  );
  await writeFile(join(folder, 'names'), 'subjectAltName=DNS:localhost');
  await openssl(
    `x509 -req -in server.csr -CA authority.crt -CAkey authority.key -CAcreateserial -days 2 -extfile names -out ${data}/server.crt`,
  );
  await chmod(join(data, 'server.key'), 0o600);
}
