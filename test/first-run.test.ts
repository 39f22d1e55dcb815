import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { type FirstRun, secretKey, type Shown, startFirstRun, Visitor } from './support/first-run.ts';

// From nothing to a freeze that holds, as a person does it: the setup page, GitHub, and back.

let run: FirstRun;
beforeAll(async () => {
  run = await startFirstRun();
});
beforeEach(() => run.begin());
afterAll(() => run.close());

const readiness = async (url: string) => (await fetch(`${url}/readyz`)).status;

/** Everything up to the button at GitHub that makes the App. */
let names = 0;
async function toGitHub(visitor: Visitor): Promise<Shown> {
  const form = await run.open(visitor);
  expect(form.status, form.text).toBe(200);
  const review = await visitor.submit(form, { organization: 'acme', name: `Holdfast ${++names}` });
  expect(review.status, review.text).toBe(200);
  const create = await visitor.submit(review);
  expect(create.text).toContain('Create GitHub App');
  return create;
}
const setUp = async (visitor = new Visitor()) => visitor.submit(await toGitHub(visitor), { as: 'ada' });

test('an App is made, its credentials are sealed, and a freeze holds, without a restart', async () => {
  const { app, github, database } = run;
  const done = await setUp();
  expect(done.status, done.text).toBe(200);
  expect(done.text).toContain(`Holdfast ${names} is connected`);
  const install = /href="([^"]+\/installations\/new)"/.exec(done.text)![1]!;

  github.addRepository('acme/web', { protect: { main: ['holdfast/freeze'] } });
  github.openPullRequest('acme/web', { author: 'ada' });
  const installed = await new Visitor().post(install, { account: 'acme' });
  // To sign in first, and then to what is installed.
  expect(decodeURIComponent(installed.url)).toContain(`${github.url}/login`);
  const ada = github.addToken('ada');
  const freeze = () =>
    fetch(`${app.url}/v1/repos/acme/web/scheduled_freeze`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${ada}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ reason: 'Release', start: null, timezone: 'UTC' }),
    });
  expect((await freeze()).status).toBe(201);
  await run.quiet();
  expect(github.currentStatus('acme/web', 1)?.state).toBe('pending');
  expect(github.deliveries.every(({ statusCode }) => statusCode === 202)).toBe(true);

  const [row] = await database.prisma.appCredentials.findMany();
  expect(row).toMatchObject({ appId: BigInt(github.app.id), slug: `holdfast-${names}` });
  const secrets = [github.app.privateKey, github.app.webhookSecret, github.app.clientSecret!, secretKey];
  for (const secret of secrets) {
    expect(Object.values(row!).join()).not.toContain(secret.slice(0, 40));
    expect(run.logs.join()).not.toContain(secret.slice(0, 40));
  }
  github.uninstall('acme');
  await run.quiet();
});

test('the documentation can be read before there is an App', async () => {
  const help = await fetch(`${run.app.url}/help/install`);
  expect([help.status, await readiness(run.app.url)]).toEqual([200, 503]);
  expect(await help.text()).toContain('<h1 id="install-with-npm">Install with npm</h1>');
});

test('other processes notice, and later processes are configured from the database', async () => {
  const replica = await run.startAnother();
  const worker = await run.startAnother({ role: 'worker' });
  expect((await fetch(`${worker.url}/setup`)).status).toBe(503);
  await setUp();
  expect(await readiness(run.app.url)).toBe(200);
  for (const { url } of [replica, worker]) expect(await readiness(url)).toBe(503);
  await run.clock.tick(2000);
  for (const { url } of [replica, worker]) {
    await vi.waitFor(async () => expect(await readiness(url)).toBe(200));
    expect((await fetch(`${url}/setup`)).status).toBe(404);
  }
  const { deps } = await run.startAnother();
  const { id, privateKey, webhookSecret, clientId, clientSecret } = run.github.app;
  expect(deps.config.app).toEqual({ id, privateKey, webhookSecret, oauth: { clientId, clientSecret } });
});

test('the return from GitHub works after a restart of the service', async () => {
  const visitor = new Visitor();
  const create = await toGitHub(visitor);
  const port = Number(new URL(run.app.url).port);
  await run.app.close();
  await run.startAnother({ port, publicUrl: run.app.url });
  expect((await visitor.submit(create, { as: 'ada' })).text).toContain('is connected');
});

test('a person can own the App, and GitHub Enterprise has other paths', async () => {
  const { url } = await run.startAnother({ githubApiUrl: `${run.github.url}/api/v3` });
  const visitor = new Visitor();
  const form = await run.open(visitor, url);
  const review = await visitor.submit(form, { owner: 'person', name: 'Bob’s Holdfast' });
  expect(review.text).toContain(`action="${run.github.url}/settings/apps/new?state=`);
  const done = await visitor.submit(await visitor.submit(review), { as: 'bob' });
  expect(done.text).toContain('Bob’s Holdfast is connected');
  expect(run.github.app.owner?.login).toBe('bob');
});

test('GitHub is sent app.yml with this installation’s addresses', async () => {
  const { url } = await run.startAnother({ publicUrl: 'https://holdfast.example' });
  const visitor = new Visitor();
  // Others reach it by that address, perhaps through a proxy on this machine.
  const asked = await visitor.get(`${url}/setup`);
  const form = await visitor.submit(asked, { code: run.code() });
  const review = await visitor.submit(form, { organization: 'acme' });
  const manifest = JSON.parse(
    /name="manifest" value="([^"]*)"/.exec(review.text)![1]!.replaceAll('&quot;', '"'),
  );
  expect(manifest).toMatchObject({
    name: 'Holdfast',
    public: false,
    hook_attributes: { url: 'https://holdfast.example/api/github/webhooks', active: true },
    // The browser comes back to where its cookie is.
    redirect_url: `${url}/setup/callback`,
    callback_urls: ['https://holdfast.example/auth/callback'],
    setup_url: 'https://holdfast.example/installed',
  });
  expect(manifest.default_permissions).toMatchObject({ statuses: 'write', merge_queues: 'read' });
  expect(manifest.default_events).toContain('merge_group');
  expect(review.headers.get('content-security-policy')).toContain(`form-action 'self' ${run.github.url}`);
});

test('commands in comments are asked for only if the box is ticked', async () => {
  const { url } = await run.startAnother({ publicUrl: 'https://holdfast.example' });
  const manifestOf = async (box: Record<string, string>) => {
    const visitor = new Visitor();
    const asked = await visitor.get(`${url}/setup`);
    const form = await visitor.submit(asked, { code: run.code() });
    expect(form.text).toMatch(/name="comments"\s+value="on"\s+aria-describedby="comments-hint"\s*\/?>/);
    const review = await visitor.submit(form, { organization: 'acme', ...box });
    const [, manifest] = /name="manifest" value="([^"]*)"/.exec(review.text)!;
    return { manifest: JSON.parse(manifest!.replaceAll('&quot;', '"')), text: review.text };
  };
  const { manifest: plain } = await manifestOf({});
  expect(plain.default_permissions).not.toHaveProperty('issues');
  expect(plain.default_permissions.pull_requests).toBe('read');
  expect(plain.default_events).not.toContain('issue_comment');

  const { manifest, text } = await manifestOf({ comments: 'on' });
  expect(manifest.default_permissions).toEqual({
    ...plain.default_permissions,
    issues: 'read',
    pull_requests: 'write',
  });
  expect(manifest.default_events).toEqual([...plain.default_events, 'issue_comment']);
  expect(text).toContain('pull requests: write');
});

test('the environment’s App wins over the saved one', async () => {
  await setUp();
  const app = {
    id: 7,
    privateKey: run.github.app.privateKey,
    webhookSecret: 'of the environment',
    oauth: null,
  };
  const { deps } = await run.startAnother({ app, secretKey: null });
  expect(deps.config.app).toEqual(app);
});

test('without the SECRET_KEY that sealed it, the App cannot be used', async () => {
  await setUp();
  const postgres = { connectionString: 'postgres://unused: the test opens the database' };
  await expect(run.startAnother({ secretKey: 'another key of at least 32 characters' })).rejects.toThrow(
    'SECRET_KEY is not the one',
  );
  await expect(run.startAnother({ secretKey: null, database: postgres })).rejects.toThrow(
    'SECRET_KEY is missing',
  );
});

const newKey = 'the new secret key, which has 32 characters or more';
const changing = { secretKey: newKey, secretKeyPrevious: secretKey };
const sealedLine = 'the App in the database is now encrypted with the new SECRET_KEY';
const timesSealed = () => run.logs.filter((line) => line.includes(sealedLine)).length;

test('SECRET_KEY is changed: two replicas that start at once seal the App again, once', async () => {
  await setUp();
  const before = await run.database.prisma.appCredentials.findFirstOrThrow();
  const both = await Promise.all([run.startAnother(changing), run.startAnother(changing)]);
  const app = run.app.deps.config.app;
  for (const { deps } of both) expect(app).toMatchObject(deps.config.app);
  expect(timesSealed()).toBe(1);
  const after = await run.database.prisma.appCredentials.findFirstOrThrow();
  for (const name of ['privateKey', 'webhookSecret', 'clientSecret'] as const)
    expect(after[name]).not.toBe(before[name]);

  // The previous key can go now, because it opens nothing.
  const { deps } = await run.startAnother({ secretKey: newKey });
  expect(app).toMatchObject(deps.config.app);
  await expect(run.startAnother()).rejects.toThrow('SECRET_KEY is not the one');
});

test('a visit that began under the previous SECRET_KEY completes, and its App is saved under the new one', async () => {
  const visitor = new Visitor();
  const create = await toGitHub(visitor);
  const next = await run.startAnother(changing);
  const back = await visitor.submit(create, { as: 'ada' });
  expect(back.text).toContain('is connected');
  await run.clock.tick(2000);
  await vi.waitFor(async () => expect(await readiness(next.url)).toBe(200));
  expect(timesSealed()).toBe(1);
});

test('the setup page accepts a browser that entered its code under the previous SECRET_KEY', async () => {
  const visitor = new Visitor();
  await run.open(visitor);
  const next = await run.startAnother(changing);
  const { host } = new URL(run.app.url);
  for (const [name, value] of [...visitor.cookies])
    visitor.cookies.set(name.replace(host, new URL(next.url).host), value);
  expect((await visitor.get(`${next.url}/setup`)).text).toContain('name="organization"');
  const stranger = await run.startAnother({ secretKey: newKey });
  for (const [name, value] of [...visitor.cookies])
    visitor.cookies.set(name.replace(new URL(next.url).host, new URL(stranger.url).host), value);
  expect((await visitor.get(`${stranger.url}/setup`)).text).not.toContain('name="organization"');
});

test('with two other keys, the App cannot be used', async () => {
  await setUp();
  const wrong = { secretKey: newKey, secretKeyPrevious: 'a third key, which has 32 characters or more' };
  await expect(run.startAnother(wrong)).rejects.toThrow(
    'Neither SECRET_KEY nor SECRET_KEY_PREVIOUS is the one',
  );
  expect(timesSealed()).toBe(0);
});

test('a process with another SECRET_KEY says so, and waits', async () => {
  const other = await run.startAnother({ secretKey: 'another key of at least 32 characters' });
  await setUp();
  await run.clock.tick(2000);
  await vi.waitFor(() => expect(run.logs.join()).toContain('SECRET_KEY is not the one'));
  expect(await readiness(other.url)).toBe(503);
});

test('PostgreSQL without SECRET_KEY saves nothing: the page says what to set', async () => {
  const database = { connectionString: 'postgres://unused: the test opens the database' };
  const { url } = await run.startAnother({ secretKey: null, database });
  const { text } = await run.open(new Visitor(), url);
  expect(text).toContain('openssl rand -hex 32');
  expect(text).toContain('Holdfast saves the credentials in <code>.env</code>');
  expect(text).not.toContain('name="place"');
});
