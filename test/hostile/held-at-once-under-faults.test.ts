import { expect, onTestFinished, test, vi } from 'vitest';
import type { Fault } from '../../sandbox/http/faults.ts';
import { acmeForAll } from '../support/acme.ts';
import { exemptionsOf } from '../support/exemptions.ts';
import { instantHoldsOf } from '../support/instant-holds.ts';
import { amount } from '../support/amounts.ts';

// Instant holds while GitHub fails at the worst moment. Statuses take time here.
const acme = acmeForAll({ statusWritesPerMinute: { least: 60, most: 60 } }, { lock: true });
const holds = () => instantHoldsOf(acme);
/** Hits the next request of this kind, once. */
const once = (method: string, path: RegExp, fault: Partial<Fault>) =>
  acme.github.faults.add({ kind: 'status', times: 1, match: { method, path }, ...fault });
const states = (repository: string) => [...new Set(Object.values(holds().mergeable(repository)))];
/** Nothing but a ruleset holds it. */
const unprotect = (repository: string) => acme.github.protect(repository, 'main', []);

test('the hotfix got through meanwhile: GitHub fails when its success is written', async () => {
  const web = await holds().held('hotfix', 'lock', [{ labels: ['hotfix'] }, {}, {}]);
  unprotect(web);
  once('POST', /\/statuses\//, { kind: 'reset-after' });
  await acme.freeze(web, { exclude_conditions: ['label=hotfix'] });
  await holds().pass(20);
  expect(holds().mergeable(web)).toEqual({ 1: 'clean', 2: 'blocked', 3: 'blocked' });
  once('POST', /\/statuses\//, {});
  await exemptionsOf(acme).exempt(web, 2);
  await holds().pass(20);
  expect(acme.github.merge(web, 1)).toMatchObject({ merged: true });
  expect(acme.github.merge(web, 2)).toMatchObject({ merged: true });
  expect(acme.github.merge(web, 3)).toMatchObject({ merged: false });
});

test('somebody deleted the ruleset: GitHub fails when Holdfast looks, and when it makes it again', async () => {
  const web = await holds().held('deleted', 'lock', [{}]);
  unprotect(web);
  await acme.freeze(web);
  acme.github.deleteRuleset(holds().idOf(web));
  once('GET', /deleted\/rulesets$/, {});
  once('POST', /deleted\/rulesets$/, { kind: 'reset-after' });
  await holds().pass(80);
  expect(holds().mergeable(web)).toEqual({ 1: 'blocked' });
  expect(holds().rulesets(web)).toMatchObject([{ enforcement: 'active' }]);
  expect(await holds().instant(web)).toMatchObject({ state: 'on', error: null });
  expect(await holds().events(web, 'ruleset.repaired')).toHaveLength(1);
});

test('a look that GitHub did not answer is repeated after 10 seconds', async () => {
  const web = await holds().held('looked', 'lock', [{}]);
  await acme.freeze(web);
  acme.github.deleteRuleset(holds().idOf(web));
  once('GET', /looked\/rulesets$/, {});
  await holds().pass(60, 60);
  expect(await holds().instant(web)).toMatchObject({ error: expect.stringContaining('tries again') });
  await holds().pass(10, 10);
  expect(holds().rulesets(web)).toMatchObject([{ enforcement: 'active' }]);
  expect(await holds().instant(web)).toMatchObject({ state: 'on', error: null });
});

test('two freezes, one ends: the change is ignored, then shown as it was, and GitHub limits the second App', async () => {
  const web = await holds().held('two', 'lock', [{ base: 'main' }, { base: 'release' }]);
  unprotect(web);
  await acme.freeze(web, { matching_conditions: ['base=main'] });
  acme.github.rulesetFaults.ignoredUpdates = 1;
  const { id } = await acme.freeze(web, { matching_conditions: ['base=release'] });
  expect(holds().mergeable(web)).toEqual({ 1: 'blocked', 2: 'blocked' });
  once('PUT', /\/rulesets\//, { kind: 'secondary-limit', retryAfter: 30 });
  acme.github.rulesetFaults.oldAnswers = 1;
  await acme.remove(web, id);
  await holds().pass(60);
  expect(holds().rulesets(web)).toMatchObject([{ enforcement: 'active', include: ['refs/heads/main'] }]);
  expect(holds().mergeable(web)).toEqual({ 1: 'blocked', 2: 'clean' });
  expect(await holds().instant(web)).toMatchObject({ state: 'on', error: null });
});

test('the second App was uninstalled in the middle: between two of its calls, as the freeze begins and as it ends', async () => {
  const web = await holds().held('middle', 'lock', [{ labels: ['hotfix'] }, {}]);
  /** Uninstalled when it asks for this; the answer is that of an App that is not there. */
  const uninstallAt = (method: string, path: RegExp) =>
    acme.github.faults.add({
      kind: 'status',
      status: 404,
      times: 1,
      match(request) {
        if (request.method !== method || !path.test(request.path)) return false;
        acme.github.uninstall('acme', { second: true });
        acme.app.deps.github.lock.forget('acme');
        return true;
      },
    });
  const install = () => acme.github.install('acme', { second: true });
  uninstallAt('POST', /\/rulesets$/);
  const { id } = await acme.freeze(web, { exclude_conditions: ['label=hotfix'] });
  expect(await holds().instant(web)).toMatchObject({
    state: 'unavailable',
    error: expect.stringMatching(/not installed/),
  });
  await holds().pass(20);
  expect(holds().mergeable(web)).toEqual({ 1: 'clean', 2: 'blocked' });
  install();
  await holds().pass(60);
  expect(await holds().instant(web)).toMatchObject({ state: 'on', error: null });
  expect(holds().mergeable(web)).toEqual({ 1: 'clean', 2: 'blocked' });
  uninstallAt('PUT', /\/rulesets\//);
  await acme.remove(web, id);
  await holds().pass(80);
  expect(holds().rulesets(web)).toMatchObject([{ enforcement: 'active' }]);
  expect(holds().mergeable(web)).toEqual({ 1: 'clean', 2: 'clean' });
  install();
  await holds().pass(60);
  expect(holds().rulesets(web)).toMatchObject([{ enforcement: 'disabled' }]);
  expect(await holds().instant(web)).toMatchObject({ state: 'off', error: null });
});

test('the second App was installed again, and nobody noticed that it was gone', async () => {
  const web = await holds().held('again', 'lock', [{}]);
  const installAgain = () => {
    acme.github.uninstall('acme', { second: true });
    acme.github.install('acme', { second: true });
    // The library waits if a token of the last 5 seconds is refused.
    vi.setSystemTime(Date.now() + 10_000);
  };
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const { id } = await acme.freeze(web);
  installAgain();
  await holds().pass(60);
  expect(await holds().instant(web)).toMatchObject({ state: 'on', error: null });
  installAgain();
  await acme.remove(web, id);
  expect(holds().rulesets(web)).toMatchObject([{ enforcement: 'disabled' }]);
  expect(await holds().instant(web)).toMatchObject({ state: 'off', error: null });
});

test('GitHub limits the second App: nothing more is asked of the account until then', async () => {
  const names = ['a', 'b', 'c'].map((name) => `limited-${name}`);
  for (const name of names) await holds().held(name, 'lock', [{}]);
  once('POST', /\/rulesets$/, { kind: 'secondary-limit', retryAfter: 45 });
  const start = acme.github.requests.length;
  for (const name of names) await acme.freeze(`acme/${name}`);
  const asked = acme.github.requests.slice(start);
  expect(
    holds()
      .writesSince(start)
      .filter((write) => write.includes('ruleset')),
  ).toEqual(['GET ruleset 200', 'POST ruleset 403']);
  // It keeps its token.
  expect(asked.filter(({ path }) => path.endsWith('/access_tokens'))).toEqual([]);
  await holds().pass(60);
  for (const name of names)
    expect(holds().rulesets(`acme/${name}`)).toMatchObject([{ enforcement: 'active' }]);
});

test('hundreds at once: GitHub makes the ruleset and does not say so, and refuses most statuses', async () => {
  const { github } = acme;
  // Opened before the App was installed: no event told of them.
  github.addUser('mia');
  github.addOrganization('many', { admins: ['mia'] });
  const { fullName: web } = github.addRepository('many/web');
  for (let count = 0; count < amount(1000); count++) github.openPullRequest(web, { author: 'mia' });
  github.install('many');
  github.install('many', { second: true });
  await acme.quiet();
  const as = await acme.key('many', 'admin');
  const call = async (method: string, path: string, body: object) => {
    const answer = await acme.call(method, path, { as, body });
    expect(answer.status, answer.text).toBeLessThan(300);
    await acme.quiet();
    return answer.body;
  };
  const instant = async () =>
    (await acme.call('GET', `/v1/repos/${web}/enforcement`, { as })).body.instant as object;
  await call('PATCH', '/v1/settings/many', { instant_hold: 'bridge' });
  const limit = github.faults.add({ kind: 'secondary-limit', match: { path: /\/statuses\// } });
  once('POST', /\/rulesets$/, { kind: 'reset-after' });
  expect(states(web)).toEqual(['clean']);
  const body = { reason: 'Release', start: null, timezone: 'UTC' };
  const { id } = await call('POST', `/v1/repos/${web}/scheduled_freeze`, body);
  // Before any status of it.
  expect(states(web)).toEqual(['blocked']);
  const pending = github
    .pullRequests(web)
    .filter(({ number }) => github.currentStatus(web, number)?.state === 'pending');
  expect(pending).toEqual([]);
  expect(await instant()).toMatchObject({
    state: 'unavailable',
    error: expect.stringContaining('tries again'),
  });
  await holds().pass(20);
  expect(await instant()).toMatchObject({ state: 'on', error: null });
  expect(holds().rulesets(web)).toHaveLength(1);
  // The end comes before the statuses, too.
  await call('POST', `/v1/repos/${web}/scheduled_freeze/${id}/delete`, { delete_reason: 'Done' });
  expect(holds().rulesets(web)).toMatchObject([{ enforcement: 'disabled' }]);
  expect(states(web)).toEqual(['clean']);
  limit.remove();
});
