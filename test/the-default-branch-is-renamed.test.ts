// A freeze of base=master ends where the branch gets another name: GitHub moves pull requests and protection to the new
// one, and leads from the old name to it. What is asked about the old name must not be answered with the new branch.
import { beforeAll, expect, test } from 'vitest';
import { acmeForAll } from './support/acme.ts';
import { Visitor, words } from './support/visitor.ts';

const acme = acmeForAll();
const ada = new Visitor(acme);
beforeAll(() => ada.signIn('ada'));

const onMaster = { matching_conditions: ['base=master'] };
const why = 'there is no such branch any more, and GitHub leads from it to main, as after a rename';

/** With the check required on master, and one pull request. */
const make = (name: string): Promise<string> =>
  acme.repository(name, [{ base: 'master' }], {
    defaultBranch: 'master',
    protect: { master: { checks: [{ context: 'holdfast/freeze', app: acme.github.app.id }] } },
  });
const get = async (path: string) => (await acme.call('GET', path, { as: acme.admin })).body;
const told = (repository: string) => acme.events(repository, 'freeze.not_enforced');

/** GitHub says so by two pushes and an event of the repository. */
async function rename(repository: string, from = 'master', to = 'main'): Promise<void> {
  acme.github.renameBranch(repository, from, to);
  await acme.advanceTo(new Date(acme.clock.now() + 30_000));
}

test('the freeze is told of once, and no answer calls it enforced', async () => {
  const web = await make('web');
  const { id } = await acme.freeze(web, onMaster);
  expect(acme.frozen(web)).toEqual([1]);
  expect((await get(`/v1/repos/${web}/enforcement`)).enforced).toBe(true);
  await rename(web);
  expect(acme.frozen(web)).toEqual([]);
  const [event, ...others] = await told(web);
  expect(others).toEqual([]);
  expect(event).toMatchObject({
    trigger: 'github',
    metadata: { scheduled_freeze_id: id, branches: ['master'], why, renamed_to: 'main' },
  });

  const report = await get(`/v1/repos/${web}/enforcement`);
  expect(report.enforced).toBe(false);
  expect(report.findings).toContainEqual({
    check: 'required_check',
    state: 'failed',
    branch: 'master',
    message: `master cannot require holdfast/freeze: ${why}. So nothing stops merges during a freeze of master.`,
    remedy: 'In the conditions of the freeze, change base=master to base=main.',
  });
  expect((await get(`/v1/repos/${web}/scheduled_freeze/${id}/enforcement`)).enforced).toBe(false);
  expect((await get(`/v1/repos/${web}/freeze_state?base=master`)).enforced).toBe('no');
  expect((await get(`/v1/repos/${web}/freeze_state?base=main`)).enforced).toBe('yes');
  expect(words(await ada.open(`/repos/${web}`))).toContain(why);
  expect(words(await ada.open(`/repos/${web}/audit`))).toContain('found a freeze that is not enforced');

  // The remedy.
  await acme.update(web, id, { matching_conditions: ['base=main'] });
  expect(acme.frozen(web)).toEqual([1]);
});

test('a new freeze of the old name is answered with a warning', async () => {
  const api = await make('api');
  await rename(api);
  const body = { reason: 'Release', start: null, timezone: 'UTC', ...onMaster };
  const made = await acme.call('POST', `/v1/repos/${api}/scheduled_freeze`, { as: acme.admin, body });
  const see = `See https://holdfast.example/v1/repos/${api}/enforcement`;
  expect(made.body.warnings).toContain(`Nothing enforces this freeze on master: ${why}. ${see}`);
  expect(await told(api)).toMatchObject([{ metadata: { branches: ['master'], why } }]);
});

test('GitHub may lead nowhere; the event of the repository names the new branch', async () => {
  const lib = await make('lib');
  await acme.freeze(lib, onMaster);
  const path = /\/branches\/master$/;
  const gone = acme.github.faults.add({
    kind: 'status',
    status: 404,
    words: 'Branch not found',
    match: { path },
  });
  await rename(lib);
  expect(await told(lib)).toMatchObject([{ metadata: { renamed_to: 'main' } }]);
  // It may be made again, so this is unknown, and never yes.
  expect((await get(`/v1/repos/${lib}/freeze_state?base=master`)).enforced).toBe('unknown');
  gone.remove();
});

test.each([
  ['names the new branch, too', { matching_conditions: [{ or: ['base=master', 'base=main'] }] }],
  ['names no branch', {}],
])('nothing is told of a freeze that %s', async (words, freeze) => {
  const site = await make(`site-${words.length}`);
  await acme.freeze(site, freeze);
  await rename(site);
  expect(acme.frozen(site)).toEqual([1]);
  expect(await told(site)).toEqual([]);
});

test('a branch that is deleted, or that was never there, is not called enforced', async () => {
  const old = await make('old');
  acme.github.addRuleset(old, {
    include: ['~ALL'],
    checks: [{ context: 'holdfast/freeze', app: acme.github.app.id }],
  });
  const { id } = await acme.freeze(old, { matching_conditions: ['base=release/1'] });
  expect((await get(`/v1/repos/${old}/scheduled_freeze/${id}/enforcement`)).enforced).toBe('unknown');
  expect((await get(`/v1/repos/${old}/freeze_state?base=release/1`)).enforced).toBe('unknown');
  expect((await get(`/v1/repos/${old}/freeze_state`)).enforced).toBe('yes');
});
