// Jobs of GitHub Actions call with their OIDC tokens, without a key that somebody must keep.
import { beforeAll, expect, test } from 'vitest';
import { type Acme, acmeForAll } from './api/acme.ts';
import { commandLineFor } from './support/command-line.ts';

const acme = acmeForAll();
beforeAll(async () => {
  await rule({ name: 'scopes', may: ['push_scopes'] });
  await rule({ name: 'release', refs: ['refs/heads/release/*'], may: ['push_scopes', 'freeze'] });
});

const audience = 'https://holdfast.example';
const freezes = '/v1/repos/acme/web/scheduled_freeze';
type Options = NonNullable<Parameters<Acme['github']['jobToken']>[1]>;
const job = (options: Options = {}, repository = 'acme/web') =>
  acme.github.jobToken(repository, { audience, ...options });
const release = (options: Options = {}) =>
  job({ ref: 'refs/heads/release/7', workflow: 'release.yml', ...options });
const now = { reason: 'Release 7', start: null, timezone: 'UTC', matching_conditions: [] };

async function rule(body: object): Promise<string> {
  const made = await acme.call('POST', '/v1/oidc_rules/acme', { as: acme.keys.admin, body });
  expect(made.status, made.text).toBe(201);
  return made.body.id;
}

const push = (as: string, number: number, scopes: string[], repository = 'acme/web') =>
  acme.call('PUT', `/v1/repos/${repository}/pulls/${number}/scopes`, { as, body: { scopes } });

test('the job of a pull request pushes its scopes, and a freeze of them holds it', async () => {
  const { number } = acme.github.openPullRequest('acme/web', { author: 'ada' });
  const { id } = await acme.freeze({ ...now, matching_conditions: ['scope=payments'] });
  await acme.quiet();
  expect(acme.github.currentStatus('acme/web', number)?.state).toBe('success');
  expect((await push(job({ pullRequest: number }), number, ['payments'])).status).toBe(204);
  await acme.quiet();
  expect(acme.github.currentStatus('acme/web', number)?.state).toBe('pending');
  await acme.call('POST', `${freezes}/${id}/delete`, {
    as: acme.keys.admin,
    body: { delete_reason: 'Over' },
  });
  await acme.quiet();
});

test('a pull request of a fork has no token of its own; that of its target pushes scopes and nothing more', async () => {
  acme.github.addUser('finn');
  const { number } = acme.github.openPullRequest('acme/web', { author: 'finn', fork: true });
  expect(() => job({ pullRequest: number })).toThrow('GitHub gives no OIDC token');
  const target = job({ pullRequest: number, event: 'pull_request_target', ref: 'refs/heads/release/7' });
  expect((await push(target, number, ['docs'])).status).toBe(204);
  const refused = await acme.call('POST', freezes, { as: target, body: now });
  expect([refused.status, refused.body.detail]).toEqual([
    403,
    'The OIDC rule scopes does not let jobs do this: it needs freeze in its may. Ask an admin of the owner.',
  ]);
});

test('a job of a release freezes, changes its freeze, and a later job ends it', async () => {
  const made = await acme.call('POST', freezes, { as: release(), body: now });
  expect(made.status, made.text).toBe(201);
  await acme.quiet();
  expect(acme.github.currentStatus('acme/web', 1)?.state).toBe('pending');
  const { id } = made.body;
  const changed = await acme.call('PATCH', `${freezes}/${id}`, {
    as: release(),
    body: { reason: 'Release 7.1' },
  });
  expect([changed.status, changed.body.reason]).toEqual([200, 'Release 7.1']);
  const ended = await acme.call('POST', `${freezes}/${id}/delete`, {
    as: release({ ref: 'refs/heads/release/8', runId: 4712, attempt: 2 }),
    body: { delete_reason: 'Released' },
  });
  expect(ended.status, ended.text).toBe(204);
  await acme.quiet();
  expect(acme.github.currentStatus('acme/web', 1)?.state).toBe('success');
  const { body } = await acme.call('GET', '/v1/repos/acme/web/logs', { as: acme.keys.admin });
  const [deleted, , created] = body.events;
  expect(created.metadata.created_by).toEqual({
    type: 'application',
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    name: 'acme/web release.yml run 4711',
    run: `${acme.github.url}/acme/web/actions/runs/4711/attempts/1`,
  });
  expect(deleted.metadata.deleted_by).toEqual({
    ...created.metadata.created_by,
    name: 'acme/web release.yml run 4712',
    run: `${acme.github.url}/acme/web/actions/runs/4712/attempts/2`,
  });
  const page = await fetch(`${acme.app.url}/repos/acme/web/freezes/${id}`);
  expect(await page.text()).toContain('the job acme/web release.yml run 4711');
});

test('a freeze of somebody else, or of jobs under another rule, is not for a job to change or end', async () => {
  const other = await rule({ name: 'night', environments: ['night'], may: ['push_scopes', 'freeze'] });
  const night = () => job({ environment: 'night' });
  const ofNight = (await acme.call('POST', freezes, { as: night(), body: now })).body.id;
  const ofAdmin = (await acme.freeze(now)).id;
  await acme.quiet();
  const written = await acme.watchWrites();
  for (const id of [ofNight, ofAdmin]) {
    const body = { delete_reason: 'Mine' };
    const attempts = [
      await acme.call('PATCH', `${freezes}/${id}`, { as: release(), body: { reason: 'Mine' } }),
      await acme.call('PATCH', `${freezes}/${id}`, { as: release(), body: {} }),
      await acme.call('DELETE', `${freezes}/${id}`, { as: release(), body }),
      await acme.call('POST', `${freezes}/${id}/delete`, { as: release(), body }),
      await acme.call('POST', `${freezes}/${id}/delete`, {
        as: release(),
        body,
        headers: { 'Idempotency-Key': crypto.randomUUID() },
      }),
    ];
    for (const { status, body } of attempts)
      expect([status, body.detail]).toEqual([
        403,
        `acme/web release.yml run 4711 may change and end the freezes that jobs under its OIDC rule made, and freeze ${id} is none of them. Ask an admin of the repository.`,
      ]);
  }
  expect(await written()).toEqual([]);
  // Once its rule is gone, admins end what its jobs made.
  await acme.call('DELETE', `/v1/oidc_rules/acme/${other}`, { as: acme.keys.admin });
  const last = { body: { delete_reason: 'Over' } };
  expect((await acme.call('POST', `${freezes}/${ofNight}/delete`, { as: night(), ...last })).status).toBe(
    403,
  );
  for (const id of [ofNight, ofAdmin])
    expect(
      (await acme.call('POST', `${freezes}/${id}/delete`, { as: acme.keys.admin, ...last })).status,
    ).toBe(204);
});

test('no job can do what only admins can', async () => {
  const routes = [
    ['GET', freezes],
    ['POST', `${freezes}/preview`],
    ['PUT', '/v1/repos/acme/web/merge-queue/pause'],
    ['PUT', '/v1/products/acme/web'],
    ['POST', '/v1/repos/acme/web/pulls/1/exemptions'],
    ['POST', '/v1/applications/acme'],
    ['POST', '/v1/oidc_rules/acme'],
    ['POST', '/v1/freeze_plans/acme'],
    ['GET', '/v1/repos/acme/web/logs'],
  ] as const;
  for (const [method, path] of routes) {
    const answer = await acme.call(method, path, { as: release(), ...(method !== 'GET' && { body: {} }) });
    expect([path, answer.status, answer.body.detail]).toEqual([
      path,
      403,
      'This route takes an admin application key (hf_admin_…) or a GitHub token, not the OIDC token of a job.',
    ]);
  }
});

test('the repository settings and states hold for jobs as for everybody', async () => {
  const settings = '/v1/repos/acme/web/settings';
  await acme.call('PATCH', settings, { as: acme.keys.admin, body: { longest_open_end_hours: 2 } });
  const made = await acme.call('POST', freezes, { as: release(), body: now });
  expect(made.body.end).toBe('2026-03-01T11:00:00');
  expect(made.body.warnings.join()).toMatch(/hours/);
  await acme.call('PATCH', settings, { as: acme.keys.admin, body: { longest_open_end_hours: null } });
  await acme.call('POST', `${freezes}/${made.body.id}/delete`, {
    as: release(),
    body: { delete_reason: 'Over' },
  });
  const archived = await push(job({}, 'acme/attic'), 1, ['docs'], 'acme/attic');
  expect(archived.status).toBe(409);
});

test('the command line sends the token as HOLDFAST_TOKEN', async () => {
  const line = commandLineFor(acme, release());
  try {
    const pushed = await line.holdfast(['scopes', 'push', 'acme/web#1', 'docs']);
    expect([pushed.code, pushed.err]).toEqual([0, '']);
    const frozen = await line.holdfast(['freeze', 'acme/web', '--for', '2h', '-m', 'Release', '--json']);
    expect(frozen.code, frozen.err).toBe(0);
    const ended = await line.holdfast(['unfreeze', frozen.json().freeze.id, '-m', 'Released']);
    expect([ended.code, ended.err]).toEqual([0, '']);
  } finally {
    line.close();
  }
});
