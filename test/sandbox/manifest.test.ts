import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/github.ts';

let github: Sandbox;
beforeAll(async () => {
  github = await startSandbox({ app: null });
  for (const login of ['ada', 'bob']) github.addUser(login);
  github.addOrganization('acme', { admins: ['ada'], members: ['bob'] });
});
afterAll(async () => {
  await github.close();
  github.assertNoUnknownRoutes();
});

const least = { url: 'https://holdfast.example', redirect_url: 'https://holdfast.example/back' };

const post = (path: string, manifest: unknown, more: Record<string, string> = {}) =>
  fetch(`${github.url}${path}`, {
    method: 'POST',
    body: new URLSearchParams({ manifest: JSON.stringify(manifest), ...more }),
    redirect: 'manual',
  });

test.each<[string, object, string]>([
  ['no homepage', { redirect_url: least.redirect_url }, 'url must be a URL'],
  ['a long name', { ...least, name: 'x'.repeat(35) }, 'name is too long'],
  [
    'a parameter that GitHub does not know',
    { ...least, webhook_url: 'https://x.example' },
    'Unrecognized key',
  ],
  ['an event of every App', { ...least, default_events: ['installation'] }, 'unsupported: installation'],
  ['an event without its permission', { ...least, default_events: ['push'] }, 'unsupported: push'],
])('a manifest with %s is refused', async (_name, manifest, problem) => {
  const answer = await post('/settings/apps/new', manifest, { as: 'ada', name: 'x' });
  expect(answer.status).toBe(422);
  expect(await answer.text()).toContain(problem);
});

test('the person can change the name, and only owners make an organization’s App', async () => {
  const page = await (
    await post('/organizations/acme/settings/apps/new', { ...least, name: 'Given' })
  ).text();
  expect(page).toContain('value="Given"');
  expect(page).toContain('<option>ada</option>');
  expect(page).not.toContain('<option>bob</option>');
  expect((await post('/organizations/nobody/settings/apps/new', least)).status).toBe(404);
});

test('the return has the code and the state, and the code works once', async () => {
  const path = '/organizations/acme/settings/apps/new?state=abc%20123';
  const made = await post(
    path,
    { ...least, default_permissions: { statuses: 'write' }, hook_attributes: { url: least.url } },
    { as: 'ada', name: 'Mine' },
  );
  const back = new URL(made.headers.get('location')!);
  expect([back.origin + back.pathname, back.searchParams.get('state')]).toEqual([
    least.redirect_url,
    'abc 123',
  ]);
  const convert = () =>
    fetch(`${github.url}/app-manifests/${back.searchParams.get('code')}/conversions`, { method: 'POST' });
  const answer = await convert();
  expect(answer.status).toBe(201);
  expect(await answer.json()).toMatchObject({
    id: github.app.id,
    slug: 'mine',
    owner: { login: 'acme' },
    permissions: { statuses: 'write' },
    pem: expect.stringContaining('BEGIN RSA PRIVATE KEY'),
    webhook_secret: github.app.webhookSecret,
    client_id: github.app.clientId,
    client_secret: github.app.clientSecret,
    html_url: `${github.url}/apps/mine`,
  });
  expect((await convert()).status).toBe(404);
  const again = await post(path, least, { as: 'ada', name: 'Mine' });
  expect(await again.text()).toContain('Name has already been taken');
});

test('an App that asks for Administration stands beside the first one, and has no secret without a webhook', async () => {
  const { id } = github.app;
  const lock = { ...least, default_permissions: { administration: 'write' } };
  const made = await post('/settings/apps/new', lock, { as: 'ada', name: 'Lock' });
  const code = new URL(made.headers.get('location')!).searchParams.get('code');
  const answer = await fetch(`${github.url}/app-manifests/${code}/conversions`, { method: 'POST' });
  expect(await answer.json()).toMatchObject({ slug: 'lock', owner: { login: 'ada' }, webhook_secret: null });
  expect(github.app.id).toBe(id);
});

test.each([
  [false, ['acme']],
  [true, ['acme', 'ada', 'bob']],
])('with public %s it can be installed on %j', async (isPublic, accounts) => {
  const answer = { as: 'ada', name: `Public ${isPublic}` };
  await post('/organizations/acme/settings/apps/new', { ...least, public: isPublic }, answer);
  const page = await fetch(`${github.url}/apps/public-${isPublic}/installations/new`);
  const offered = [...(await page.text()).matchAll(/Install on (\w+)/g)].map(([, login]) => login);
  expect(offered.toSorted()).toEqual(accounts);
});
