import { beforeAll, expect, test, vi } from 'vitest';
import { acmeForAll } from '../support/acme.ts';
import { commandLineFor } from '../support/command-line.ts';
import { grantDeployments } from '../support/deployments.ts';
import { Visitor, words } from '../support/visitor.ts';

// Whatever counts or names a freeze says what it blocks: merges, deployments, or both.

const acme = acmeForAll();
let ada: Visitor;
let freeze: string;
const see = async (path: string): Promise<string> => words(await ada.open(path));

beforeAll(async () => {
  await grantDeployments(acme);
  const web = await acme.repository('web', [{}]);
  await acme.repository('infra', [{}]);
  acme.github.addEnvironment(web, 'production');
  acme.github.addEnvironment(web, 'staging', { ours: false });
  ada = new Visitor(acme);
  await ada.signIn('ada');
  ({ id: freeze } = await acme.freeze(web, {
    ...{ reason: 'Migration', holds: ['deployments'], environments: ['production'] },
    end: '2026-03-02T09:00:00',
  }));
  acme.github.runWorkflow(web, { environments: ['production'] });
  await acme.quiet();
});

const blocks = 'Deployments to production wait; merges are not blocked.';

test.each<[path: string, says: RegExp | string]>([
  ['/', /Deployments are frozen in 1 of 2 repositories of acme .*1 deployment waits /],
  ['/', /Deployments: Migration Deployments frozen until .* web , .*freeze of deployments in 1/],
  ['/repos/acme', /web Deployments frozen – – .*infra Free|infra Free .*web Deployments frozen – –/],
  [
    '/repos/acme/web',
    /Deployments of acme\/web are frozen .* No freeze of merges is ongoing\. Deployments to production wait; merges are not blocked\. 1 deployment waits/,
  ],
  ['/owners/acme/unfreeze', `Migration ${blocks} Deployments in 1 repository: web`],
  ['/owners/acme/calendar', /Frozen Deployments: Migration web/],
])('%s says that deployments are frozen', async (path, says) => {
  const page = await ada.open(path);
  const text = words(page);
  const title = /<title>(.*?)<\/title>/.exec(page.text)![1]!;
  expect(title).toMatch(/^(Deployments frozen|Unfreeze acme|Calendar[^·]*) · /);
  if (typeof says === 'string') expect(text).toContain(says);
  else expect(text).toMatch(says);
  expect(text).not.toMatch(/Nothing is frozen|0 pull requests|GitHub would merge/);
});

test('who cannot know where it stops something reads that it is on', async () => {
  const reader = new Visitor(acme);
  await reader.signIn('bob');
  const text = words(await reader.open('/repos/acme'));
  expect(text).toContain('A freeze of deployments is on in 1 of 2 repositories of acme');
  expect(text).not.toMatch(/Stops deployments|nothing stops|Deployments are frozen/);
});

test('its progress is about deployments, and done at once', async () => {
  const text = await see(`/owners/acme/progress?freeze=${freeze}`);
  expect(text).toContain(
    `Deployments frozen ${blocks} GitHub waits for Holdfast before it deploys to production.`,
  );
  expect(text).not.toMatch(/pull request/);
});

test('a preview lists the environments with their rule and what waits, and names what matches nothing', async () => {
  const fields = {
    ...{ reason: 'Migration', which: 'ticked', repository: ['web', 'infra'], duration: '1h', zone: 'UTC' },
    ...{ holds: 'deployments', environments: 'production\nstaging\nprodcution', step: 'preview' },
  };
  const text = words(await ada.send('/owners/acme/freeze', fields));
  expect(text).toContain('Deployments to production, staging and prodcution wait; merges are not blocked.');
  // What is code in the Markdown of a warning is code here.
  expect(text).not.toContain('`');
  expect(text).toMatch(
    /web production : GitHub waits for Holdfast, 1 waiting now: \S.* #1 of main staging : the rule is not enabled/,
  );
  expect(text).toMatch(/No environment of [^.]*acme\/web[^.]* matches prodcution/);
  expect(text).not.toMatch(/pull requests? in 2 repositories/);
});

test('a plan of deployments says so on its page and in its progress', async () => {
  const body = {
    ...{ name: 'Both', reason: 'Both', repositories: { include: ['infra', 'web'] }, holds: ['deployments'] },
    ...{ start: null, end: '2026-03-01T12:00:00', timezone: 'UTC' },
  };
  const { id } = (await acme.call('POST', '/v1/freeze_plans/acme', { as: acme.admin, body })).body;
  await acme.quiet();
  expect(await see(`/owners/acme/plans/${id}`)).toMatch(
    /Ongoing until Sun 1 Mar, 12:00 UTC Deployments frozen Deployments wait; merges are not blocked\. 2 repositories /,
  );
  expect(await see('/owners/acme/plans')).toMatch(
    /Both Ongoing until .*? Deployments wait; merges are not blocked\. Once/,
  );
  const progress = `/owners/acme/progress?plan=${id}`;
  await vi.waitFor(async () => expect(await see(progress)).not.toContain('Asking GitHub'), 5_000);
  const text = await see(progress);
  // There is no environment in the other one.
  expect(text).toMatch(
    /Deployments frozen Deployments wait; merges are not blocked\. in 1 of 2 repositories/,
  );
  expect(text).not.toMatch(/pull request|known/);
});

test('the progress of a plan says where the rule is not enabled, and where there is no such environment', async () => {
  await acme.repository('lib', []);
  acme.github.addEnvironment('acme/infra', 'staging', { ours: false });
  acme.github.addEnvironment('acme/infra', 'production');
  // That GitHub waits nowhere is five minutes old at most.
  await acme.advanceTo(new Date(acme.clock.now() + 5 * 60_000));
  const body = {
    ...{ name: 'Some', reason: 'Some', repositories: { include: ['infra', 'lib', 'web'] }, timezone: 'UTC' },
    ...{ holds: ['merges', 'deployments'], environments: ['production', 'staging'], start: null },
  };
  const { id } = (await acme.call('POST', '/v1/freeze_plans/acme', { as: acme.admin, body })).body;
  await acme.quiet();
  const progress = `/owners/acme/progress?plan=${id}`;
  // GitHub may need longer than the page waits.
  await vi.waitFor(async () => expect(await see(progress)).not.toContain('Asking GitHub'));
  expect(await see(progress)).toMatch(
    /The rule is not enabled: (infra|web) \( staging \), (infra|web) \( staging \) No such environment: lib /,
  );
  await vi.waitFor(async () => expect(await see(`/owners/acme/plans/${id}`)).toContain('2 enforced in part'));
  // So do the pages that count where deployments are frozen.
  expect(await see(progress)).toContain('in 2 of 3 repositories');
  expect(await see(`/owners/acme/plans/${id}`)).toContain('deployments wait in 2 of 3 repositories');
  for (const path of ['/', '/repos/acme']) {
    const text = await see(path);
    expect(text).toContain('Deployments are frozen in 2 of 3 repositories of acme');
    expect(text).toContain('deployments enforced in part in 2 repositories');
    expect(text).toMatch(
      /Merges and deployments: Some Frozen .*? Stops deployments in 2 of 3 repositories Enforced in part in 2 repositories: some environments don’t have the rule No such environment in 1 repository/,
    );
  }
  expect(await see('/')).toMatch(
    /Deployments: Both .*? Stops deployments in 2 repositories .*freeze of deployments in 2/,
  );
  expect(await see('/repos/acme')).toMatch(/infra .{0,40}Deployments frozen in part/);
  await acme.call('POST', `/v1/freeze_plans/acme/${id}/delete`, {
    as: acme.admin,
    body: { delete_reason: 'r' },
  });
  await acme.quiet();
});

test('that GitHub waits for Holdfast is a minute old at most', async () => {
  await acme.repository('late', []);
  acme.github.addEnvironment('acme/late', 'production');
  const body = {
    ...{ name: 'Late', reason: 'Late', repositories: { include: ['late'] }, timezone: 'UTC' },
    ...{ holds: ['deployments'], environments: ['production'], start: null },
  };
  const { id } = (await acme.call('POST', '/v1/freeze_plans/acme', { as: acme.admin, body })).body;
  await acme.quiet();
  const progress = () => see(`/owners/acme/progress?plan=${id}`);
  await vi.waitFor(async () => expect(await progress()).not.toContain('Asking GitHub'), 10_000);
  expect(await progress()).not.toContain('The rule is not enabled');
  acme.github.disableRule('acme/late', 'production');
  await acme.advanceTo(new Date(acme.clock.now() + 60_000));
  await vi.waitFor(
    async () => expect(await progress()).toContain('The rule is not enabled: late ( production )'),
    10_000,
  );
});

test('the progress of a plan in many repositories ends, however slowly they are asked about', async () => {
  const names = Array.from({ length: 12 }, (_, at) => `far-${at}`);
  for (const name of names) {
    acme.github.addRepository(`acme/${name}`);
    acme.github.addEnvironment(`acme/${name}`, 'production', { ours: false });
  }
  await acme.quiet();
  const body = {
    ...{ name: 'Far', reason: 'Far', repositories: { include: ['far-*'] }, timezone: 'UTC' },
    ...{ holds: ['deployments'], environments: ['production'], start: null },
  };
  const { id } = (await acme.call('POST', '/v1/freeze_plans/acme', { as: acme.admin, body })).body;
  await acme.quiet();
  const progress = `/owners/acme/progress?plan=${id}`;
  const asked = () =>
    acme.github.requests.filter(({ path }) => /far-\d+\/environments(\?|$)/.test(path)).length;
  const before = asked();
  await see(progress);
  await vi.waitFor(() => expect(asked() - before).toBe(10));
  await acme.advanceTo(new Date(acme.clock.now() + 60_000));
  await vi.waitFor(async () => expect(await see(progress)).not.toContain('Asking GitHub'));
  expect(asked() - before).toBe(names.length);
  expect(await see(progress)).toMatch(/The rule is not enabled: (far-\d+ \( production \),? ?){12}/);
});

test.each([
  [{ holds: ['deployments'] }, 'Deployments that no other freeze blocks can go on within seconds.'],
  [
    { holds: ['merges', 'deployments'] },
    'Pull requests that no other freeze blocks can merge, and such deployments can go on, within seconds.',
  ],
])('after its end, a freeze of %j says what can go on', async (holds, says) => {
  const window = { reason: 'Short', start: '2026-02-28T00:00:00', end: '2026-03-02T09:00:00', ...holds };
  const one = await acme.freeze('acme/infra', window);
  const path = `/repos/acme/infra/freezes/${one.id}`;
  const version = /name="version"\s+value="(\d+)"/.exec((await ada.open(path)).text)![1]!;
  const ended = await ada.send(`${path}/end`, { version });
  expect(await see(ended.location)).toContain(`The freeze has ended. ${says}`);
  const other = await acme.freeze('acme/infra', window);
  const form = { ongoing: `freezes ${other.id}`, delete_reason: 'Over' };
  expect(await see((await ada.send('/owners/acme/unfreeze', form)).location)).toContain(`Unfrozen. ${says}`);
});

test('a form of deployments alone sends no conditions of pull requests', async () => {
  const fields = {
    ...{ reason: 'Form', which: 'ticked', repository: ['infra'], duration: '1h', zone: 'UTC' },
    ...{ exception: ['label=hotfix'], environments: 'production', previewed: 'yes', step: 'freeze' },
  };
  const { text } = await ada.send('/owners/acme/freeze', {
    ...fields,
    holds: 'deployments',
    step: 'preview',
  });
  const previewed = /name="previewed"\s+value="([^"]*)"/.exec(text)![1]!;
  await ada.send('/owners/acme/freeze', { ...fields, holds: 'deployments', previewed });
  await acme.quiet();
  const { scheduled_freezes: all } = (
    await acme.call('GET', '/v1/repos/acme/infra/scheduled_freeze', { as: acme.admin })
  ).body;
  const made = all.find(({ reason }: { reason: string }) => reason === 'Form');
  expect(made).toMatchObject({ holds: ['deployments'], exclude_conditions: [] });
  await acme.remove('acme/infra', made.id);
});

test('a row says what is frozen now before what is scheduled, each with its own words', async () => {
  const { id } = await acme.freeze('acme/web', { reason: 'Later', start: '2026-03-03T09:00:00' });
  // GitHub may need longer than the page waits.
  await vi.waitFor(
    async () =>
      expect(await see('/repos/acme')).toMatch(
        /web Later Deployments frozen in part merges from Tue 3 Mar, 09:00 UTC/,
      ),
    10_000,
  );
  await acme.remove('acme/web', id);
});

test('the command line says it too', async () => {
  const { holdfast, close } = commandLineFor(acme, acme.admin);
  expect((await holdfast(['status', 'acme/web'])).out).toContain(`${freeze}: ${blocks}`);
  close();
});

test('the state of a repository does not deny what another freeze blocks', async () => {
  const { id } = await acme.freeze('acme/web', { reason: 'Books are closed' });
  const text = await see('/repos/acme/web');
  const state = text.slice(text.indexOf('acme/web is frozen until'), text.indexOf('Open pull requests'));
  expect(state).toMatch(
    /1 pull request is blocked\. .*Deployments to production wait\. 1 deployment waits now\./,
  );
  expect(state).not.toContain('not blocked');
  await acme.remove('acme/web', id);
});
