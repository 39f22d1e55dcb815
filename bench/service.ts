// Holdfast as a process of its own, against a sandbox GitHub of this process.
import { spawn } from 'node:child_process';
import { closeSync, cpSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createHash, randomBytes } from 'node:crypto';
import { generateSignedCookie } from 'hono/cookie';
import pg from 'pg';
import { type Sandbox, startSandbox } from '../sandbox/github.ts';
import { deriveKey } from '../src/database/secret-key.ts';
import { end, track } from './child-process.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
/** What `npm start` runs: its flags, and its file. */
const command = (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).scripts.start as string)
  .split(' ')
  .slice(1)
  .map((word) => (word.startsWith('-') ? word : join(root, word)));

/** A PostgreSQL, or the folder of the embedded database. */
export type Where = { connectionString: string } | { dataDir: string };

export type Service = {
  url: string;
  pid: number;
  /** Milliseconds from its start to its first good answer to /readyz. */
  readyAfter: number;
  log(): string;
  call(method: string, path: string, as: string, body?: object): Promise<Called>;
  stop(): Promise<void>;
};
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- bodies of every shape
type Called = { status: number; body: any };

/** A GitHub with the organization acme, its admin ada, and no limit on requests. */
export async function startGitHub(): Promise<{
  github: Sandbox;
  token: string;
  admin: { id: number; login: string };
}> {
  const github = await startSandbox();
  const { token, id, login } = github.addUser('ada');
  github.addOrganization('acme', { admins: ['ada'] });
  github.rateLimits.core = github.rateLimits.graphql = Number.MAX_SAFE_INTEGER;
  return { github, token, admin: { id, login } };
}

/** Starts the service and waits until it is ready. It paces nothing, and GitHub's webhooks go to it. */
export async function startService(
  github: Sandbox,
  where: Where,
  environment: Record<string, string> = {},
): Promise<Service> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-service-'));
  const logFile = join(folder, 'log');
  // To a file: a pipe would have this process work at each line.
  const output = openSync(logFile, 'w');
  const started = performance.now();
  const child = track(
    spawn(process.execPath, [...profiling, ...command], {
      cwd: folder,
      env: {
        PATH: process.env['PATH'],
        PORT: '0',
        HOST: '127.0.0.1',
        STATUS_WRITES_PER_MINUTE: '1000000-1000000',
        ...('dataDir' in where ? { DATA_DIR: where.dataDir } : { DATABASE_URL: where.connectionString }),
        APP_ID: String(github.app.id),
        PRIVATE_KEY: github.app.privateKey,
        WEBHOOK_SECRET: github.app.webhookSecret,
        CLIENT_ID: github.app.clientId,
        CLIENT_SECRET: github.app.clientSecret,
        SECRET_KEY: secretKey,
        GITHUB_API_URL: github.url,
        ...environment,
      },
      stdio: ['ignore', output, output],
    }),
  );
  closeSync(output);
  const log = () => readFileSync(logFile, 'utf8');
  const url = await listening();
  while ((await fetch(`${url}/readyz`)).status !== 200) await sleep(2);
  const readyAfter = performance.now() - started;
  github.deliverTo(`${url}/api/github/webhooks`);
  return {
    url,
    pid: child.pid!,
    readyAfter,
    log,
    async call(method, path, as, body) {
      const headers = { Authorization: `Bearer ${as}`, 'Content-Type': 'application/json' };
      const response = await fetch(url + path, { method, headers, body: body && JSON.stringify(body) });
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path} was answered ${response.status} ${text}`);
      return { status: response.status, body: text && JSON.parse(text) };
    },
    async stop() {
      await end(child);
      if (keep) cpSync(logFile, join(keep, `service-${child.pid}.log`));
      rmSync(folder, { recursive: true });
    },
  };

  async function listening(): Promise<string> {
    for (;;) {
      const found = /"url":"([^"]+)".*"msg":"listening"/.exec(log())?.[1];
      if (found) return found;
      if (child.exitCode !== null) throw new Error(`The service did not start:\n${log()}`);
      await sleep(2);
    }
  }
}

/** `BENCH_KEEP=folder` keeps each service's log there, and a profile of its processor time for Chrome's DevTools. */
const keep = process.env['BENCH_KEEP'];
const profiling = keep ? ['--cpu-prof', `--cpu-prof-dir=${keep}`] : [];

const secretKey = 'a secret key of the benchmarks, 32 characters or more';

/** Signs somebody in without a browser. @returns the `Cookie` header of their session. */
export async function signIn(
  connectionString: string,
  person: { id: number; login: string },
  installationIds: number[],
): Promise<string> {
  const id = randomBytes(32).toString('base64url');
  const database = new pg.Client({ connectionString });
  await database.connect();
  await database.query(
    `INSERT INTO sessions (id_hash, person_id, login, installation_ids, created_at, expires_at)
     VALUES ($1, $2, $3, $4, now(), now() + interval '1 hour')`,
    [createHash('sha256').update(id).digest('hex'), person.id, person.login, installationIds],
  );
  await database.end();
  const cookie = await generateSignedCookie('holdfast-session', id, deriveKey(secretKey, 'cookie session'));
  return cookie.split(';')[0]!;
}

/** An application key of acme, made through the API. */
export async function makeKey(service: Service, token: string, scope: 'admin' | 'ci'): Promise<string> {
  const { body } = await service.call('POST', '/v1/applications/acme', token, { name: scope, scope });
  return body.secret;
}
