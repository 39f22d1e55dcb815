import { beforeAll, expect, test } from 'vitest';
import { keepReports } from '../src/reports/freeze-report.ts';
import { sweep } from '../src/server/sweep.ts';
import { acmeForAll } from './support/acme.ts';
import { grantDeployments } from './support/deployments.ts';
import { exemptionsOf } from './support/exemptions.ts';
import { Visitor, words } from './support/visitor.ts';

// When a freeze has ended, its page and the API say what it did and what it cost, also when the log has forgotten it.

const acme = acmeForAll();
const ada = new Visitor(acme);
const bob = new Visitor(acme);
let exemptions: ReturnType<typeof exemptionsOf>;
let web: string;
let id: string;
let [adas, bobs] = ['', ''];

const minute = 60_000;
const tokenOf = (login: string) => acme.github.addToken(login, { kind: 'classic', scopes: ['repo'] });
/** GitHub, which works in the background, is asked twice meanwhile. */
async function later(minutes: number) {
  const to = acme.clock.now() + minutes * minute;
  for (const seconds of [15, 30]) await acme.advanceTo(new Date(acme.clock.now() + seconds * 1000));
  await acme.advanceTo(new Date(to));
}
const reportOf = async (repository: string, freeze: string, as = acme.admin) =>
  acme.call('GET', `/v1/repos/${repository}/scheduled_freeze/${freeze}/report`, { as });
const page = (visitor: Visitor) => visitor.open(`/repos/${web}/freezes/${id}`);
const rows = () => acme.app.deps.db.freezeReport.findMany();

beforeAll(async () => {
  exemptions = exemptionsOf(acme);
  acme.github.addUser('wes');
  await grantDeployments(acme);
  web = await acme.repository('web', [{}, {}, {}, {}], { roles: { wes: 'write' } });
  acme.github.addEnvironment(web, 'production');
  [adas, bobs] = [tokenOf('ada'), tokenOf('bob')];
  await ada.signIn('ada');
  await bob.signIn('bob');
});

test('it counts what the freeze held, for how long, what went past it, and how fast the rest went in', async () => {
  ({ id } = await acme.freeze(web, { holds: ['merges', 'deployments'], end: '2026-03-01T11:00:00' }));
  acme.github.runWorkflow(web, { environments: ['production'] });
  await later(30);
  expect(words(await page(ada)), 'while it goes on').not.toContain('Median wait');
  // One is let through, one is merged past it, one is closed.
  await exemptions.exempt(web, 1, { reason: 'Fixes the login' }, adas);
  acme.github.merge(web, 1, 'ada');
  acme.github.bypassMerge(web, 2, 'ada');
  await acme.quiet();
  acme.github.closePullRequest(web, 3);
  acme.github.openPullRequest(web, { author: 'ada' });
  await acme.quiet();
  await later(1);
  await acme.advanceTo('2026-03-01T11:00:10Z');
  await later(10);
  acme.github.merge(web, 4, 'ada');
  await acme.quiet();

  const { status, body } = await reportOf(web, id);
  expect(status).toBe(200);
  expect(body).toMatchObject({
    pull_requests: { held: 5, longest: 4 },
    thaw: { waiting: 2, closed: 1 },
    exemptions: [
      {
        ...{ pull_request: 1, environment: null, reason: 'Fixes the login' },
        ...{ requested_by: { name: 'ada' }, approved_by: { name: 'ada' }, used_at: expect.any(String) },
      },
    ],
    bypasses: [{ pull_request: 2, environment: null, by: { name: 'ada' }, at: expect.any(String) }],
    deployments_held: 1,
  });
  // Seconds pass until it is observed.
  const near = (seconds: number) => expect.closeTo(seconds, -1.8);
  expect(body.pull_requests.longest_wait_seconds).toEqual(near(2 * 3600));
  expect(body.pull_requests.median_wait_seconds).toEqual(near(30 * 60));
  expect(body.thaw).toMatchObject({ median_seconds: near(610), last_seconds: near(610) });
});

test('the page of the freeze has it, and who did what is for insiders', async () => {
  const shown = words(await page(ada));
  expect(shown).toContain('Pull requests blocked 5');
  expect(shown).toContain('Longest wait 2 h ( #4 )');
  expect(shown).toContain(
    '2 pull requests waited until the end. 1 was merged or closed since, 10 min after the end.',
  );
  for (const inside of ['Fixes the login', 'Merged or deployed past the freeze']) {
    expect(shown).toContain(inside);
    for (const visitor of [bob, new Visitor(acme)]) {
      const outside = words(await page(visitor));
      expect(outside).toContain('Pull requests blocked 5');
      expect(outside).not.toContain(inside);
    }
  }
  expect((await reportOf(web, id, bobs)).status).toBe(403);
});

test('a pull request that was let go and held again waited for both times', async () => {
  const api = await acme.repository('api', [{ labels: ['backend'] }]);
  const freeze = await acme.freeze(api, { matching_conditions: ['label=backend'] });
  await later(10);
  acme.github.unlabel(api, 1, 'backend');
  await acme.quiet();
  await later(60);
  acme.github.label(api, 1, 'backend');
  await acme.quiet();
  await later(20);
  await acme.remove(api, freeze.id);
  const { body } = await reportOf(api, freeze.id);
  expect(body.pull_requests).toMatchObject({ held: 1, longest_wait_seconds: expect.closeTo(30 * 60, -1.8) });
});

test('it is kept a day after the end, and stays when the log and the waits are forgotten', async () => {
  const { deps } = acme.app;
  const before = (await reportOf(web, id)).body;
  const quiet = await acme.repository('quiet');
  const [on, over] = [await acme.freeze(quiet), await acme.freeze(quiet)];
  await later(1);
  await acme.remove(quiet, over.id);
  const inHours = (hours: number) => new Date(acme.clock.now() + hours * 60 * minute);
  await keepReports(deps.sql, inHours(20));
  expect(await rows()).toEqual([]);
  await keepReports(deps.sql, inHours(25));
  // One that did nothing has none, and one that goes on is looked at again.
  await keepReports(deps.sql, inHours(50));
  expect(await rows()).toHaveLength(2);
  const due = await deps.db.freeze.findMany({ where: { id: { in: [on.id, over.id, id] } } });
  expect(Object.fromEntries(due.map((each) => [each.id, each.reportDueAt !== null]))).toEqual({
    ...{ [on.id]: true, [over.id]: false, [id]: false },
  });
  await deps.db.auditEvent.deleteMany({ where: { type: 'freeze.bypassed' } });
  await deps.db.exemption.deleteMany();
  await deps.db.deployment.deleteMany();
  await deps.db.freezeWait.updateMany({ data: { until: new Date('2025-01-01T00:00:00Z') } });
  await sweep(deps);
  expect(await deps.db.freezeWait.count()).toBe(0);
  expect((await reportOf(web, id)).body).toEqual(before);
});

test('a freeze that is far away is looked at each month, because it may be moved to earlier', async () => {
  const { deps } = acme.app;
  const far = await acme.repository('far');
  const about = { start: '2026-12-01T00:00:00', end: '2026-12-02T00:00:00' };
  const freeze = await acme.freeze(far, about);
  const now = new Date(acme.clock.now());
  await keepReports(deps.sql, now);
  const { reportDueAt } = await deps.db.freeze.findUniqueOrThrow({ where: { id: freeze.id } });
  expect(reportDueAt!.getTime() - now.getTime()).toBe(30 * 24 * 60 * minute);
});

test('an owner has a page of months, as charts, a table and CSV, for those who see the log', async () => {
  const path = '/owners/acme/reports';
  const { text } = await ada.open(path);
  expect(text.match(/<svg[^>]*role="img"/g)).toHaveLength(4);
  expect(words({ text })).toContain('What freezes cost acme');
  const { text: csv, headers, status } = await ada.open(`${path}?format=csv`);
  expect([status, csv.slice(0, 300)]).toEqual([200, expect.stringMatching(/^month,/)]);
  expect(headers.get('content-type')).toContain('text/csv');
  const lines = csv
    .trim()
    .split('\r\n')
    .map((line) => line.split(','));
  expect(lines).toHaveLength(13);
  const [names, march] = [lines[0]!, lines.at(-1)!];
  const of = (name: string) => Number(march[names.indexOf(name)]);
  expect(march[0]).toBe('2026-03');
  expect(of('pull_requests_held')).toBe(6);
  expect([of('bypasses'), of('deployments_held')]).toEqual([1, 1]);
  expect(of('freezes')).toBe(4);
  expect(of('hours_frozen')).toBeGreaterThan(3);
  expect(words({ text })).toContain(`March 2026 ${of('hours_frozen')} 4 6`);
  // Somebody without a role gets nothing; who administers one repository gets that.
  expect((await bob.open(path)).status).toBe(403);
  expect((await new Visitor(acme).open(path)).status).toBe(302);
  acme.github.addUser('rita');
  await acme.repository('ritas', [], { roles: { rita: 'admin' } });
  const rita = new Visitor(acme);
  await rita.signIn('rita');
  const ritas = (await rita.open(`${path}?format=csv`)).text.trim().split('\r\n').at(-1);
  expect(ritas).toBe('2026-03,0,0,0,0,0,0,0');
});

test('a wait that a process of an earlier version left open goes when the report is kept', async () => {
  const { deps } = acme.app;
  const left = await acme.repository('left', [{}]);
  const freeze = await acme.freeze(left);
  await later(1);
  await acme.remove(left, freeze.id);
  await deps.db.freezeWait.updateMany({ where: { freezeId: freeze.id }, data: { until: null } });
  await keepReports(deps.sql, new Date(acme.clock.now() + 50 * 60 * minute));
  expect(await deps.db.freezeWait.count({ where: { freezeId: freeze.id } })).toBe(0);
  expect((await reportOf(left, freeze.id)).body.pull_requests.held).toBe(1);
});

test('a freeze of half a year has a complete report', async () => {
  const { deps } = acme.app;
  const long = await acme.repository('long', [{}, {}]);
  acme.github.addEnvironment(long, 'production');
  const freeze = await acme.freeze(long, { holds: ['merges', 'deployments'] });
  acme.github.runWorkflow(long, { environments: ['production'] });
  await later(1);
  acme.github.bypassMerge(long, 1, 'ada');
  await acme.quiet();
  const early = new Date(acme.clock.now() - 100 * 24 * 60 * minute);
  const { id: repositoryId } = await deps.db.repository.findFirstOrThrow({ where: { name: 'long' } });
  // As if all that had been 100 days ago.
  await deps.db.freeze.update({ where: { id: freeze.id }, data: { startsAt: early } });
  await deps.db.freezeWait.updateMany({
    where: { freezeId: freeze.id, until: { not: null } },
    data: { until: early },
  });
  await deps.db.auditEvent.updateMany({ where: { repositoryId }, data: { receivedAt: early } });
  await deps.db.deployment.updateMany({
    where: { repositoryId },
    data: { requestedAt: early, decidedAt: early },
  });
  const oldEvents = () => deps.db.auditEvent.count({ where: { repositoryId, receivedAt: early } });
  await sweep(deps);
  expect((await reportOf(long, freeze.id)).body).toMatchObject({
    ...{ pull_requests: { held: 2 }, deployments_held: 1 },
    ...{ bypasses: [{ pull_request: 1 }], bypasses_count: 1 },
  });
  expect(await oldEvents(), 'the rest of the log').toBe(1);
  // Once it is over and its report is kept, the log forgets them too.
  const over = { endsAt: new Date(+early + minute), reportDueAt: early };
  await deps.db.freeze.update({ where: { id: freeze.id }, data: over });
  await sweep(deps);
  expect(await oldEvents()).toBe(0);
  expect(await deps.db.deployment.count({ where: { repositoryId } })).toBe(0);
  expect((await reportOf(long, freeze.id)).body).toMatchObject({ bypasses_count: 1, deployments_held: 1 });
});

const bypassesOfMonth = async () => {
  const { text } = await ada.open('/owners/acme/reports?format=csv');
  const [names, march] = [text.split('\r\n')[0]!.split(','), text.trim().split('\r\n').at(-1)!.split(',')];
  return Number(march[names.indexOf('bypasses')]);
};

test('of 101 bypasses 100 are listed, and all count', async () => {
  const { deps } = acme.app;
  const busy = await acme.repository('busy');
  const freeze = await acme.freeze(busy);
  await later(1);
  const before = await bypassesOfMonth();
  const { id: repositoryId, accountId } = await deps.db.repository.findFirstOrThrow({
    where: { name: 'busy' },
  });
  const event = {
    ...{ repositoryId, accountId, receivedAt: new Date(acme.clock.now()), type: 'freeze.bypassed' },
    ...{
      outcome: 'failure',
      trigger: 'github',
      pullRequest: 1,
      metadata: { scheduled_freeze_id: freeze.id, bypassed_by: { type: 'user', id: 1, name: 'ada' } },
    },
  };
  await deps.db.auditEvent.createMany({ data: Array.from({ length: 101 }, () => event) });
  const { body } = await reportOf(busy, freeze.id);
  expect([body.bypasses.length, body.bypasses_count, body.exemptions_count]).toEqual([100, 101, 0]);
  await acme.remove(busy, freeze.id);
  expect(await bypassesOfMonth()).toBe(before + 101);
  expect(words(await ada.open(`/repos/${busy}/freezes/${freeze.id}`))).toContain(
    'Merged or deployed past the freeze: the newest 100',
  );
});

test('what GitHub would have merged was not held, and nobody waited for the end of that freeze', async () => {
  const protect = { release: ['holdfast/freeze'] };
  const loose = await acme.repository('loose', [{}, {}, { base: 'release' }], { protect });
  const freeze = await acme.freeze(loose, { reason: 'Loose' });
  await later(10);
  await acme.remove(loose, freeze.id);
  await later(5);
  const { body } = await reportOf(loose, freeze.id);
  expect(body.pull_requests).toMatchObject({ held: 1, longest: 3 });
  expect(Object.keys(body.pull_requests)).toHaveLength(4);
  expect(body.thaw).toMatchObject({ waiting: 1 });
  const path = `/repos/${loose}/freezes/${freeze.id}`;
  expect(words(await ada.open(path))).toContain(
    'Pull requests blocked 1 Not enforced 2 pull requests Median',
  );
  // Others learn no more than while it was on.
  expect(words(await bob.open(path))).toContain('Pull requests blocked 1 Not known 2 pull requests Median');
});
