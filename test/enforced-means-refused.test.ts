// "Enforced" means one thing, wherever it is said: GitHub would refuse to merge what a freeze holds.
import { PassThrough } from 'node:stream';
import { describe, expect, test, vi } from 'vitest';
import type { Sandbox } from '../sandbox/github.ts';
import { forRules } from '../src/github/app-manifest.ts';
import { diagnose } from '../src/cli/commands/doctor.ts';
import { acmeForAll } from './support/acme.ts';
import { grantDeployments } from './support/deployments.ts';
import { Visitor } from './support/visitor.ts';

const acme = acmeForAll();

const context = 'holdfast/freeze';

type Protect = NonNullable<Parameters<Sandbox['addRepository']>[1]>['protect'];
type Setup = {
  name: string;
  protect?: (appId: number) => Protect;
  then?: (repository: string) => unknown;
  conditions?: object;
  enforced: boolean;
};

const setups: Setup[] = [
  { name: 'required', protect: (app) => ({ main: { checks: [{ context, app }] } }), enforced: true },
  { name: 'foreign', protect: () => ({ main: { checks: [{ context, app: 4711 }] } }), enforced: false },
  { name: 'any-source', protect: () => ({ main: [context] }), enforced: true },
  { name: 'not-required', enforced: false },
  {
    name: 'switched-off',
    protect: (app) => ({ main: { checks: [{ context, app }] } }),
    then: (repository) => acme.setProducts(repository, []),
    enforced: false,
  },
  {
    name: 'by-ruleset',
    then: (repository) =>
      void acme.github.addRuleset(repository, { checks: [{ context, app: acme.github.app.id }] }),
    enforced: true,
  },
  {
    name: 'other-branch',
    protect: (app) => ({ release: { checks: [{ context, app }] } }),
    conditions: { matching_conditions: ['base=main'] },
    enforced: false,
  },
];

/** Everything that says whether a freeze is enforced: both answers, the doctor, and the page, three times. */
async function everyWord(repository: string, id: string) {
  const answer = async (path: string) =>
    (await acme.call('GET', `/v1/repos/${repository}${path}`, { as: acme.admin })).body.enforced;
  const output = new PassThrough();
  await diagnose({ repository, url: acme.app.url, token: acme.admin, isJson: true }, output);
  const ada = new Visitor(acme);
  await ada.signIn('ada');
  const { text } = await ada.open(`/repos/${repository}`);
  const row = new RegExp(`id="freeze-${id}".*?</tr>`, 's').exec(text)?.[0];
  const freezePage = (await ada.open(`/repos/${repository}/freezes/${id}`)).text;
  return {
    repository: await answer('/enforcement'),
    freeze: await answer(`/scheduled_freeze/${id}/enforcement`),
    doctor: JSON.parse(String(output.read())).enforced,
    page: text.includes('>Freezes are enforced<'),
    headline: !text.includes('<a class="badge leaking" href="#enforcement">Not enforced</a>'),
    row: !row?.includes('Not enforced'),
    freezePage: /<dt>Enforced<\/dt>\s*<dd>\s*Yes/.test(freezePage),
  };
}

describe('both answers, the doctor and the page say what GitHub does', () => {
  test.each(setups)('$name', async ({ name, protect, then, conditions, enforced }) => {
    const { github } = acme;
    const repository = await acme.repository(name, [{}], { protect: protect?.(github.app.id) ?? {} });
    const { id } = await acme.freeze(repository, conditions);
    await then?.(repository);
    await acme.quiet();
    const isRefused = github.mergeable(repository, 1) === 'blocked';
    expect(await everyWord(repository, id)).toEqual({
      repository: enforced,
      freeze: enforced,
      doctor: enforced,
      page: enforced,
      headline: enforced,
      row: enforced,
      freezePage: enforced,
    });
    // The freeze decides: refused while it holds, and free afterwards.
    await acme.remove(repository, id);
    const isLetGo = github.mergeable(repository, 1) !== 'blocked';
    expect(isRefused && isLetGo).toBe(enforced);
  });

  test('for a freeze on one branch, only that branch counts', async () => {
    const { github } = acme;
    const protect = { main: { checks: [{ context, app: github.app.id }] } };
    const repository = await acme.repository('two', [{}, { base: 'next' }], { protect });
    const main = await acme.freeze(repository, { matching_conditions: ['base=main'] });
    const next = await acme.freeze(repository, { exclude_conditions: ['base=main'] });
    expect([github.mergeable(repository, 1), github.mergeable(repository, 2)]).toEqual([
      'blocked',
      'unstable',
    ]);
    expect(await everyWord(repository, main.id)).toMatchObject({
      repository: false,
      freeze: true,
      row: true,
    });
    expect(await everyWord(repository, next.id)).toMatchObject({
      repository: false,
      freeze: false,
      row: false,
    });
  });

  // The last test: after it, nothing of acme is judged.
  test('suspended', async () => {
    const { github } = acme;
    const protect = { main: { checks: [{ context, app: github.app.id }] } };
    const repository = await acme.repository('suspended', [{}], { protect });
    const { id } = await acme.freeze(repository);
    github.suspend('acme');
    await acme.quiet();
    const words = await everyWord(repository, id);
    expect(words).toMatchObject({ repository: false, freeze: false, doctor: false });
    // Its status stays, and nothing will free it.
    github.unsuspend('acme');
    await acme.quiet();
    expect(await everyWord(repository, id)).toMatchObject({ repository: true, freeze: true, doctor: true });
  });
});

test('switched off has its own words', async () => {
  const off = await acme.repository('off', [{}]);
  const { id } = await acme.freeze(off);
  await acme.setProducts(off, []);
  const path = `/v1/repos/${off}/scheduled_freeze`;
  const progress = await acme.call('GET', `${path}/${id}/enforcement`, { as: acme.admin });
  expect(progress.body).toMatchObject({ switched_on: false, enforced: false });
  const body = { reason: 'Release', start: null, timezone: 'UTC' };
  const refused = await acme.call('POST', path, { as: acme.admin, body });
  expect(refused.body.detail).toMatch(/^Freezes are switched off for acme\/off:/);
  const preview = await acme.call('POST', `${path}/preview`, { as: acme.admin, body });
  expect(preview.body.warnings[0].type).toBe('switched_off');
});

describe('what was enforced is not for long after', () => {
  const stateOf = async (repository: string, query = '') =>
    (await acme.call('GET', `/v1/repos/${repository}/freeze_state${query}`, { as: acme.admin })).body
      .enforced;
  const reported = async (repository: string) =>
    (await acme.call('GET', `/v1/repos/${repository}/enforcement`, { as: acme.admin })).body.enforced;
  const check = (app: number) => ({ checks: [{ context, app }] });
  const passes = (seconds: number) => acme.advanceTo(new Date(acme.clock.now() + seconds * 1000));

  test('the rule was disabled on an environment, and the check is no longer required: within a minute', async () => {
    await grantDeployments(acme);
    const web = await acme.repository('minute', [], { protect: { main: check(acme.github.app.id) } });
    acme.github.addEnvironment(web, 'production');
    const both = async () => [
      await stateOf(web, '?environment=production'),
      await stateOf(web, '?base=main'),
    ];
    expect(await both()).toEqual(['yes', 'yes']);
    acme.github.disableRule(web, 'production');
    acme.github.protect(web, 'main', []);
    await passes(59);
    expect(await both()).toEqual(['yes', 'yes']);
    await passes(1);
    expect(await both()).toEqual(['no', 'no']);
  });

  test('a plan counts what GitHub would merge within a minute, and pages of many repositories name it within five', async () => {
    const web = await acme.repository('counted', [{}, {}], { protect: { main: check(acme.github.app.id) } });
    const plan = { name: 'P', reason: 'P', repositories: { include: ['counted'] }, timezone: 'UTC' };
    const body = { ...plan, start: null };
    const { id } = (await acme.call('POST', '/v1/freeze_plans/acme', { as: acme.admin, body })).body;
    await acme.quiet();
    const ada = new Visitor(acme);
    await ada.signIn('ada');
    const counted = async () => {
      const path = `/v1/freeze_plans/acme/${id}/enforcement`;
      return (await acme.call('GET', path, { as: acme.admin })).body.to_refuse;
    };
    const enforcedCell =
      /<tr(?:(?!<tr).)*\/repos\/acme\/counted"(?:(?!<tr).)*<td class="of-enforced">(.*?)<\/td>/s;
    const listed = async () => enforcedCell.exec((await ada.open('/repos/acme')).text)![1];
    expect(await counted()).toBe(2);
    await vi.waitFor(async () => expect(await listed()).toBe('Yes'), 10_000);
    acme.github.protect(web, 'main', []);
    await passes(60);
    expect(await counted()).toBe(0);
    await passes(240);
    await vi.waitFor(async () => expect(await listed()).toContain('>No<'));
  });

  test('a job deploys past the rule that was disabled: at once', async () => {
    await grantDeployments(acme);
    const web = await acme.repository('past');
    acme.github.addEnvironment(web, 'production');
    acme.github.runWorkflow(web, { environments: ['production'] });
    await acme.quiet();
    expect(await stateOf(web, '?environment=production')).toBe('yes');
    acme.github.disableRule(web, 'production');
    acme.github.runWorkflow(web, { environments: ['production'] });
    await acme.quiet();
    expect(await stateOf(web, '?environment=production')).toBe('no');
  });

  test.each<[string, (repository: string, ruleset: number) => void]>([
    ['protection', (repository) => acme.github.protect(repository, 'main', [])],
    ['ruleset', (_, ruleset) => acme.github.setEnforcement(ruleset, 'disabled')],
    ['deleted', (_, ruleset) => acme.github.deleteRuleset(ruleset)],
    ['of-owner', (_, ruleset) => acme.github.setEnforcement(ruleset, 'evaluate')],
  ])('an App that may read the settings is told by GitHub: at once (%s)', async (name, change) => {
    acme.github.askForMore(forRules.default_permissions, forRules.default_events);
    acme.github.acceptPermissions('acme', acme.github.app.permissions);
    const required = check(acme.github.app.id);
    const web = await acme.repository(name, [], { protect: {} });
    if (name === 'protection') acme.github.protect(web, 'main', required);
    const place = name === 'of-owner' ? 'acme' : web;
    const { id } = name === 'protection' ? { id: 0 } : acme.github.addRuleset(place, required);
    await acme.quiet();
    expect([await stateOf(web), await reported(web)]).toEqual(['yes', true]);
    change(web, id);
    await acme.quiet();
    expect([await stateOf(web), await reported(web)]).toEqual(['no', false]);
    await passes(60);
  });
});
