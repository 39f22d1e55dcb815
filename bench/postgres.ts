// A PostgreSQL of the benchmarks' own, with the settings that it comes with: durable, as in production.
import { execFileSync } from 'node:child_process';
import { chownSync, mkdirSync, mkdtempSync, chmodSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { administer, databaseUrl } from '../test/support/postgres.ts';
import { freePort } from '../test/support/free-port.ts';

export type Postgres = {
  version: string;
  /** The folder of its log, as JSON lines. */
  logs: string;
  /** How many statements it ran in a database so far: BEGIN and COMMIT too, and each of several in one message. */
  statementsIn(connectionString: string): Promise<number>;
  /** The URL of a new, empty database. */
  createDatabase(name: string): Promise<string>;
  stop(): void;
};

const root = '/usr/lib/postgresql';

function newestBinaries(): string | null {
  try {
    const versions = readdirSync(root).sort((one, other) => Number(other) - Number(one));
    return versions[0] ? `${root}/${versions[0]}/bin` : null;
  } catch {
    return null;
  }
}

/** Starts it on a free port of loopback; null where no PostgreSQL is installed. */
export async function startPostgres(): Promise<Postgres | null> {
  const bin = newestBinaries();
  if (!bin) return null;
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-postgres-'));
  const cluster = join(folder, 'data');
  const logs = join(folder, 'log');
  // PostgreSQL refuses to run as root.
  const isRoot = process.getuid?.() === 0;
  const run = (...[program, ...values]: [string, ...string[]]) => {
    const command = [join(bin, program), ...values];
    const [file, ...rest] = isRoot ? ['runuser', '-u', 'postgres', '--', ...command] : command;
    return execFileSync(file!, rest, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  };
  chmodSync(folder, 0o755);
  for (const each of [cluster, logs]) {
    mkdirSync(each, { mode: 0o700 });
    if (isRoot) chownSync(each, idOf('-u'), idOf('-g'));
  }
  const port = await freePort();
  const settings = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: cluster,
    max_connections: 200,
    logging_collector: 'on',
    log_destination: 'jsonlog',
    log_directory: logs,
    log_rotation_size: 0,
    shared_preload_libraries: 'pg_stat_statements',
  };
  const options = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`);
  try {
    run('initdb', '-D', cluster, '-U', 'postgres', '--auth=trust', '-E', 'UTF8', '--locale=C.UTF-8');
    run('pg_ctl', '-D', cluster, '-w', '-l', join(logs, 'start.log'), '-o', options.join(' '), 'start');
  } catch (error) {
    rmSync(folder, { recursive: true });
    throw error;
  }
  const server = `postgres://postgres@127.0.0.1:${port}/postgres`;
  await administer(server, 'CREATE EXTENSION pg_stat_statements');
  return {
    version: run('postgres', '--version').trim(),
    logs,
    async statementsIn(connectionString) {
      const client = new pg.Client({ connectionString: server });
      await client.connect();
      const { rows } = await client.query<{ calls: string }>(
        `SELECT coalesce(sum(calls), 0) AS calls FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid
         WHERE datname = $1`,
        [new URL(connectionString).pathname.slice(1)],
      );
      await client.end();
      return Number(rows[0]!.calls);
    },
    async createDatabase(name) {
      await administer(server, `CREATE DATABASE ${name}`);
      return databaseUrl(server, name);
    },
    stop() {
      run('pg_ctl', '-D', cluster, '-m', 'immediate', 'stop');
      rmSync(folder, { recursive: true });
    },
  };
}

const idOf = (which: '-u' | '-g'): number =>
  Number(execFileSync('id', [which, 'postgres'], { encoding: 'utf8' }));
