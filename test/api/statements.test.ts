// How many statements the hot routes cost. They are counted where `pg` sends them, so on PostgreSQL only.
import { describe, expect, test } from 'vitest';
import type { Deps } from '../../src/deps.ts';
import { syncInstallation } from '../../src/installations/sync-installations.ts';
import type { Job } from '../../src/database/queue/jobs.ts';
import { expectAtMost, fewestOf, isOfWorker, statementsDuring } from '../support/statements.ts';
import { acmeForAll } from './acme.ts';

const acme = acmeForAll();

const scopesPath = '/v1/repos/acme/web/pulls/1/scopes';
const push = (scopes: string[]) =>
  acme.call('PUT', scopesPath, { as: acme.keys.ci, body: { scopes } }).then(({ status }) => status);
const list = () =>
  acme
    .call('GET', '/v1/repos/acme/web/scheduled_freeze', { as: acme.keys.admin })
    .then(({ status }) => status);

const fewestDuring = (work: () => Promise<unknown>) => fewestOf(() => statementsDuring(work));
const another = () => crypto.randomUUID();

describe.runIf(process.env['TEST_DATABASE_URL'])('statements (PostgreSQL)', () => {
  test('a list of freezes is 1: the key with the repository and its freezes', async () => {
    // The first use of a key in a minute is written down.
    expect(await list()).toBe(200);
    expectAtMost(1, await fewestDuring(async () => expect(await list()).toBe(200)));
  });

  test('a state is 1: the key with the repository and its freezes', async () => {
    const path = '/v1/repos/acme/web/freeze_state?base=main';
    const ask = () => acme.call('GET', path, { as: acme.keys.ci }).then(({ status }) => status);
    // GitHub's rules of the branch are asked once in some minutes.
    expect(await ask()).toBe(200);
    expectAtMost(1, await fewestDuring(async () => expect(await ask()).toBe(200)));
  });

  test('a push of scopes is 1 when it changes nothing, and 2 when no freeze reads what it changes', async () => {
    expect(await push(['a'])).toBe(204);
    expectAtMost(1, await fewestDuring(async () => expect(await push(['a'])).toBe(204)));
    expectAtMost(2, await fewestDuring(async () => expect(await push(['a', another()])).toBe(204)));
  });

  test('a push of scopes by a job is 3 when it changes nothing: the rules, the repository, what it was', async () => {
    const body = { name: 'all', may: ['push_scopes'] };
    await acme.call('POST', '/v1/oidc_rules/acme', { as: acme.keys.admin, body });
    const as = acme.github.jobToken('acme/web', { audience: 'https://holdfast.example' });
    const pushAsJob = (scopes: string[]) =>
      acme.call('PUT', scopesPath, { as, body: { scopes } }).then(({ status }) => status);
    expect(await pushAsJob(['j'])).toBe(204);
    expectAtMost(3, await fewestDuring(async () => expect(await pushAsJob(['j'])).toBe(204)));
    expectAtMost(4, await fewestDuring(async () => expect(await pushAsJob(['j', another()])).toBe(204)));
  });

  test('an installation is saved with one statement for each 100 repositories, and a few more', async () => {
    const { github, app } = acme;
    github.addOrganization('initrode', { admins: ['ada'] });
    for (let index = 0; index < 250; index++) github.addRepository(`initrode/app-${index}`);
    github.deliverTo(null);
    const { id } = github.install('initrode');
    const sent: Job[] = [];
    const queue = { send: async (jobs: Job[]) => void sent.push(...jobs) };
    const statements = await statementsDuring(() =>
      syncInstallation({ ...app.deps, queue } as Deps, BigInt(id)),
    );
    github.deliverTo(`${app.url}/api/github/webhooks`);
    expectAtMost(
      3 + 3,
      statements.filter((text) => !isOfWorker(text)),
    );
    const tasks = sent.map(({ task }) => task);
    const reconciled = Array<string>(250).fill('reconcile-repository');
    expect(tasks.toSorted()).toEqual(['keep-plans', 'keep-teams', ...reconciled]);
  });
});

describe.runIf(process.env['TEST_DATABASE_URL'])('a push while a freeze is created (PostgreSQL)', () => {
  test('either sees the freeze, or is seen by its look', async () => {
    const { db } = acme.app.deps;
    expect(await push(['before'])).toBe(204);
    const web = await db.repository.findFirstOrThrow({ where: { name: 'web' } });
    const { id } = await acme.freeze({ start: null, end: null, matching_conditions: ['scope=late'] });
    await acme.quiet();
    await db.freeze.update({ where: { id }, data: { deletedAt: new Date(acme.clock.now()) } });

    let pushing: Promise<number>;
    await db.$transaction(async (tx) => {
      // As `createFreeze` does: it locks the row, saves the freeze, and changes the row.
      await tx.$queryRaw`SELECT 1 FROM repositories WHERE id = ${web.id} FOR UPDATE`;
      await tx.freeze.update({ where: { id }, data: { deletedAt: null } });
      await tx.repository.update({ where: { id: web.id }, data: { reconcileRequestedAt: web.seenAt } });
      pushing = push(['late']);
      // Until it waits for the row.
      for (let waits = false; !waits;) {
        const rows = await db.$queryRaw<unknown[]>`
          SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%pull_request_scopes%'
            AND datname = current_database()`;
        waits = rows.length > 0;
      }
    });
    expect(await pushing!).toBe(204);
    await acme.quiet();
    expect(acme.github.currentStatus('acme/web', 1)?.state).toBe('pending');
  });
});
