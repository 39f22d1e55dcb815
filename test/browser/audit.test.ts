import { beforeAll, expect, test } from 'vitest';
import { exemptionsOf } from '../support/exemptions.ts';
import type { openPage } from './browser.ts';
import {
  acmeWithUrl,
  browserForAll,
  expectAccessible,
  expectNoScroll,
  loaded,
  phone,
  screenshot,
  signedInPage,
} from './browser.ts';

const acme = acmeWithUrl();
const browser = browserForAll();

beforeAll(async () => {
  const roles = { bob: 'write' } as const;
  await acme.repository('web', [{}, {}, {}], { roles });
  await acme.repository('a-repository-with-a-long-name', [{}], { roles });
  const token = acme.github.addToken('bob', { kind: 'classic', scopes: ['repo'] });
  const freeze = await acme.freeze('acme/web', { reason: 'Release 4.2', end: '2026-03-01T18:00:00' });
  await acme.update('acme/web', freeze.id, {
    end: '2026-03-02T08:00:00',
    exclude_conditions: ['label=hotfix'],
    reason: 'Release 4.2, with a reason that is longer than the screen of a phone is wide',
  });
  const body = {
    ...{ name: 'Year end', reason: 'Books are closed', timezone: 'Europe/Paris' },
    ...{ repositories: { include: ['*'] }, start: '2026-03-03T18:00:00', end: '2026-03-04T08:00:00' },
  };
  await acme.call('POST', '/v1/freeze_plans/acme', { as: acme.admin, body });
  await acme.freeze('acme/a-repository-with-a-long-name', { reason: 'تجميد نهاية السنة (2026)' });
  await acme.quiet();
  const exemptions = exemptionsOf(acme);
  await exemptions.exempt('acme/web', 1, { reason: 'INC-4711 fix' }, token);
  await exemptions.exempt('acme/web', 2, { reason: 'A repair of what broke this morning' });
  const denied = await exemptions.exempt('acme/web', 3, { reason: 'It cannot wait' }, token);
  await exemptions.decide('deny', 'acme/web', denied);
  await outgoingWebhooks();
});

/** One that works, one that a person disabled, and one that Holdfast disabled, each with deliveries. */
async function outgoingWebhooks() {
  const { db, clock } = acme.app.deps;
  const at = new Date(clock.now());
  const failed = { state: 'failed', status: 410, error: 'It answered 410: it wants no more messages.' };
  const made = [
    {
      kind: 'slack',
      address: 'https://hooks.slack.com/services/T1/B2/secret',
      events: ['freeze.started', 'freeze.ended'],
    },
    {
      kind: 'standard',
      address: 'https://ops.example/a/path/that-is-longer-than-the-screen-of-a-phone-is-wide',
    },
    {
      kind: 'teams',
      address: 'https://prod-1.westeurope.logic.azure.com/workflows/secret',
      repositories: ['web', 'api-*'],
    },
  ];
  for (const { address: url, ...more } of made) {
    const body = { ...more, url, description: 'Release channel, for everybody who merges' };
    const { body: webhook } = await acme.call('POST', '/v1/webhooks/acme', { as: acme.admin, body });
    const told = [{ type: 'freeze.started', state: 'delivered', status: 200 }];
    for (const delivery of more.kind === 'teams' ? [...told, { type: 'freeze.ended', ...failed }] : told)
      await db.outgoingDelivery.create({
        data: {
          ...delivery,
          id: crypto.randomUUID(),
          webhookId: webhook.id,
          attempts: 1,
          createdAt: at,
          lastAttemptAt: at,
        },
      });
    const isEnabled = more.kind === 'slack';
    const disabledWhy = more.kind === 'teams' ? failed.error : null;
    await db.outgoingWebhook.update({
      where: { id: webhook.id },
      data: { isEnabled, disabledWhy, disabledAt: isEnabled ? null : at },
    });
  }
}

/** As ada, who is an admin of acme. */
const open = (path: string, options?: Parameters<typeof openPage>[1]) =>
  signedInPage(browser, acme, 'ada', path, options);

const screens = { desk: { width: 1100, height: 800 }, phone: phone.viewport };

test.each([
  ['audit', 'light', 'desk'],
  ['audit', 'dark', 'phone'],
  ['exemptions', 'dark', 'desk'],
  ['exemptions', 'light', 'phone'],
  ['settings', 'light', 'desk'],
  ['settings', 'dark', 'phone'],
] as const)('%s in %s on a %s', async (name, colorScheme, screen) => {
  const page = await open(`/owners/acme/${name}`, { colorScheme, viewport: screens[screen] });
  const tab = await page.textContent('nav.tabs [aria-current]');
  expect(tab).toContain(name[0]!.toUpperCase() + name.slice(1));
  for (const summary of await page.locator('main details > summary').all()) await summary.click();
  await screenshot(page, `${name}-${colorScheme}-${screen}`);
  await expectAccessible(page);
  await expectNoScroll(page);
  expect(page.problems).toEqual([]);
});

test('who did what last week takes two clicks, and one more as CSV', async () => {
  const page = await open('/repos/acme/web');
  await page.click('nav.tabs >> text=Audit');
  await page.click('text=Last 30 days');
  await loaded(page);
  expect(await page.textContent('ol.log')).toContain('changed a freeze');
  // A list below its day, not a cell of a calendar.
  const style =
    '(({ display, textAlign }) => [display, textAlign])(getComputedStyle(document.querySelector("ol.log")))';
  expect(await page.evaluate(style)).toEqual(['block', 'start']);
  const download = page.waitForEvent('download');
  await page.click('text=Download CSV');
  expect((await download).suggestedFilename()).toBe('audit-acme-2026-03-01.csv');
});
