import { afterAll, beforeAll, expect, test } from 'vitest';
import { acme, call } from './acme.ts';

// The pages of pull requests in a browser, with the merge button.

let world: Awaited<ReturnType<typeof acme>>;
beforeAll(async () => {
  world = await acme();
});
afterAll(async () => {
  await world.github.close();
  world.github.assertNoUnknownRoutes();
});

const as = (login: string | null) => ({
  headers: login === null ? {} : { Cookie: `sandbox_login=${login}` },
});

async function see(path: string, login: string | null = null) {
  const response = await fetch(new URL(path, world.github.url), as(login));
  return { status: response.status, text: (await response.text()).replace(/\s+/g, ' ') };
}

const press = (path: string, login: string | null, form: Record<string, string> = {}) =>
  send(`${path}/merge`, login, form);

async function send(path: string, login: string | null, form: Record<string, string>) {
  const response = await fetch(new URL(path, world.github.url), {
    ...as(login),
    method: 'POST',
    body: new URLSearchParams(form),
    redirect: 'manual',
  });
  return { status: response.status, text: await response.text() };
}

const button = (text: string) =>
  /<button class="go" ([a-z]*)\s*>Merge pull request<\/button>/.exec(text)?.[1];

/** A pull request of a branch that requires the check; its page is where `html_url` leads. */
async function opened(protection: object = {}) {
  const { github, ada } = world;
  github.protect('acme/web', 'main', { checks: ['holdfast/freeze'], ...protection });
  const { number } = github.openPullRequest('acme/web', { author: 'bob', title: 'Faster <search>' });
  const { body } = await call(github, ada.token, 'GET', `/repos/acme/web/pulls/${number}`);
  const { pathname, origin } = new URL(body.html_url);
  expect(origin).toBe(github.url);
  return { number, path: pathname };
}

test('the button is disabled with the reason until the required check succeeds, and then merges', async () => {
  const { github } = world;
  const { number, path } = await opened({ enforceAdmins: true });
  const expected = await see(path, 'bob');
  expect(expected.text).toContain('Faster &lt;search&gt;');
  expect(expected.text).toContain('Required status check &quot;holdfast/freeze&quot; is expected.');
  expect(expected.text).toContain('Waiting for status to be reported');
  expect(button(expected.text)).toBe('disabled');

  github.postStatus('acme/web', number, { by: 'ada', state: 'pending', description: 'Frozen: Release' });
  const pending = await see(path, 'bob');
  expect(pending.text).toContain('Frozen: Release');
  expect(pending.text).toContain('Required status check &quot;holdfast/freeze&quot; is pending.');
  expect(button(pending.text)).toBe('disabled');
  const sha = github.pullRequest('acme/web', number).headSha;
  // Disabled in the page, and refused if somebody still sends the form, even an admin who cannot bypass.
  expect(await press(path, 'bob', { sha })).toMatchObject({ status: 405 });
  expect((await see(path, 'ada')).text).not.toContain('Bypass rules and merge');
  expect(await press(path, 'ada', { bypass: '1' })).toMatchObject({ status: 403 });
  expect(github.merges('acme/web')).toEqual([]);

  github.postStatus('acme/web', number, { by: 'ada', state: 'success' });
  const free = await see(path, 'bob');
  expect(button(free.text)).toBe('');
  expect(await press(path, 'bob', { sha: 'f'.repeat(40) })).toMatchObject({ status: 409 });
  expect(await press(path, 'bob', { sha })).toMatchObject({ status: 302 });
  expect(github.merges('acme/web')).toMatchObject([{ number, by: 'bob', how: 'button' }]);
  expect((await see(path)).text).toContain('successfully merged');
});

test('an admin can merge past a protection that allows it, and the merge is marked as such', async () => {
  const { github } = world;
  const { number, path } = await opened();
  const page = await see(path, 'ada');
  expect(button(page.text)).toBe('disabled');
  expect(page.text).toContain('Merge without waiting for requirements to be met');
  expect((await see(path, 'bob')).text).not.toContain('Merge without waiting');
  expect(await press(path, 'bob', { bypass: '1' })).toMatchObject({ status: 403 });
  expect(await press(path, 'ada', { bypass: '1' })).toMatchObject({ status: 302 });
  expect(github.merges('acme/web').at(-1)).toMatchObject({ number, by: 'ada', how: 'bypass' });
});

test('a person who is not signed in, or can only read, merges nothing', async () => {
  const { github } = world;
  const { number, path } = await opened();
  github.postStatus('acme/web', number, { by: 'ada', state: 'success' });
  const { text } = await see(path);
  expect(button(text)).toBe('disabled');
  expect(text).toContain(`/login?return_to=${encodeURIComponent(path)}`);
  expect(await press(path, null)).toMatchObject({ status: 403 });
  expect((await see(path, 'eve')).text).toContain('Only those with write access');
  expect(await press(path, 'eve')).toMatchObject({ status: 403 });
  expect(github.pullRequest('acme/web', number).state).toBe('open');
});

test('a person who is signed in comments, and everybody reads the conversation', async () => {
  const { github } = world;
  const { number, path } = await opened();
  const comment = (login: string | null, body: string) => send(`${path}/comment`, login, { body });
  expect((await see(path)).text).toContain('Sign in to comment');
  expect(await comment(null, 'Hello')).toMatchObject({ status: 403 });
  expect((await see(path, 'eve')).text).toContain(`action="${path}/comment"`);
  expect(await comment('eve', ' \r\n')).toMatchObject({ status: 422 });
  expect(await comment('eve', '/holdfast status\r\nplease')).toMatchObject({ status: 302 });
  github.comment('acme/web', number, {
    by: 'bob',
    body: '**Frozen.** <b>&</b> [why](https://holdfast.example/) [x](javascript:alert(1))\n\n<!-- answers 1 -->',
  });
  expect(github.comments('acme/web', number)).toMatchObject([
    { by: 'eve', body: '/holdfast status\nplease' },
    { by: 'bob' },
  ]);
  const { text } = await see(path);
  expect(text).toContain('<strong>eve</strong> commented at');
  expect(text).toContain('<strong>Frozen.</strong> &lt;b&gt;&amp;&lt;/b&gt;');
  expect(text).toContain('<a href="https://holdfast.example/">why</a> x</p>');
  expect(text).not.toContain('answers 1');

  github.lock('acme/web', number);
  expect((await see(path, 'eve')).text).toContain("You can't comment on this pull request.");
  expect(await comment('eve', 'Hello')).toMatchObject({ status: 403 });
  expect(await comment('bob', 'Hello')).toMatchObject({ status: 302 });
});

test('drafts, conflicts and merge queues say why they do not merge', async () => {
  const { github } = world;
  const refused = async (change: (number: number) => void, reason: string) => {
    const { number, path } = await opened();
    github.postStatus('acme/web', number, { by: 'ada', state: 'success' });
    expect(button((await see(path, 'ada')).text)).toBe('');
    change(number);
    const { text } = await see(path, 'ada');
    expect(text).toContain(reason);
    expect(button(text)).toBe('disabled');
    expect(await press(path, 'ada'), reason).toMatchObject({ status: 405 });
    // Nobody can bypass these: they are not requirements.
    expect(await press(path, 'ada', { bypass: '1' }), reason).toMatchObject({ status: 403 });
    return path;
  };
  await refused((number) => github.markDraft('acme/web', number), 'Draft pull requests cannot be merged.');
  await refused(
    (number) => github.pushToBranch('acme/web', 'main', { conflictsWith: [number] }),
    'This branch has conflicts',
  );
  await refused(
    () => github.enableMergeQueue('acme/web', 'main'),
    'Changes must be made through the merge queue',
  );
  github.disableMergeQueue('acme/web', 'main');
});

test('the lists link to them, and show private repositories only to people who can see them', async () => {
  const { github } = world;
  const { number, path } = await opened();
  const { number: hidden } = github.openPullRequest('acme/vault', { author: 'ada', title: 'Rotate keys' });
  expect((await see('/')).text).toContain('href="/acme/web/pulls"');
  expect((await see('/acme/web/pulls')).text).toContain(`href="${path}"`);
  expect((await see('/')).text).not.toContain('acme/vault');
  expect((await see('/', 'ada')).text).toContain('acme/vault');
  for (const gone of ['/acme/vault/pulls', `/acme/vault/pull/${hidden}`, `/acme/web/pull/${number + 1}`])
    expect((await see(gone, 'bob')).status, gone).toBe(404);
  expect((await see(`/acme/vault/pull/${hidden}`, 'ada')).status).toBe(200);
});

test('you choose a person once, from a list of people with their rights', async () => {
  const { github } = world;
  const { text } = await see('/login?return_to=/acme/web/pulls');
  expect(text).toMatch(/<strong>ada<\/strong> <span class="muted">administers acme/);
  const body = new URLSearchParams({ login: 'ada', return_to: '//evil.example/acme/web/pulls?x=1' });
  const chosen = await fetch(`${github.url}/login`, { method: 'POST', body, redirect: 'manual' });
  expect(chosen.headers.get('location')).toBe(`${github.url}/acme/web/pulls?x=1`);
  expect(chosen.headers.getSetCookie()[0]).toMatch(/^sandbox_login=ada;.*HttpOnly/);
  expect((await see('/acme/web/pulls', 'ada')).text).toMatch(/<strong>ada<\/strong> · <a href="\/login/);
});
