import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { loadLock } from '../src/github/app-credentials-store.ts';
import { sweepTask } from '../src/server/sweep.ts';
import { acmeForAll } from './support/acme.ts';
import { secretKey as keyOfFirstRun, startFirstRun, Visitor as Browser } from './support/first-run.ts';
import { forAll } from './support/for-all.ts';
import { instantHoldsOf } from './support/instant-holds.ts';
import { signedIn, Visitor, words } from './support/visitor.ts';

// The second App by a manifest: from the button on a page to a freeze that holds at once.
const acme = acmeForAll({ statusWritesPerMinute: { least: 60, most: 60 } });
const holds = () => instantHoldsOf(acme);
const settings = '/owners/acme/settings/instant-hold';
const saved = () => acme.app.deps.db.appCredentials.findMany();

let ada: Visitor;
let bob: Visitor;
beforeAll(async () => {
  acme.github.addOrganization('globex', { admins: ['ada'] });
  acme.github.install('globex');
  acme.github.ownApp('acme');
  await acme.quiet();
  ada = await signedIn(acme, 'ada');
  bob = await signedIn(acme, 'bob');
});
beforeEach(async () => {
  await acme.app.deps.db.appCredentials.deleteMany();
  await acme.advanceTo(new Date(acme.clock.now() + 5000));
});

const unescaped = (text: string) => text.replaceAll('&quot;', '"').replaceAll('&amp;', '&');
const begin = async (visitor = ada) => {
  const { status, text } = await visitor.sendOnce(settings, { do: 'create-lock-app' });
  expect(status, text).toBe(200);
  const action = unescaped(/<form method="post" action="(http[^"]+)"/.exec(text)![1]!);
  return { action, manifest: JSON.parse(unescaped(/name="manifest" value="([^"]+)"/.exec(text)![1]!)) };
};
/** At GitHub, where somebody chooses the name. @returns where GitHub sends the browser. */
let names = 0;
async function atGitHub({ action, manifest }: Awaited<ReturnType<typeof begin>>, as = 'ada') {
  const body = new URLSearchParams({ manifest: JSON.stringify(manifest), as, name: `Lock ${++names}` });
  const answer = await fetch(action, { method: 'POST', body, redirect: 'manual' });
  return answer.headers.get('location')!;
}
const wayBack = async (visitor = ada) => atGitHub(await begin(visitor));
const create = async () => ada.open(await wayBack());
const forget = async (app: bigint | number) =>
  ada.sendOnce(settings, { do: 'forget-lock-app', app: String(app) });
const section = async (visitor = ada, path = settings) =>
  words(await visitor.open(path))
    .replace(/.*Second App for instant holds/, '')
    .replace(/ Slack .*/, '');
const patch = (instant_hold: string) =>
  acme.call('PATCH', '/v1/settings/acme', { as: acme.admin, body: { instant_hold } });

describe('on the settings page', () => {
  test('it is made, installed, and makes a freeze block at once, on every replica and without a restart', async () => {
    const replica = await acme.replica();
    expect(await replica.deps.github.lock.id()).toBeNull();
    expect((await patch('bridge')).status).toBe(409);
    const begun = await begin();
    expect(begun.manifest).toEqual({
      name: 'Holdfast lock acme',
      description: expect.any(String),
      public: false,
      url: 'https://holdfast.example',
      hook_attributes: { url: 'https://holdfast.example/api/github/webhooks', active: false },
      redirect_url: 'https://holdfast.example/lock-app/callback',
      setup_url: 'https://holdfast.example/installed',
      default_permissions: { administration: 'write', metadata: 'read' },
      default_events: [],
    });
    expect(begun.action).toMatch(`${acme.github.url}/organizations/acme/settings/apps/new?state=`);
    const back = await ada.open(await atGitHub(begun));
    expect([back.status, back.location]).toEqual([303, `${settings}?said=saved`]);

    const [row] = await saved();
    expect(row).toMatchObject({ id: 2, slug: `lock-${names}` });
    const lock = await loadLock(acme.app.deps.db, acme.app.deps.config, acme.app.deps.log);
    expect(lock).toEqual({ id: Number(row!.appId), privateKey: expect.stringContaining('PRIVATE KEY') });
    const shown = [
      JSON.stringify(row, (_, it) => String(it)),
      acme.logs.join(),
      (await ada.open(settings)).text,
    ];
    for (const text of shown) expect(text).not.toContain(lock!.privateKey.slice(40, 80));
    const event = {
      type: 'lock_app.create',
      metadata: { app_slug: `lock-${names}`, created_by: { name: 'ada' } },
    };
    expect((await acme.call('GET', '/v1/logs/acme', { as: acme.admin })).body.events[0]).toMatchObject(event);

    expect(await section()).toContain('is not installed on acme');
    const install = /href="([^"]+\/installations\/new)"/.exec((await ada.open(settings)).text)![1]!;
    await fetch(install, {
      method: 'POST',
      body: new URLSearchParams({ account: 'acme' }),
      redirect: 'manual',
    });
    expect(await section()).toContain('is installed on acme');
    expect(await section(ada, '/owners/globex/settings/instant-hold')).toContain(
      'is not installed on globex. It belongs to acme',
    );

    expect((await patch('bridge')).status).toBe(200);
    await acme.advanceTo(new Date(acme.clock.now() + 5000));
    expect(await replica.deps.github.lock.id()).toBe(lock!.id);
    const web = await acme.repository(
      'web',
      Array.from({ length: 30 }, () => ({})),
    );
    await holds().pass(60);
    await acme.freeze(web);
    expect(holds().rulesets(web)).toMatchObject([{ enforcement: 'active' }]);
    expect(new Set(Object.values(holds().mergeable(web)))).toEqual(new Set(['blocked']));
    await holds().pass(60);
    expect(holds().rulesets(web)).toMatchObject([{ enforcement: 'disabled' }]);

    acme.github.acceptPermissions('acme', { metadata: 'read' }, { second: true });
    expect(await section()).toContain('lacks the permission Administration: write on acme');
    acme.github.suspend('acme', { second: true });
    expect(await section()).toContain('is suspended on acme');
    await patch('off');
  });

  test('it is forgotten, and another one takes its place', async () => {
    await create();
    const [first] = await saved();
    expect((await patch('lock')).status).toBe(200);
    acme.github.install('acme', { second: true });
    const web = await acme.repository('replaced', [{}]);
    const { id } = await acme.freeze(web);
    expect(holds().rulesets(web)).toMatchObject([{ enforcement: 'active' }]);
    // Somebody deletes it at GitHub.
    acme.github.deleteSecondApp();
    expect(await section()).toContain('GitHub does not know the second App');
    // A connection that breaks meanwhile delays it.
    await vi.waitFor(async () => {
      await holds().pass(60);
      expect((await holds().instant(web)).error).toMatch(
        /^GitHub does not know the second App: .* create another/,
      );
    });
    expect((await ada.sendOnce(settings, { do: 'create-lock-app' })).status).toBe(422);
    expect((await forget(7)).status).toBe(303);
    expect(await saved()).toHaveLength(1);
    expect((await forget(first!.appId)).status).toBe(303);
    expect(await saved()).toEqual([]);
    expect((await patch('bridge')).status).toBe(409);
    await holds().pass(60);
    expect((await holds().instant(web)).error).toMatch(/^There is no second App any more/);

    await create();
    acme.github.install('acme', { second: true });
    expect((await saved())[0]!.appId).not.toBe(first!.appId);
    // The new one goes on with the ruleset of the former one.
    await acme.remove(web, id);
    await holds().pass(60);
    expect(holds().rulesets(web)).toMatchObject([{ enforcement: 'disabled' }]);
    const types = (await acme.call('GET', '/v1/logs/acme', { as: acme.admin })).body.events.map(
      ({ type }: { type: string }) => type,
    );
    expect(types.filter((type: string) => type === 'lock_app.delete')).toHaveLength(1);
    await patch('off');
  });

  test('only admins of the owner of the first App make and forget it', async () => {
    expect((await bob.sendOnce(settings, { do: 'create-lock-app' })).status).toBe(403);
    const globex = '/owners/globex/settings/instant-hold';
    expect(await section(ada, globex)).toContain('Admins of acme can create it');
    expect((await ada.sendOnce(globex, { do: 'create-lock-app' })).status).toBe(403);
    await create();
    const [row] = await saved();
    const fields = { do: 'forget-lock-app', app: String(row!.appId) };
    expect((await ada.sendOnce(globex, fields)).status).toBe(403);
    expect((await bob.sendOnce(settings, fields)).status).toBe(403);
    expect(await saved()).toHaveLength(1);
    expect((await ada.open(globex)).text).not.toContain('forget-lock-app');
  });

  test('a return is for the browser that began it, for an admin, and works once', async () => {
    const refused = async (visitor: Visitor, url: string, text: string) => {
      const answer = await visitor.open(url);
      expect([answer.status, words(answer)]).toEqual([403, expect.stringContaining(text)]);
    };
    const back = await wayBack();
    await refused(bob, back, 'did not start in this browser');
    await refused(ada, back.replace(/state=[^&]{8}/, 'state=AAAAAAAA'), 'did not start in this browser');
    await refused(
      ada,
      back.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')),
      'did not start in this browser',
    );
    await refused(ada, back.replace(/code=[^&]+/, 'code=..%2F1'), 'did not start in this browser');
    const cookies = new Map(ada.cookies);
    // Another person who is signed in on the same browser.
    const both = new Visitor(acme);
    for (const [name, value] of [...cookies, ...bob.cookies]) both.cookies.set(name, value);
    await refused(both, back, 'not an admin of acme');
    // Whoever signed out signs in, and goes on.
    both.cookies.clear();
    for (const [name, value] of cookies) if (name.includes('lock-app')) both.cookies.set(name, value);
    expect((await both.open(back)).location).toMatch(/^\/auth\/sign-in\?to=%2Flock-app%2Fcallback%3Fcode/);
    expect(await saved()).toEqual([]);

    expect((await ada.open(back)).status).toBe(303);
    await forget((await saved())[0]!.appId);
    const again = await wayBack();
    await refused(ada, back, 'did not start in this browser');
    for (const [name, value] of cookies) if (name.includes('lock-app')) ada.cookies.set(name, value);
    const code = new URL(again).searchParams.get('code')!;
    await refused(ada, back.replace(/code=[^&]+/, `code=${code}`), 'already used');
    const late = await wayBack();
    await acme.clock.setTime(new Date(acme.clock.now() + 3_600_000));
    await refused(ada, late, 'did not start in this browser');
    expect(await saved()).toEqual([]);
  });

  test.each([
    ['of somebody else', { as: 'ada', path: '/settings/apps/new' }, 'does not belong to acme'],
    ['with more permissions', { permissions: { contents: 'write' } }, 'and no other'],
    ['with fewer', { permissions: { administration: 'read' } }, 'GitHub does not know this code'],
  ])('the code of an App %s makes no second App', async (_, change, text) => {
    const begun = await begin();
    const { path, permissions } = change as { path?: string; permissions?: object };
    Object.assign(begun.manifest.default_permissions, permissions);
    const own = begun.action.replace('/organizations/acme/settings/apps/new', path ?? '$&');
    let back = await atGitHub({ ...begun, action: own });
    // The sandbox has no third App, so nobody gets a code for one.
    back ??= `/lock-app/callback?code=abc&state=${new URL(begun.action).searchParams.get('state')}`;
    const answer = await ada.open(back);
    expect(words(answer)).toContain(text);
    expect(await saved()).toEqual([]);
    expect(await acme.app.deps.github.lock.id()).toBeNull();
  });

  test('while GitHub does not answer, the return waits', async () => {
    const back = await wayBack();
    await acme.app.deps.github.owner();
    acme.github.faults.add({ match: { path: /^\/app-manifests/ }, kind: 'status', status: 502, times: 1 });
    expect((await ada.open(back)).status).toBe(503);
    expect((await ada.open(back)).status).toBe(303);
  });

  test('of two people who make one at once, the later one learns what to delete', async () => {
    const [one, two] = [await wayBack(), await wayBack()];
    const answers = await Promise.all([ada.open(one), ada.open(two)]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 409]);
    expect(answers.find(({ status }) => status === 409)!.text).toMatch(/Delete the App Lock \d+ at http/);
    expect(await saved()).toHaveLength(1);
  });

  test('after SECRET_KEY changed, its key is encrypted anew, and without the former one the page says so', async () => {
    await create();
    const { deps } = acme.app;
    const later = { secretKey: 'another key with at least 32 characters', secretKeyPrevious: null };
    expect(await loadLock(deps.db, later, deps.log)).toBeNull();
    expect(acme.logs.join()).toContain('the second App in the database is encrypted with another SECRET_KEY');
    const config = { ...deps.config, ...later, secretKeyPrevious: deps.config.secretKey };
    await sweepTask.run({ ...deps, config }, [{ data: {} }] as never);
    expect(await loadLock(deps.db, later, deps.log)).not.toBeNull();
    await acme.advanceTo(new Date(acme.clock.now() + 5000));
    expect(await section()).toContain('Its key is encrypted with another SECRET_KEY');
  });
});

describe('in the environment', () => {
  const given = acmeForAll({}, { lock: true });

  test('it wins, and the page says so', async () => {
    given.github.ownApp('acme');
    const visitor = new Visitor(given);
    await visitor.signIn('ada');
    const { text } = await visitor.open(settings);
    expect(words({ text })).toMatch(
      /Holdfast lock is installed on acme.*set in the environment of this service/,
    );
    expect(text).not.toContain('create-lock-app');
    const answer = await visitor.sendOnce(settings, { do: 'create-lock-app' });
    expect([answer.status, words(answer)]).toEqual([422, expect.stringContaining('change LOCK_APP_ID')]);
  });
});

describe('on the setup page', () => {
  const run = forAll(startFirstRun);

  test('its form follows the first App, and nobody has to sign in', async () => {
    const browser = new Browser();
    const form = await run.open(browser);
    const review = await browser.submit(form, { organization: 'acme', name: 'Holdfast' });
    const done = await browser.submit(await browser.submit(review), { as: 'ada' });
    expect(done.text).toContain('administration: write, metadata: read');
    const github = await browser.submit(done);
    expect(github.url).toContain(`${run.github.url}/organizations/acme/settings/apps/new?state=`);
    const made = await browser.submit(github, { as: 'ada' });
    expect([made.status, words(made)]).toEqual([
      200,
      expect.stringContaining('Holdfast lock acme is connected'),
    ]);
    expect(made.text).toContain('/apps/holdfast-lock-acme/installations/new');
    const { deps } = run.app;
    expect(await deps.github.lock.id()).toBe(run.github.app.id + 1);
    expect(run.logs.join()).not.toContain('BEGIN');
    expect(keyOfFirstRun).toBe(deps.config.secretKey);
    // The return works once, also with a copy of its cookie.
    expect((await browser.get(made.redirects[0]!)).status).toBe(403);
    // Both links stand there, and whoever loads the last page of the setup again gets there, too.
    for (const slug of ['holdfast', 'holdfast-lock-acme'])
      expect(made.text).toContain(`/apps/${slug}/installations/new`);
    expect((await browser.get(done.url)).url).toBe(`${run.app.url}/installed`);
  });
});
