import { beforeAll, expect, test } from 'vitest';
import { acmeForAll } from '../support/acme.ts';
import { Visitor, words } from '../support/visitor.ts';

// A tab stands there for whoever its page does not refuse, on every page and in every role.

const acme = acmeForAll();
const always = ['Overview', 'Calendar', 'Plans', 'Help'];

/** Each role, and the tabs of an owner that not everybody has. */
const roles: [login: string, tabs: string[]][] = [
  ['ada', ['Exemptions', 'Deployments', 'Audit', 'Settings']],
  ['rita', ['Exemptions', 'Deployments', 'Audit']],
  ['wes', ['Exemptions', 'Deployments']],
  ['fred', ['Audit']],
  ['april', ['Exemptions', 'Audit']],
  ['mallory', []],
  // Writes to nothing that is not archived.
  ['olga', []],
  ['nobody', []],
];
const pages = [
  '/repos/acme',
  '/owners/acme/calendar',
  '/owners/acme/plans',
  '/repos/acme/web',
  '/repos/acme/web/pulls/1',
  '/',
];

const tabsOn = (text: string): Map<string, string> => {
  const bar = /<nav class="tabs".*?<details/s.exec(text)?.[0] ?? '';
  const links = [...bar.matchAll(/<a\s[^>]*?href="([^"]+)"[^]*?<\/a\s*>/g)];
  return new Map(
    links.map(([link, path]) => [
      words({ text: link.replace(/<span class="narrow">.*?<\/span>/, '') }).trim(),
      path!,
    ]),
  );
};

const visitors = new Map<string, Visitor>();

beforeAll(async () => {
  for (const [login] of roles.slice(1, -1)) acme.github.addUser(login);
  const all = { rita: 'admin', wes: 'write', fred: 'read', april: 'read' } as const;
  await acme.repository('web', [{}], { roles: all });
  await acme.repository('old', [], { roles: { olga: 'write' }, archived: true });
  await acme.call('PATCH', '/v1/repos/acme/web/settings', {
    as: acme.admin,
    body: { freezers: ['fred'], approvers: ['april'] },
  });
  for (const [login] of roles) {
    const visitor = new Visitor(acme);
    if (login !== 'nobody') await visitor.signIn(login);
    visitors.set(login, visitor);
  }
});

test.each(roles)('%s has the tabs of what opens, and none that is refused', async (login, tabs) => {
  const visitor = visitors.get(login)!;
  for (const path of pages) {
    const page = await visitor.open(path);
    expect([path, page.status]).toEqual([path, 200]);
    // The home page of somebody without an owner is about none.
    if (path === '/' && tabs.length === 0) continue;
    const shown = tabsOn(page.text);
    expect([path, [...shown.keys()]]).toEqual([path, [...always.slice(0, 3), ...tabs, always[3]]]);
    for (const [name, to] of shown) expect([name, (await visitor.open(to)).status]).toEqual([name, 200]);
  }
});
