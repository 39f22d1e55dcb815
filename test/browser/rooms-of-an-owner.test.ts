import { beforeAll, expect, test } from 'vitest';
import { grantDeployments } from '../support/deployments.ts';
import { exemptionsOf } from '../support/exemptions.ts';
import {
  acmeWithUrl,
  browserForAll,
  expectAccessible,
  expectNoScroll,
  screenshot,
  signedInPage,
} from './browser.ts';

// Settings, webhooks, deployments, months, the audit log and the report of a freeze, on three screens.

const acme = acmeWithUrl();
const browser = browserForAll();
const paths: Record<string, string> = {};

beforeAll(async () => {
  await grantDeployments(acme);
  const long = 'a-repository-with-a-name-that-is-longer-than-a-phone-is-wide';
  const web = await acme.repository('web', [{}, {}, {}, {}], { roles: { bob: 'write' } });
  const other = await acme.repository(long, [{}]);
  for (const repository of [web, other]) acme.github.addEnvironment(repository, 'production');
  const both = { holds: ['merges', 'deployments'] };
  const over = await acme.freeze(web, { ...both, reason: 'Release 4.2', end: '2026-03-01T11:00:00' });
  acme.github.runWorkflow(web, { environments: ['production'], by: 'bob' });
  await acme.quiet();
  await exemptionsOf(acme).exempt(web, 1, { reason: 'The login is broken for everybody since this morning' });
  acme.github.merge(web, 1, 'ada');
  acme.github.bypassMerge(web, 2, 'ada');
  await acme.advanceTo('2026-03-01T11:20:00Z');
  acme.github.merge(web, 3, 'ada');
  await acme.quiet();
  const on = await acme.freeze(other, { ...both, reason: 'Books are closed', end: '2026-03-02T08:00:00' });
  const workflow = 'Deploy everything that there is to production';
  acme.github.runWorkflow(other, { environments: ['production'], by: 'ada', workflow });
  await acme.quiet();
  const body = { kind: 'standard', url: 'https://ops.example/a/path/that-is-longer-than-a-phone-is-wide' };
  const { body: webhook } = await acme.call('POST', '/v1/webhooks/acme', { as: acme.admin, body });
  await acme.call('POST', '/v1/webhooks/acme', {
    as: acme.admin,
    body: { kind: 'slack', url: 'https://hooks.slack.com/services/T1/B2/x', description: 'Release channel' },
  });
  const at = new Date(acme.clock.now());
  const event = await acme.app.deps.db.auditEvent.findFirstOrThrow({
    where: { type: 'scheduled_freeze.create' },
  });
  const told = { type: 'freeze.started', state: 'delivered', status: 200, attempts: 1 };
  for (const more of [
    { eventIds: [event.id] },
    { type: 'webhook.test', state: 'failed', status: 503, error: 'It answered 503.' },
  ])
    await acme.app.deps.db.outgoingDelivery.create({
      data: {
        ...{ ...told, id: crypto.randomUUID(), webhookId: webhook.id, createdAt: at, lastAttemptAt: at },
        ...more,
      },
    });
  Object.assign(paths, {
    general: '/owners/acme/settings',
    roles: '/owners/acme/settings/roles',
    'instant-hold': '/owners/acme/settings/instant-hold',
    webhooks: '/owners/acme/settings/webhooks',
    webhook: `/owners/acme/settings/webhooks/${webhook.id}`,
    deployments: '/owners/acme/deployments',
    months: '/owners/acme/reports',
    events: '/owners/acme/audit?by=ada&days=30',
    report: `/repos/acme/web/freezes/${over.id}`,
    tell: `/owners/acme/progress?freeze=${on.id}`,
  });
});

const screens = [
  [375, 'dark'],
  [768, 'light'],
  [1280, 'light'],
] as const;

test.each(screens)('%i pixels wide, in %s', async (width, colorScheme) => {
  const page = await signedInPage(browser, acme, 'ada', '/', {
    ...{ colorScheme, viewport: { width, height: 800 } },
  });
  const failed: string[] = [];
  for (const [name, path] of Object.entries(paths)) {
    await page.goto(acme.app.url + path);
    for (const summary of await page.locator('main li details > summary').all()) await summary.click();
    await screenshot(page, `${name}-${width}`);
    for (const check of [expectAccessible, expectNoScroll])
      await check(page).catch((error: Error) => failed.push(`${name}: ${error.message}`));
  }
  expect(failed).toEqual([]);
  expect(page.problems).toEqual([]);
});

test.each([375, 1280])('%i pixels wide, columns have room for what stands in them', async (width) => {
  const page = await signedInPage(browser, acme, 'ada', '/owners/acme/reports', {
    viewport: { width, height: 800 },
  });
  const cut = await page
    .locator('th, td')
    .evaluateAll((cells) =>
      cells.filter((cell) => cell.scrollWidth > cell.clientWidth + 1).map((cell) => cell.textContent),
    );
  expect(cut).toEqual([]);
  await page.goto(`${acme.app.url}/owners/acme/unfreeze`);
  const box = await page.locator('tbody .tick-box').first().boundingBox();
  expect(box!.width).toBeLessThan(48);
});

test('a link to a part of the former page of settings leads to its page', async () => {
  const page = await signedInPage(browser, acme, 'ada', '/');
  await page.goto(`${acme.app.url}/owners/acme/settings#rules`);
  await page.getByRole('heading', { name: 'Jobs' }).waitFor();
  expect(new URL(page.url()).pathname).toBe('/owners/acme/settings/jobs');
  const plain = await signedInPage(browser, acme, 'ada', '/owners/acme/settings', {
    javaScriptEnabled: false,
  });
  await plain.getByRole('link', { name: 'Webhooks' }).click();
  await plain.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor();
});
