// "Enforced" means one thing, wherever it is said: GitHub would refuse to merge what a freeze holds.
import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import type { Sandbox } from '../sandbox/github.ts';
import { diagnose } from '../src/cli/commands/doctor.ts';
import { acmeForAll } from './support/acme.ts';
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
