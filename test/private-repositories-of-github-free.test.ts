// GitHub Free has no rules for private repositories: GitHub enforces no freeze there, and refuses to show rules. That is
// proof that nothing is enforced, and no missing permission.
import { beforeAll, expect, test } from 'vitest';
import { acmeForAll } from './support/acme.ts';
import { Visitor, words } from './support/visitor.ts';

const acme = acmeForAll();
let as: string;
beforeAll(async () => {
  acme.github.addUser('pia');
  acme.github.addOrganization('free', { admins: ['pia'], plan: 'free' });
  acme.github.install('free');
  await acme.quiet();
  as = await acme.key('free', 'admin');
});

const why =
  'the plan of free is GitHub Free, which has no branch protection and no rulesets for private repositories ' +
  '(GitHub says "Upgrade to GitHub Pro or make this repository public to enable this feature.")';
const ours = () => ({ checks: [{ context: 'holdfast/freeze', app: acme.github.app.id }] });

/** A private repository whose rules were made before its owner chose GitHub Free. */
async function make(name: string): Promise<string> {
  const repository = `free/${name}`;
  acme.github.addRepository(repository, { private: true, protect: { main: ours() } });
  acme.github.addRuleset(repository, ours());
  acme.github.openPullRequest(repository, { author: 'pia' });
  await acme.quiet();
  return repository;
}
const get = async (path: string) => (await acme.call('GET', path, { as })).body;
async function freeze(repository: string) {
  const body = { reason: 'Release', start: null, timezone: 'UTC' };
  const answer = await acme.call('POST', `/v1/repos/${repository}/scheduled_freeze`, { as, body });
  expect(answer.status, answer.text).toBe(201);
  await acme.quiet();
  return answer;
}

test('the answer to a freeze warns, the audit log has it, and GitHub merges', async () => {
  const web = await make('web');
  const { body } = await freeze(web);
  const see = `See https://holdfast.example/v1/repos/${web}/enforcement`;
  expect(body.warnings).toContain(`Nothing enforces this freeze on main: ${why}. ${see}`);
  const { events } = await get(`/v1/repos/${web}/logs?event_type=freeze.not_enforced`);
  expect(events).toMatchObject([{ metadata: { branches: ['main'], context: 'holdfast/freeze', why } }]);
  expect(acme.frozen(web)).toEqual([1]);
  expect(acme.github.merge(web, 1).merged).toBe(true);
});

test('every answer about enforcement says no, and names the plan', async () => {
  const api = await make('api');
  const { id } = (await freeze(api)).body;
  const report = await get(`/v1/repos/${api}/enforcement`);
  expect(report.enforced).toBe(false);
  const about = report.findings.filter(({ branch }: { branch?: string }) => branch === 'main');
  expect(about).toEqual([
    {
      check: 'required_check',
      state: 'failed',
      branch: 'main',
      message: `main cannot require holdfast/freeze: ${why}. So nothing stops merges during a freeze of main.`,
      remedy:
        'Upgrade free to GitHub Team or GitHub Enterprise (a person: to GitHub Pro), or make free/api public.',
    },
  ]);
  expect((await get(`/v1/repos/${api}/scheduled_freeze/${id}/enforcement`)).enforced).toBe(false);
  expect((await get(`/v1/repos/${api}/freeze_state`)).enforced).toBe('no');
  const pia = new Visitor(acme);
  await pia.signIn('pia');
  const page = words(await pia.open(`/repos/${api}`));
  expect(page).toContain('Freezes are not enforced');
  expect(page).toContain('the plan of free is GitHub Free');
});

test('it is enforced from the moment that the repository is public, or the plan has rules', async () => {
  const lib = await make('lib');
  expect((await get(`/v1/repos/${lib}/enforcement`)).enforced).toBe(false);
  acme.github.publicize(lib);
  await acme.quiet();
  expect((await get(`/v1/repos/${lib}/enforcement`)).enforced).toBe(true);
  acme.github.privatize(lib);
  acme.github.setPlan('free', 'team');
  await acme.quiet();
  expect((await get(`/v1/repos/${lib}/enforcement`)).enforced).toBe(true);
  acme.github.setPlan('free', 'free');
});
