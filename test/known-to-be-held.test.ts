// A pull request is called held only if that is known. The rest should be held, with the reason.
import { PassThrough } from 'node:stream';
import { afterEach, describe, expect, test } from 'vitest';
import { diagnose } from '../src/cli/commands/doctor.ts';
import { correctStatus } from '../src/statuses/correct.ts';
import { takeLease } from '../src/statuses/lease.ts';
import { settle } from '../src/statuses/write-store.ts';
import { acmeForAll } from './support/acme.ts';
import { Visitor } from './support/visitor.ts';

const acme = acmeForAll();
afterEach(() => acme.github.faults.clear());

const progress = async (repository: string, id: string) => {
  const path = `/v1/repos/${repository}/scheduled_freeze/${id}/enforcement`;
  return (await acme.call('GET', path, { as: acme.admin })).body;
};
const enforcement = async (repository: string) =>
  (await acme.call('GET', `/v1/repos/${repository}/enforcement`, { as: acme.admin })).body;
const page = async (path: string) => (await new Visitor(acme).open(`/repos/${path}`)).text;

/** As if GitHub had refused the status of a pull request, or somebody kept overwriting it. */
async function markNotHeld(repository: string, number: number, why: string | null): Promise<void> {
  const { headSha: sha } = acme.github.pullRequest(repository, number);
  await acme.app.deps.db.headStatus.updateMany({ where: { sha }, data: { notHeld: why } });
}

test('refused and contested ones are to be held, everywhere, with why', async () => {
  const web = await acme.repository('web', [{}, {}, {}, {}]);
  const { id } = await acme.freeze(web);
  const all = { pull_requests: { to_hold: 4, held: 4 }, not_held: [], leaking: [] };
  expect(await progress(web, id)).toMatchObject(all);
  expect(await page('acme/web')).toContain('4 pull requests are blocked.');

  await markNotHeld(web, 2, 'refused');
  await markNotHeld(web, 3, 'contested');
  const known = {
    pull_requests: { to_hold: 4, held: 2 },
    not_held: [
      { pull_request: 2, reason: 'refused' },
      { pull_request: 3, reason: 'contested' },
    ],
  };
  expect(await progress(web, id)).toMatchObject(known);
  expect(await enforcement(web)).toMatchObject(known);
  const repositoryPage = (await page('acme/web')).replace(/<[^>]+>/g, '').replace(/\s+/g, ' ');
  expect(repositoryPage).toContain(
    '2 pull requests are blocked. 2 more should be blocked: GitHub refused the status of 1, somebody keeps overwriting the status of 1.',
  );
  expect(repositoryPage).not.toContain('4 pull requests are blocked');
  const statusPage = await page('acme/web/pulls/2');
  expect(statusPage).toContain('<span class="badge held">Pending</span>');
  expect(statusPage).toContain('but GitHub refused its status.');
  expect(await page('acme/web/pulls/3')).toContain('but somebody keeps overwriting its status.');
  const output = new PassThrough();
  const options = { repository: web, url: acme.app.url, token: acme.admin, isJson: false };
  expect(await diagnose(options, output)).toBe(1);
  const said = String(output.read());
  expect(said).toContain(
    'FAILED   GitHub refused the Holdfast status on pull requests that freezes should block: #2.',
  );
  expect(said).toContain(
    'FAILED   Somebody keeps overwriting the Holdfast status on pull requests that freezes should block: #3.',
  );
});

test('ones whose status waits are to be held, until it is written', async () => {
  const { github } = acme;
  const ops = await acme.repository('ops', [{}, {}]);
  const fault = github.faults.add({ kind: 'status', match: { method: 'POST', path: /\/statuses\// } });
  const { id } = await acme.freeze(ops);
  expect(await progress(ops, id)).toMatchObject({
    pull_requests: { to_hold: 2, held: 0 },
    not_held: [
      { pull_request: 1, reason: 'waiting' },
      { pull_request: 2, reason: 'waiting' },
    ],
    waiting_writes: 2,
  });
  const text = (await page('acme/ops')).replace(/<[^>]+>/g, '').replace(/\s+/g, ' ');
  expect(text).toContain(
    '0 pull requests are blocked. 2 more should be blocked: 2 are waiting for their statuses.',
  );
  expect(await page('acme/ops/pulls/1')).toContain('but Holdfast has not written its status yet.');
  await acme.advanceTo(new Date(acme.clock.now() + 125_000));
  const { body } = await acme.call('GET', '/v1/repos/acme/ops/enforcement', { as: acme.admin });
  expect(body.findings.find(({ check }: { check: string }) => check === 'held')).toMatchObject({
    message: 'These pull requests are waiting for their statuses, the first for 2 min: #1, #2.',
    remedy: expect.stringMatching(/^Wait\. At the current pace, it takes about \d+ seconds?\. /),
  });
  fault.remove();
  await acme.advanceTo(new Date(acme.clock.now() + 60_000));
  expect(await progress(ops, id)).toMatchObject({ pull_requests: { to_hold: 2, held: 2 }, not_held: [] });
  expect(await page('acme/ops/pulls/1')).toContain('<span class="badge held">Blocked</span>');
});

test('a changed text is not a reason: what GitHub shows meanwhile also holds', async () => {
  const { github } = acme;
  const lib = await acme.repository('lib', [{}]);
  const { id } = await acme.freeze(lib);
  const { headSha: sha } = github.pullRequest(lib, 1);
  const change = { isWaiting: true, notBefore: new Date('2030-01-01'), description: 'Frozen until tomorrow' };
  await acme.app.deps.db.headStatus.updateMany({ where: { sha }, data: change });
  expect(await progress(lib, id)).toMatchObject({
    pull_requests: { to_hold: 1, held: 1 },
    waiting_writes: 1,
  });
  // A status with a lost answer may be a former success.
  await acme.app.deps.db.headStatus.updateMany({ where: { sha }, data: { attempts: 1 } });
  expect(await progress(lib, id)).toMatchObject({ pull_requests: { to_hold: 1, held: 0 } });
});

test('one whose test merge commit still shows our success is to be held, until that is written', async () => {
  const { github } = acme;
  const site = await acme.repository('site', [{}]);
  const merge = github.testMergeCommit(site, 1)!;
  github.openPullRequest(site, { author: 'bob', base: 'release', headSha: merge });
  await acme.quiet();
  expect(acme.shown(site, 2)?.state).toBe('success');
  const fault = github.faults.add({ kind: 'status', match: { method: 'POST', path: new RegExp(merge) } });
  const { id } = await acme.freeze(site, { matching_conditions: ['base=main'] });
  for (let step = 0; step < 5; step++) await acme.advanceTo(new Date(acme.clock.now() + 2_000));
  expect(acme.shown(site, 1)?.state).toBe('pending');
  expect(await progress(site, id)).toMatchObject({
    pull_requests: { to_hold: 1, held: 0 },
    not_held: [{ pull_request: 1, reason: 'waiting' }],
  });
  fault.remove();
  await acme.advanceTo(new Date(acme.clock.now() + 60_000));
  expect(await progress(site, id)).toMatchObject({ pull_requests: { to_hold: 1, held: 1 }, not_held: [] });
});

test('one that GitHub let us write nothing on is to be held', async () => {
  const { github } = acme;
  const core = await acme.repository('core', [{}]);
  const { id } = await acme.freeze(core);
  github.faults.add({ kind: 'status', status: 404, match: { method: 'POST', path: /\/statuses\// } });
  github.openPullRequest(core, { author: 'bob' });
  await acme.quiet();
  expect(await progress(core, id)).toMatchObject({
    pull_requests: { to_hold: 2, held: 1 },
    not_held: [{ pull_request: 2, reason: 'waiting' }],
    waiting_writes: 0,
  });
  // The refusal for another one says nothing new about it.
  github.openPullRequest(core, { author: 'bob' });
  await acme.quiet();
  expect(await progress(core, id)).toMatchObject({
    pull_requests: { to_hold: 3, held: 1 },
    not_held: [
      { pull_request: 2, reason: 'waiting' },
      { pull_request: 3, reason: 'waiting' },
    ],
    waiting_writes: 0,
  });
  github.faults.clear();
  await acme.advanceTo(new Date(acme.clock.now() + 60_000));
  expect(await progress(core, id)).toMatchObject({ pull_requests: { to_hold: 3, held: 3 }, not_held: [] });
});

describe('one that the last status we know of holds is to be held', () => {
  const rowOf = (repository: string) =>
    acme.app.deps.db.headStatus.findFirstOrThrow({
      where: { repositoryId: BigInt(acme.github.repository(repository).id) },
    });
  const clientOf = async (repository: string) =>
    acme.app.deps.github.asInstallation((await rowOf(repository)).installationId!);
  const waiting = {
    pull_requests: { to_hold: 1, held: 0 },
    not_held: [{ pull_request: 1, reason: 'waiting' }],
  };
  const held = { pull_requests: { to_hold: 1, held: 1 }, not_held: [] };
  const after = (seconds: number) => acme.advanceTo(new Date(acme.clock.now() + seconds * 1_000));

  test('if a success of ours arrives late, after a check that did not show it', async () => {
    const { github, app } = acme;
    const late = await acme.repository('late', [{}]);
    const { headSha } = github.pullRequest(late, 1);
    const { id } = await acme.freeze(late);
    const known = await rowOf(late);
    // As a worker of another process, whose write is never answered.
    const lease = await takeLease(app.deps, known.installationId!);
    await lease!.take();
    await acme.remove(late, id);
    await lease!.take();
    const unheard = github.webhookFaults.add({ kind: 'drop', event: 'status' });
    const client = await clientOf(late);
    const place = { owner: 'acme', repo: 'late', sha: headSha };
    const success = { state: 'success' as const, description: 'No freeze holds it.' };
    const { data } = await client.rest.repos.createCommitStatus({
      ...place,
      ...success,
      context: 'holdfast/freeze',
    });
    unheard.remove();
    const again = await acme.freeze(late);
    const turn = await lease!.take();
    if (turn.is !== 'writing') throw new Error(`nothing to write: ${turn.is}`);
    const [write] = turn.writes;
    const by = { by: await app.deps.github.botLogin(), byId: data.creator!.id };
    const event = { id: String(data.id), at: data.created_at, ...success, ...by };
    await correctStatus(app.deps, known.repositoryId, headSha, event);
    const { description, writtenId, writtenAt } = known;
    const outcome = { write: write!, description, id: writtenId!, at: writtenAt! };
    await settle(app.deps, [{ ...outcome, state: 'pending', isNew: false, isFinal: false }], []);
    expect(await progress(late, again.id)).toMatchObject(waiting);
    await lease!.release();
    await after(60);
    expect(acme.shown(late, 1)?.state).toBe('pending');
    expect(await progress(late, again.id)).toMatchObject(held);
  });

  test('if GitHub refuses ours, and its list does not show yet who wrote over it', async () => {
    const { github } = acme;
    const old = await acme.repository('old', [{}]);
    const { id } = await acme.freeze(old);
    const client = await clientOf(old);
    client.hook.after('request', (answer, options) => {
      if (options['repo'] !== 'old' || !/statuses$/.test(options.url) || options.method !== 'GET') return;
      answer.data = (answer.data as { creator: { login: string } }[]).filter(
        ({ creator }) => creator.login !== 'bob',
      );
    });
    github.faults.add({ kind: 'status', status: 422, match: { method: 'POST', path: /\/statuses\// } });
    github.postStatus(old, 1, { by: 'bob', state: 'success' });
    await acme.quiet();
    expect(await progress(old, id)).toMatchObject({ ...waiting, not_held: [{ reason: 'refused' }] });
  });

  test('if GitHub has lost it, or its name is another one now, and lets us write nothing', async () => {
    const { github, app } = acme;
    const gone = await acme.repository('gone', [{}]);
    const { id } = await acme.freeze(gone);
    // Longer than an answer of GitHub's can be behind.
    await after(400);
    app.deps.config.statusContext = 'other/freeze';
    github.faults.add({ kind: 'status', status: 403, match: { method: 'POST', path: /\/gone\/statuses\// } });
    await acme.update(gone, id, { reason: 'Incident' });
    app.deps.config.statusContext = 'holdfast/freeze';
    expect(await progress(gone, id)).toMatchObject(waiting);
    github.faults.clear();
    await after(60);
    expect(await progress(gone, id)).toMatchObject(held);
  });

  test('if another worker took it while a write of ours got no answer', async () => {
    const twice = await acme.repository('twice', [{}]);
    const { repositoryId } = await rowOf(twice);
    const client = await clientOf(twice);
    let isLost = false;
    client.hook.before('request', async (options) => {
      if (isLost || options['repo'] !== 'twice' || options.method !== 'POST') return;
      isLost = true;
      // Its lease was over.
      await acme.app.deps.db.headStatus.updateMany({
        where: { repositoryId },
        data: { attempts: { increment: 1 } },
      });
      throw new Error('socket hang up');
    });
    await acme.freeze(twice);
    expect(isLost).toBe(true);
    expect(await rowOf(twice)).toMatchObject({ attempts: 2, isWaiting: true });
  });
});
