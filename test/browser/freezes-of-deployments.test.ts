import { beforeAll, expect, test } from 'vitest';
import { grantDeployments } from '../support/deployments.ts';
import {
  acmeWithUrl,
  browserForAll,
  expectAccessible,
  expectNoScroll,
  type openPage,
  phone,
  screenshot,
  signedInPage,
} from './browser.ts';

// What freezes of deployments look like where GitHub waits for Holdfast, and where not.

const acme = acmeWithUrl();
const browser = browserForAll();
let plan: string;

beforeAll(async () => {
  acme.github.addUser('wendy');
  await grantDeployments(acme);
  for (const name of ['bare', 'held', 'loose', 'part'])
    await acme.repository(name, [], { roles: { wendy: 'write' } });
  acme.github.addEnvironment('acme/held', 'production');
  acme.github.addEnvironment('acme/loose', 'production', { ours: false });
  acme.github.addEnvironment('acme/part', 'production');
  acme.github.addEnvironment('acme/part', 'staging', { ours: false });
  const body = {
    ...{ name: 'Move', reason: 'The database moves', repositories: { include: ['*'] }, timezone: 'UTC' },
    ...{ holds: ['deployments'], start: null, end: '2026-03-01T18:00:00' },
  };
  plan = (await acme.call('POST', '/v1/freeze_plans/acme', { as: acme.admin, body })).body.id;
  await acme.quiet();
  const message = 'Refunds reach the card again';
  const run = acme.github.runWorkflow('acme/held', { environments: ['production'], by: 'wendy', message });
  await acme.quiet();
  await acme.call('POST', '/v1/repos/acme/held/deployment_exemptions', {
    as: acme.github.addToken('wendy'),
    body: { environment: 'production', run_id: run.id, reason: 'INC-4711: refunds fail' },
  });
  await acme.quiet();
});

const looks: [name: string, options: Parameters<typeof openPage>[1]][] = [
  ['light', { colorScheme: 'light' }],
  ['dark', { colorScheme: 'dark' }],
  ['phone', { ...phone, viewport: { width: 375, height: 740 } }],
];

test.each(looks)('every page says what is held and what is not: %s', async (name, options) => {
  const page = await signedInPage(browser, acme, 'ada', `/owners/acme/progress?plan=${plan}`, options);
  await page.getByText('2 not enforced').first().waitFor();
  const look = async (path: string, says: string) => {
    if (path) await page.goto(acme.app.url + path);
    await page.getByText(says).first().waitFor();
    await screenshot(page, `deployments${path.replace(/\W+/g, '-').slice(0, 40)}-${name}`);
    await expectNoScroll(page);
    await expectAccessible(page);
  };
  await look('', 'Deployments are frozen in');
  await look('/', 'deployments not enforced in 2 repositories');
  await look('/repos/acme', 'Deployments frozen in part');
  await look(`/owners/acme/plans/${plan}`, '2 not enforced');
  await look('/repos/acme/loose', 'is not enforced');
  await look('/repos/acme/bare', 'is not enforced');
  await look('/repos/acme/part', 'Enforced in part');
  await look('/repos/acme/held', 'Refunds reach the card again');
  await look('/owners/acme/exemptions', 'Refunds reach the card again');
  await look('/repos/acme/held/audit', 'The database moves');
  await look('/owners/acme/freeze?repository=held&repository=loose', 'Freeze now');
  const label = page.getByText('Label hotfix');
  expect(await label.isVisible()).toBe(true);
  await page.getByRole('radio', { name: 'Deployments', exact: true }).check({ force: true });
  await label.waitFor({ state: 'hidden' });
  await page.getByText('Nothing would be held in loose').waitFor();
  await look('', '1 environment in 1 repository would be held.');
  await page.goto(`${acme.app.url}/owners/acme/plans/new`);
  await page.getByText('Conditions, public reason').click();
  const conditions = page.getByLabel('Block pull requests that match');
  expect(await conditions.isVisible()).toBe(true);
  await page.getByRole('radio', { name: 'Deployments', exact: true }).check({ force: true });
  await conditions.waitFor({ state: 'hidden' });
  expect(page.problems).toEqual([]);
  await page.context().close();
});
