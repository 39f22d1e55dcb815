// A pull request is called held only if that is known. The rest should be held, with the reason.
import { PassThrough } from 'node:stream';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { doctor } from '../src/cli/doctor.ts';
import { type Acme, startAcme } from './support/acme.ts';
import { Visitor } from './support/visitor.ts';

let acme: Acme;
beforeAll(async () => {
  acme = await startAcme();
});
afterEach(() => acme.github.faults.clear());
afterAll(() => acme.close());

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
  expect(await page('acme/web')).toContain('4 pull requests are held.');

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
    '2 pull requests are held. 2 more should be held: GitHub refused the status of 1, somebody keeps overwriting the status of 1.',
  );
  expect(repositoryPage).not.toContain('4 pull requests are held');
  const statusPage = await page('acme/web/pulls/2');
  expect(statusPage).toContain('<span class="badge held">Pending</span>');
  expect(statusPage).toContain('but GitHub refused its status.');
  expect(await page('acme/web/pulls/3')).toContain('but somebody keeps overwriting its status.');
  const output = new PassThrough();
  const options = { repository: web, url: acme.app.url, token: acme.admin, isJson: false };
  expect(await doctor(options, output)).toBe(1);
  const said = String(output.read());
  expect(said).toContain(
    'FAILED   GitHub refused the Holdfast status on pull requests that freezes should hold: #2.',
  );
  expect(said).toContain(
    'FAILED   Somebody keeps overwriting the Holdfast status on pull requests that freezes should hold: #3.',
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
    '0 pull requests are held. 2 more should be held: 2 are waiting for their statuses.',
  );
  expect(await page('acme/ops/pulls/1')).toContain('but Holdfast has not written its status yet.');
  fault.remove();
  await acme.advanceTo(new Date(acme.clock.now() + 60_000));
  expect(await progress(ops, id)).toMatchObject({ pull_requests: { to_hold: 2, held: 2 }, not_held: [] });
  expect(await page('acme/ops/pulls/1')).toContain('<span class="badge held">Held</span>');
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
