import { afterEach, describe, expect, test, vi } from 'vitest';
import { type Acme, free, heldUntilRemoved, acmeForAll } from './support/acme.ts';

const acme = acmeForAll();
afterEach(() => void vi.useRealTimers());

const then = async (act: (github: Acme['github']) => unknown): Promise<void> => {
  await act(acme.github);
  await acme.quiet();
};
const list = (repository: string, as = acme.admin) =>
  acme.call('GET', `/v1/repos/${repository}/scheduled_freeze`, { as });
const create = (repository: string, as = acme.admin) =>
  acme.call('POST', `/v1/repos/${repository}/scheduled_freeze`, {
    as,
    body: { reason: 'Another', start: null, timezone: 'UTC' },
  });
/** The ids of a repository's freezes, or the status that refuses to list them. */
const freezesOf = async (repository: string, as = acme.admin): Promise<string[] | number> => {
  const { status, body } = await list(repository, as);
  return status === 200 ? body.scheduled_freezes.map(({ id }: { id: string }) => id) : status;
};

describe('a repository', () => {
  test('keeps its freezes when it is renamed, also when another takes the old name', async () => {
    const web = await acme.repository('web', [{}]);
    const { id } = await acme.freeze(web);
    await then((github) => github.renameRepository(web, 'site'));
    expect(await freezesOf('acme/site')).toEqual([id]);
    expect(acme.frozen('acme/site')).toEqual([1]);
    await then((github) => github.openPullRequest('acme/site', { author: 'bob' }));
    expect(acme.frozen('acme/site')).toEqual([1, 2]);

    const newcomer = await acme.repository('web', [{}]);
    expect(await freezesOf(newcomer)).toEqual([]);
    expect(acme.frozen(newcomer)).toEqual([]);
    expect(await freezesOf('ACME/Site')).toEqual([id]);
    await acme.remove('acme/site', id);
    expect(acme.frozen('acme/site')).toEqual([]);
  });

  test('keeps its freezes when it moves to another owner with the App', async () => {
    const { github } = acme;
    const grace = github.addUser('grace').token;
    github.addOrganization('globex', { admins: ['grace'] });
    await then(() => github.install('globex'));
    const lib = await acme.repository('lib', [{}]);
    const { id } = await acme.freeze(lib);
    await then(() => github.transferRepository(lib, 'globex'));
    expect(await freezesOf('globex/lib', grace)).toEqual([id]);
    await then(() => github.push('globex/lib', 1));
    expect(acme.shown('globex/lib', 1)).toEqual(heldUntilRemoved);
    expect((await create('globex/lib')).status).toBe(403);
  });

  test('that moves to an owner without the App is left alone, and held again after an installation there', async () => {
    const { github } = acme;
    const hal = github.addUser('hal').token;
    github.addOrganization('initech', { admins: ['hal'] });
    const ops = await acme.repository('ops', [{}]);
    const { id } = await acme.freeze(ops);
    await then(() => github.transferRepository(ops, 'initech'));
    await then(() => github.push('initech/ops', 1));
    expect(acme.shown('initech/ops', 1)).toBeNull();
    await then(() => github.install('initech'));
    expect(acme.shown('initech/ops', 1)).toEqual(heldUntilRemoved);
    expect(await freezesOf('initech/ops', hal)).toEqual([id]);
  });

  test('that is archived refuses writes with 409 and shows its freezes; unarchived, it follows them', async () => {
    const { github } = acme;
    const old = await acme.repository('old', [{}]);
    const { id } = await acme.freeze(old, { end: '2026-03-01T10:00:00' });
    await then(() => github.archive(old));
    expect(await freezesOf(old)).toEqual([id]);
    const refused = await create(old);
    expect([refused.status, refused.body.detail]).toEqual([409, expect.stringContaining('archived')]);
    await acme.advanceTo('2026-03-01T10:00:00Z');
    expect(acme.shown(old, 1)?.state).toBe('pending');
    await then(() => github.unarchive(old));
    expect(acme.shown(old, 1)).toEqual(free);
    expect((await create(old)).status).toBe(201);
  });

  test('that becomes private or public goes on', async () => {
    const app = await acme.repository('app', [{}]);
    await acme.freeze(app);
    for (const change of ['privatize', 'publicize'] as const) {
      await then((github) => github[change](app));
      await then((github) => github.push(app, 1));
      expect(acme.shown(app, 1)).toEqual(heldUntilRemoved);
    }
  });
});

describe('an installation', () => {
  test('of selected repositories: an added one is checked, a removed one is 404', async () => {
    const { github } = acme;
    const ivy = github.addUser('ivy').token;
    github.addOrganization('hooli', { admins: ['ivy'] });
    for (const name of ['a', 'b']) {
      github.addRepository(`hooli/${name}`);
      github.openPullRequest(`hooli/${name}`, { author: 'ivy' });
    }
    await then(() => github.install('hooli', { repositories: ['a'] }));
    expect(acme.frozen('hooli/a')).toEqual([]);
    expect([await freezesOf('hooli/b', ivy), acme.shown('hooli/b', 1)]).toEqual([404, null]);
    await then(() => github.addToInstallation('hooli', ['b']));
    expect(acme.shown('hooli/b', 1)).toEqual(free);
    expect((await create('hooli/b', ivy)).status).toBe(201);
    await acme.quiet();
    expect(acme.frozen('hooli/b')).toEqual([1]);
    await then(() => github.removeFromInstallation('hooli', ['b']));
    expect(await freezesOf('hooli/b', ivy)).toBe(404);
    await then(() => github.addToInstallation('hooli', ['b']));
    expect(await freezesOf('hooli/b', ivy)).toHaveLength(1);
  });

  test('that is suspended refuses writes with 409 and posts nothing; unsuspended, it catches up', async () => {
    const { github } = acme;
    const kim = github.addUser('kim').token;
    github.addOrganization('pied', { admins: ['kim'] });
    github.addRepository('pied/piper');
    await then(() => github.install('pied'));
    await then(() => github.openPullRequest('pied/piper', { author: 'kim' }));
    expect((await create('pied/piper', kim)).status).toBe(201);
    await acme.quiet();
    await then(() => github.suspend('pied'));
    const refused = await create('pied/piper', kim);
    expect([refused.status, refused.body.detail]).toEqual([409, expect.stringContaining('suspended')]);
    await then(() => github.push('pied/piper', 1));
    expect(acme.shown('pied/piper', 1)).toBeNull();
    await then(() => github.unsuspend('pied'));
    expect(acme.shown('pied/piper', 1)).toMatchObject({ state: 'pending' });
    await then(() => github.acceptPermissions('pied', { ...github.app.permissions, checks: 'read' }));
    expect(acme.frozen('pied/piper')).toEqual([1]);
  });

  test('that is suspended while a status waits stops, and writes it when it is back', async () => {
    const { github } = acme;
    const jo = github.addUser('jo').token;
    github.addOrganization('wayne', { admins: ['jo'] });
    github.addRepository('wayne/cave');
    github.openPullRequest('wayne/cave', { author: 'jo' });
    await then(() => github.install('wayne'));
    const fault = github.faults.add({
      kind: 'status',
      match: { method: 'POST', path: /^\/repos\/wayne\/cave\/statuses/ },
    });
    expect((await create('wayne/cave', jo)).status).toBe(201);
    await acme.quiet();
    await then(() => github.suspend('wayne'));
    fault.remove();
    await acme.advanceTo(new Date(acme.clock.now() + 120_000));
    expect(acme.shown('wayne/cave', 1)).toEqual(free);
    await then(() => github.unsuspend('wayne'));
    expect(acme.shown('wayne/cave', 1)).toMatchObject({ state: 'pending' });
  });

  test('that is removed answers 404; installed again, freezes and products are as they were', async () => {
    const { github } = acme;
    const lea = github.addUser('lea').token;
    github.addOrganization('umbrella', { admins: ['lea'] });
    github.addRepository('umbrella/lab');
    github.openPullRequest('umbrella/lab', { author: 'lea' });
    await then(() => github.install('umbrella'));
    expect((await create('umbrella/lab', lea)).status).toBe(201);
    // Octokit asks again for six seconds if GitHub drops a token that is still new.
    await acme.quiet();
    const before = await freezesOf('umbrella/lab', lea);
    await then(() => github.uninstall('umbrella'));
    expect(await freezesOf('umbrella/lab', lea)).toBe(404);
    expect((await create('umbrella/lab', lea)).status).toBe(404);
    await then(() => github.push('umbrella/lab', 1));
    expect(acme.shown('umbrella/lab', 1)).toBeNull();
    await then(() => github.install('umbrella'));
    expect(await freezesOf('umbrella/lab', lea)).toEqual(before);
    expect(acme.shown('umbrella/lab', 1)).toMatchObject({ state: 'pending' });
  });

  test('whose webhook was lost is found at the first use, and at the start', async () => {
    const { github } = acme;
    const mia = github.addUser('mia').token;
    github.addOrganization('stark', { admins: ['mia'] });
    github.addRepository('stark/suit');
    github.openPullRequest('stark/suit', { author: 'mia' });
    github.webhookFaults.add({ kind: 'drop', event: 'installation', times: 1 });
    await then(() => github.install('stark'));
    expect(acme.shown('stark/suit', 1)).toBeNull();
    expect((await create('stark/suit', mia)).status).toBe(201);
    await acme.quiet();
    expect(acme.frozen('stark/suit')).toEqual([1]);
  });

  test('whose token GitHub dropped before its time goes on with a new one', async () => {
    const { github } = acme;
    const repository = await acme.repository('renewed', [{}]);
    await acme.freeze(repository, { matching_conditions: ['label=risky'] });
    // Octokit takes the 401 of a token of the last five seconds for a delay at GitHub, and asks again.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 10_000 });
    github.expireInstallationTokens();
    await then(() => github.label(repository, 1, 'risky'));
    expect(acme.frozen(repository)).toEqual([1]);
  });
});
