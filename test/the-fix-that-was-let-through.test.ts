// One pull request may pass a freeze: with this head, for a time. What ends that holds it again before anything else.
import { beforeAll, expect, test } from 'vitest';
import { free, heldUntilRemoved, acmeForAll } from './support/acme.ts';
import { exemptionsOf } from './support/exemptions.ts';

const acme = acmeForAll();
let exemptions: ReturnType<typeof exemptionsOf>;
beforeAll(async () => {
  exemptions = exemptionsOf(acme);
});

const inHours = (hours: number) => new Date(acme.clock.now() + hours * 3_600_000);
const exempt = (text: string) => ({ state: 'success', description: expect.stringMatching(text) });

test('the fix that was exempt, and then pushed again', async () => {
  const web = await acme.repository('web', [{}, {}]);
  await acme.freeze(web);
  expect(acme.frozen(web)).toEqual([1, 2]);

  const made = await exemptions.exempt(web, 1);
  expect(made).toMatchObject({ state: 'approved', pull_request: 1, freeze_ids: null, any_head: false });
  expect(acme.shown(web, 1)).toEqual(exempt('^Exempt until 2026-03-02 09:00 UTC: INC-4711 fix$'));
  expect(acme.frozen(web)).toEqual([2]);
  expect(acme.github.mergeable(web, 1)).toBe('clean');

  acme.github.push(web, 1);
  await acme.quiet();
  expect(acme.shown(web, 1)).toEqual(heldUntilRemoved);
  expect(await exemptions.list(web)).toMatchObject([{ id: made.id, state: 'expired' }]);
  expect(await exemptions.told(web)).toEqual(['requested', 'approved', 'expired']);

  const second = await exemptions.exempt(web, 1, { reason: 'INC-4711 fix, tested' });
  expect(acme.shown(web, 1)).toEqual(exempt('INC-4711 fix, tested$'));
  expect(acme.github.merge(web, 1, 'ada')).toMatchObject({ merged: true });
  await acme.quiet();
  const [used] = await exemptions.list(web);
  expect(used).toMatchObject({ id: second.id, state: 'used', used_at: expect.any(String) });
  expect((await exemptions.told(web)).at(-1)).toBe('used');
  const events = await acme.events(web, 'freeze.bypassed');
  expect(events).toEqual([]);
});

test('an exemption for any head survives pushes, and ends at its instant', async () => {
  const api = await acme.repository('api', [{}]);
  await acme.freeze(api);
  const made = await exemptions.exempt(api, 1, { any_head: true, expires_at: inHours(2).toISOString() });
  acme.github.push(api, 1);
  await acme.quiet();
  expect(acme.shown(api, 1)).toEqual(exempt('^Exempt until'));
  // So that no sweep falls on the instant itself.
  await acme.advanceTo(new Date(Date.parse(made.expires_at) - 1000));
  expect(acme.shown(api, 1)?.state).toBe('success');
  await acme.advanceTo(made.expires_at);
  expect(acme.shown(api, 1)).toEqual(heldUntilRemoved);
  expect(await exemptions.list(api)).toMatchObject([{ state: 'expired' }]);
});

test('an exemption for one branch frees no head for another one', async () => {
  const hotfix = await acme.repository('hotfix', [{ base: 'release-1' }]);
  await acme.freeze(hotfix);
  await exemptions.exempt(hotfix, 1, { any_head: true });
  expect(acme.shown(hotfix, 1)).toEqual(exempt('^Exempt until'));
  acme.github.retarget(hotfix, 1, 'main');
  await acme.quiet();
  expect(acme.shown(hotfix, 1)).toEqual(heldUntilRemoved);
  expect(await exemptions.list(hotfix)).toMatchObject([{ state: 'expired' }]);
});

test('an exemption from one freeze frees from no other, and ends with it', async () => {
  const lib = await acme.repository('lib', [{}]);
  const { id } = await acme.freeze(lib, { reason: 'Audit' });
  await exemptions.exempt(lib, 1, { freeze_ids: [id] });
  expect(acme.shown(lib, 1)).toEqual(exempt('^Exempt until'));
  const other = await acme.freeze(lib);
  expect(acme.shown(lib, 1)).toEqual(heldUntilRemoved);
  await acme.remove(lib, other.id);
  expect(acme.shown(lib, 1)?.state).toBe('success');
  await acme.remove(lib, id);
  expect(acme.shown(lib, 1)).toEqual(free);
  expect(await exemptions.list(lib)).toMatchObject([{ state: 'expired' }]);
  expect(await exemptions.told(lib)).toEqual(['requested', 'approved', 'expired']);
});

test('it ends with the last of its freezes, at that instant', async () => {
  const app = await acme.repository('app', [{}]);
  const end = (hours: number) => inHours(hours).toISOString().slice(0, 19);
  const ids = [await acme.freeze(app, { end: end(1) }), await acme.freeze(app, { end: end(2) })];
  const request = { freeze_ids: ids.map(({ id }) => id), expires_at: inHours(9).toISOString() };
  await exemptions.exempt(app, 1, request);
  const [first, last] = [inHours(1), inHours(2)];
  await acme.advanceTo(first);
  expect(await exemptions.list(app)).toMatchObject([{ state: 'approved' }]);
  await acme.advanceTo(last);
  expect(await exemptions.list(app)).toMatchObject([{ state: 'expired' }]);
});

test('it is requested before the freeze begins, and revoked while it is on', async () => {
  const ops = await acme.repository('ops', [{}]);
  const made = await exemptions.exempt(ops, 1);
  expect(acme.shown(ops, 1)).toEqual(free);
  await acme.freeze(ops);
  expect(acme.shown(ops, 1)).toEqual(exempt('^Exempt until'));
  expect((await exemptions.decide('revoke', ops, made)).body).toMatchObject({ state: 'revoked' });
  expect(acme.shown(ops, 1)).toEqual(heldUntilRemoved);
  expect(await exemptions.told(ops)).toEqual(['requested', 'approved', 'revoked']);
});

test('each of several pull requests with one head needs its own', async () => {
  const core = await acme.repository('core', [{}]);
  const { headSha } = acme.github.pullRequests(core)[0]!;
  acme.github.openPullRequest(core, { author: 'ada', base: 'release', headSha });
  await acme.quiet();
  await acme.freeze(core);
  await exemptions.exempt(core, 1);
  expect(acme.shown(core, 1)).toEqual({
    state: 'pending',
    description: '#2 is frozen until removed: Release',
  });
  const sooner = { reason: 'The same fix', expires_at: inHours(1).toISOString() };
  await exemptions.exempt(core, 2, sooner);
  expect(acme.shown(core, 1)).toEqual(exempt('^#2 is exempt until .*: The same fix$'));
});

test('a future freeze with a public reason hides the reason of an exemption from every freeze', async () => {
  const desk = await acme.repository('desk', [{}]);
  const end = (hours: number) => inHours(hours).toISOString().slice(0, 19);
  await acme.freeze(desk);
  await exemptions.exempt(desk, 1);
  expect(acme.shown(desk, 1)).toEqual(exempt('INC-4711'));
  await acme.freeze(desk, { start: end(5), end: end(6), public_reason: 'Maintenance' });
  expect(acme.shown(desk, 1)).toEqual(exempt('UTC$'));
  await acme.advanceTo(inHours(6));
  expect(acme.shown(desk, 1)).toEqual(exempt('INC-4711'));
});

test('a public reason replaces the reason, and a freeze that has one hides the reason', async () => {
  const docs = await acme.repository('docs', [{}, {}]);
  await acme.freeze(docs, { reason: 'A leak', public_reason: 'Maintenance' });
  await exemptions.exempt(docs, 1);
  expect(acme.shown(docs, 1)).toEqual(exempt('^Exempt until 2026-03-0. [^:]*:?[^:]*$'));
  expect(acme.shown(docs, 1)?.description).not.toContain('INC-4711');
  await exemptions.exempt(docs, 2, { public_reason: 'A repair' });
  expect(acme.shown(docs, 2)).toEqual(exempt(': A repair$'));
});
