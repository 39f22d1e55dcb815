import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { addressesOfForms } from '../../src/pages/mount-pages.ts';
import { forAll } from '../support/for-all.ts';
import { freePort } from '../support/free-port.ts';
import { startHoldfast } from '../support/holdfast.ts';
import { browserForAll, screenshot, signedInPage } from './browser.ts';
import { pathsToOpen } from '../support/page-addresses.ts';

// Names and texts as long as GitHub and Holdfast take them, without a place to break: no page becomes wider than its
// screen, also with everything unfolded and each menu open.

/** As wide as letters are, and without a hyphen or a point at which a line could break. */
const long = (length: number, first = 'W') => first.padEnd(length, 'w');
const login = long(39, 'Ada');
const owner = long(39, 'Organization');
const owners = [owner, ...Array.from({ length: 11 }, (_, index) => long(39, `Organization${index}x`))];
const repository = long(100, 'Repository');
const environment = long(255, 'Environment');
const ids = { freeze: '', plan: '', sha: '' };

const holdfast = forAll(async () => {
  const port = await freePort();
  const started = await startHoldfast(populate, { port, publicUrl: `http://127.0.0.1:${port}` });
  await freezeAll(started);
  return started;
});
const browser = browserForAll();

type Started = Awaited<ReturnType<typeof startHoldfast>>;

function populate(github: Started['github']): void {
  github.addUser(login);
  for (const each of owners) {
    github.addOrganization(each, { admins: [login] });
    github.addRepository(`${each}/${repository}`, { protect: { main: ['holdfast/freeze'] } });
    github.install(each);
  }
  github.addRepository(`${owner}/${long(100, 'Private')}`, { private: true });
  github.addRepository(`${owner}/${long(100, 'Archived')}`, { archived: true });
  const opened = github.openPullRequest(`${owner}/${repository}`, {
    author: login,
    title: long(256, 'Title'),
    head: long(200, 'head'),
    labels: [long(50, 'label')],
    files: [`src/${long(200, 'file')}.ts`],
  });
  ids.sha = opened.headSha;
}

async function freezeAll({ call, key, quiet }: Started): Promise<void> {
  await quiet();
  const as = await key(owner, 'admin');
  const post = async (path: string, body: object) => {
    const answer = await call('POST', path, { as, body });
    expect(answer.status, answer.text).toBeLessThan(300);
    return answer.body;
  };
  const ofRepository = `/v1/repos/${owner}/${repository}`;
  const reason = long(300, 'Reason');
  const conditions = [`label=${long(50, 'label')}`, `files~=${long(100, 'pattern')}`];
  const freeze = {
    reason,
    start: null,
    end: '2026-03-09T09:00:00',
    timezone: 'America/North_Dakota/New_Salem',
  };
  const held = await post(`${ofRepository}/scheduled_freeze`, { ...freeze, exclude_conditions: conditions });
  ids.freeze = held.id;
  await post(`${ofRepository}/scheduled_freeze`, {
    ...freeze,
    ...{ holds: ['merges', 'deployments'], environments: [environment], public_reason: long(300, 'Public') },
  });
  const plan = { ...freeze, name: long(255, 'Plan'), repositories: { include: ['*', long(90, 'pattern')] } };
  ids.plan = (await post(`/v1/freeze_plans/${owner}`, plan)).id;
  const yearly = {
    start: '2026-12-24T18:00:00',
    end: '2027-01-02T08:00:00',
    recurrence: { rule: 'FREQ=YEARLY' },
  };
  await post(`/v1/freeze_plans/${owner}`, { ...plan, ...yearly });
  await quiet();
  await post(`${ofRepository}/pulls/1/exemptions`, { reason });
  await post(`${ofRepository}/deployment_exemptions`, { environment, sha: 'c'.repeat(40), reason });
  await post(`/v1/applications/${owner}`, { name: long(255, 'Key'), scope: 'ci' });
  await post(`/v1/oidc_rules/${owner}`, {
    ...{ name: long(255, 'Rule'), may: ['push_scopes'], repositories: [long(100, 'repository')] },
    ...{ refs: [`refs/heads/${long(200, 'branch')}`], environments: [environment] },
  });
  await post(`/v1/webhooks/${owner}`, {
    ...{
      kind: 'standard',
      url: `http://127.0.0.1:1025/${long(900, 'path')}`,
      description: long(255, 'Description'),
    },
    ...{ repositories: [long(90, 'repository')], events: ['freeze.started'] },
  });
  await quiet();
}

/** Answers with a file, a stream or a redirect, and the reference of the API, whose page is Scalar's. */
const noPage =
  /.\/$|\*|^\/(v1|assets|api|auth|docs)\b|\/(live|pictures)\b|^\/(healthz|readyz|metrics|favicon.ico|manifest.webmanifest)$/;

/** What redirects to another page. */
const leadsOn: ReadonlySet<string> = new Set([
  ...addressesOfForms.map(({ path }) => path),
  ...['/help/:document', '/login', '/:owner', '/:owner/:repository'],
]);

const pages = pathsToOpen.filter((path) => !noPage.test(path) && !leadsOn.has(path));

const paths = [
  ...pages.map((path) => (path.endsWith('/progress') ? `${path}?plan=:plan` : path)),
  `/owners/:owner/audit?days=30&by=${long(255)}`,
  '/repos/:owner/:repository/pulls/:number?exempt=yes',
  `/help/search?q=${long(200)}`,
  `/no/such/page/${long(200)}`,
  // Those with the widest tables and lines.
  ...['troubleshooting', 'routes', 'settings', 'conditions'].map((document) => `/help/${document}`),
];

const named = (path: string): string => {
  const names: Record<string, string> = {
    ...{ owner, repository, number: '1', id: ids.freeze, plan: ids.plan, sha: ids.sha },
  };
  return path.replace(/:(\w+)/g, (_, name: string) => names[name] ?? name);
};

const widths = [320, 375, 640];

/** Where the page or a menu leaves the screen: `320: 786 wide`. */
async function tooWide(page: Page): Promise<string[]> {
  const found: string[] = [];
  await page.evaluate(`for (const each of document.querySelectorAll('details:not(.menu)')) each.open = true`);
  const menus = await page.locator('details.menu').count();
  for (const width of widths) {
    await page.setViewportSize({ width, height: 740 });
    for (let menu = -1; menu < menus; menu++) {
      const [wide, left] = await page.evaluate<[number, number]>(`(() => {
        const menus = [...document.querySelectorAll('details.menu')];
        menus.forEach((each, index) => { each.open = index === ${menu} });
        const shown = menus[${menu}]?.lastElementChild.getBoundingClientRect();
        return [document.documentElement.scrollWidth, shown?.left ?? 0];
      })()`);
      const where = `${width}${menu < 0 ? '' : `, menu ${menu}`}`;
      if (wide > width) found.push(`${where}: ${wide} wide`);
      if (left < 0) found.push(`${where}: begins at ${left}`);
    }
  }
  return found;
}

/** Where a blank stands before a comma, a colon or a full stop. */
async function blanks(page: Page): Promise<string[]> {
  const text = await page.locator('body').innerText();
  return text.match(/.{0,30} [,:;.](?=\s|$).{0,10}/gm) ?? [];
}

let page: Page;
beforeAll(async () => {
  const options = { timezoneId: 'America/North_Dakota/New_Salem', viewport: { width: 375, height: 740 } };
  page = await signedInPage(browser, holdfast, login, '/', options);
});

test.each(paths.map((path) => [path.replace(/w{9,}/g, '…'), path]))(
  '%s is no wider than its screen, and has no blank before a comma or a full stop',
  async (name, path) => {
    await page.goto(holdfast.app.url + named(path));
    const found = await tooWide(page);
    if (!path.startsWith('/help')) found.push(...(await blanks(page)));
    await screenshot(page, `narrow${name.replace(/\W+/g, '-')}`);
    expect(found).toEqual([]);
  },
);
