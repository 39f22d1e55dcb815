import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/github.ts';
import { forDeployments } from '../support/deployments.ts';
import { administer, databaseUrl } from '../support/postgres.ts';
import { environmentFor, type ServiceProcess, startProcess } from '../support/process.ts';

// The real process, killed while it answers for deployments: each is reported and decided once. On PostgreSQL a second
// process goes on.

const server = inject('postgresUrl');
const databases = server ? (['embedded', 'postgresql'] as const) : (['embedded'] as const);
const web = 'acme/web';
const many = 8;

describe.each(databases)('%s', (kind) => {
  const name = `holdfast_deployments_${randomBytes(6).toString('hex')}`;
  const isEmbedded = kind === 'embedded';
  let github: Sandbox;
  let folder: string;
  let admin: string;
  let service: ServiceProcess;
  let replica: ServiceProcess | null = null;

  const launch = (role: string) => {
    const database: Record<string, string> = isEmbedded
      ? { DATA_DIR: join(folder, 'data') }
      : { DATABASE_URL: databaseUrl(server, name), ROLE: role };
    return startProcess({ ...environmentFor(github), ...database }, folder);
  };
  async function start(): Promise<void> {
    service = launch('all');
    github.deliverTo(`${await service.listening}/api/github/webhooks`);
  }
  const call = async (method: string, path: string, body?: object) => {
    const answer = await fetch(`${await service.listening}/v1/repos/${web}/${path}`, {
      method,
      headers: { Authorization: `Bearer ${admin}`, 'Content-Type': 'application/json' },
      body: body && JSON.stringify(body),
    });
    const text = await answer.text();
    expect(answer.status, text).toBeLessThan(300);
    return text === '' ? null : JSON.parse(text);
  };
  const freeze = async (): Promise<string> => {
    const body = { reason: 'Release', start: null, timezone: 'UTC', holds: ['deployments'] };
    return (await call('POST', 'scheduled_freeze', body)).id;
  };
  const thaw = (id: string) => call('POST', `scheduled_freeze/${id}/delete`, { delete_reason: 'Done' });
  const deploy = (environment = 'production') => github.runWorkflow(web, { environments: [environment] });
  const reviews = ({ id }: { id: number }) => github.reviewsOf(web, id).map(({ state }) => state);
  /** A claim of the dead process, and the sweep that goes on, take a minute each. */
  const soon = (check: () => unknown) => vi.waitFor(check, { timeout: 240_000, interval: 200 });
  const kept = async (state: string): Promise<number[]> =>
    (await call('GET', `deployments?state=${state}&per_page=100`)).deployments.map(
      ({ run_id }: { run_id: number }) => run_id,
    );

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'holdfast-deployments-'));
    if (!isEmbedded) await administer(server, `CREATE DATABASE ${name}`);
    github = await startSandbox();
    admin = github.addUser('ada').token;
    github.addOrganization('acme', { admins: ['ada'] });
    github.addRepository(web, { protect: { main: ['holdfast/freeze'] } });
    github.openPullRequest(web, { author: 'ada' });
    github.askForMore(forDeployments, ['deployment_protection_rule']);
    github.addEnvironment(web, 'production');
    for (let count = 0; count < many; count++) github.addEnvironment(web, `eu-${count}`);
    await start();
    if (!isEmbedded) replica = launch('worker');
    github.install('acme');
    await github.waitForStatus(web, 1, 'success', { timeoutMs: 120_000 });
  });
  afterAll(async () => {
    for (const each of [service, replica]) each?.child.kill('SIGKILL');
    await service.ended;
    await replica?.ended;
    await github.close();
    if (!isEmbedded) await administer(server, `DROP DATABASE ${name} WITH (FORCE)`);
    await rm(folder, { recursive: true, force: true });
    github.assertNoUnknownRoutes();
  });

  /** Kills the process at a request to GitHub, which takes it all the same. @param skip so many go before it. */
  async function killAt(method: string, pattern: RegExp, act: () => unknown, skip = 0): Promise<void> {
    const reached = Promise.withResolvers<undefined>();
    let seen = 0;
    const fault = github.faults.add({
      kind: 'delay',
      ms: 60_000,
      match: ({ method: used, path }) => {
        const isIt = used === method && pattern.test(path) && seen++ >= skip;
        if (isIt) reached.resolve(undefined);
        return isIt;
      },
    });
    await act();
    await reached.promise;
    service.child.kill('SIGKILL');
    expect(await service.ended).toBe('SIGKILL');
    fault.remove();
    await start();
  }
  const review = /\/deployment_protection_rule$/;

  test('killed after the webhook was answered: the request was kept', async () => {
    let run = { id: 0 };
    await killAt('GET', /\/actions\/runs\/\d+$/, () => (run = deploy()));
    await soon(() => expect(reviews(run)).toEqual(['approved']));
  });

  test('killed between a report and its record, and between a decision and its record: each is there once', async () => {
    const id = await freeze();
    let run = { id: 0 };
    await killAt('POST', review, () => (run = deploy()));
    await soon(async () => expect(await kept('waiting')).toEqual([run.id]));
    await killAt('POST', review, () => thaw(id));
    await soon(async () => expect(await kept('approved')).toContain(run.id));
    expect(reviews(run)).toEqual(['pending', 'approved']);
  });

  test('killed in the middle of a thaw: the others are decided, and none twice', async () => {
    const id = await freeze();
    const runs = Array.from({ length: many }, (_, count) => deploy(`eu-${count}`));
    for (const run of runs) await soon(() => expect(reviews(run)).toEqual(['pending']));
    await killAt('POST', review, () => thaw(id), 3);
    await soon(async () => expect(await kept('waiting')).toEqual([]));
    for (const run of runs) expect(reviews(run)).toEqual(['pending', 'approved']);
  });
});
