import { beforeAll, expect, test } from 'vitest';
import { namesPerMinute } from '../src/github/limits/caller-limits.ts';
import { acmeForAll, startAcme } from './support/acme.ts';
import { type Seen, Visitor } from './support/visitor.ts';

// A missing page and a page that you cannot see are the same, to the byte.

const acme = acmeForAll();
beforeAll(async () => {
  acme.github.addUser('mallory');
  await acme.repository('web', [{}]);
  await acme.repository('vault', [{}], { private: true });
});

/** All that could tell one answer from another; ids and dates of requests tell nothing. */
const visible = ({ status, text, headers }: Seen) => ({
  status,
  text,
  headers: [...headers].filter(([name]) => !['date', 'x-request-id', 'location'].includes(name)),
});

const hidden = [
  '/repos/acme/vault/pulls/1',
  '/repos/acme/vault/pulls/77',
  '/repos/acme/vault/merge-groups/' + 'a'.repeat(40),
];
const absent = [
  '/repos/nobody/vault/pulls/1',
  '/repos/acme/nothing/pulls/1',
  '/repos/acme/web%2fx/pulls/1',
  '/repos/a_c/web/pulls/1',
  `/repos/acme/${'x'.repeat(101)}/pulls/1`,
];
const badNumbers = [
  ...[
    '77',
    '0',
    '-1',
    '1.5',
    'one',
    '1e3',
    '01',
    '2147483648',
    '9223372036854776000',
    '9'.repeat(40),
    '%00',
  ].map((number) => `/repos/acme/web/pulls/${number}`),
  ...['a'.repeat(40), 'A'.repeat(40), 'zz', '%00'].map((sha) => `/repos/acme/web/merge-groups/${sha}`),
];

test('to a signed-in person who cannot see it', async () => {
  const visitor = new Visitor(acme);
  await visitor.signIn('mallory');
  const [first, ...others] = await Promise.all(
    [...hidden, ...absent, ...badNumbers].map(
      async (path) => [path, visible(await visitor.open(path))] as const,
    ),
  );
  expect(first![1].status).toBe(404);
  for (const [path, answer] of others) expect(answer, path).toEqual(first![1]);
});

test('a person learns by no limit which of two names is hidden and which is not there', async () => {
  const visitor = new Visitor(acme);
  await visitor.signIn('mallory');
  const nextMinute = () => acme.advanceTo(new Date(Math.ceil((acme.clock.now() + 1) / 60_000) * 60_000));
  // How many other names can be asked for after this one, within 10 s and after them.
  const left = async (path: string, pauses: number[]) => {
    await nextMinute();
    for (const seconds of pauses) {
      expect((await visitor.open(path)).status).toBe(404);
      await acme.advanceTo(new Date(acme.clock.now() + seconds * 1000));
    }
    let tried = 0;
    while ((await visitor.open(`/repos/acme/${path.length}-${pauses.length}-${tried}`)).status === 404)
      tried++;
    return tried;
  };
  for (const pauses of [[1], [1, 1, 1], [11, 11, 1]]) {
    const other = await left('/repos/acme/nothing', pauses);
    expect(await left('/repos/acme/vault', pauses), `${pauses}`).toBe(other);
    expect(other).toBe(namesPerMinute.caller - (pauses[0] === 1 ? 1 : 3));
  }
});

test('however many names somebody tries, the questions to GitHub are limited', async () => {
  const [mallory, ada] = [new Visitor(acme), new Visitor(acme)];
  await mallory.signIn('mallory');
  await ada.signIn('ada');
  await acme.advanceTo(new Date(acme.clock.now() + 61_000));
  const before = acme.github.requests.length;
  for (let tried = 0; tried < 40; tried++) await mallory.open(`/repos/acme/guess-${tried}`);
  // The installation says that it sees no such repository. The App is not asked.
  expect(acme.github.requests.slice(before).map(({ path }) => path)).toEqual(
    Array.from({ length: namesPerMinute.caller }, (_, tried) => `/repos/acme/guess-${tried}`),
  );
  // What is hidden cannot be told from what is not there by then either, and others go on.
  const [vault, nothing] = [
    await mallory.open('/repos/acme/vault'),
    await mallory.open('/repos/acme/nothing'),
  ];
  expect(vault.status).toBe(429);
  expect(visible(vault)).toEqual(visible(nothing));
  expect((await mallory.open('/repos/acme/web')).status).toBe(200);
  expect((await ada.open('/repos/acme/vault')).status).toBe(200);
  await acme.advanceTo(new Date(acme.clock.now() + 61_000));
  expect((await mallory.open('/repos/acme/vault')).status).toBe(404);
});

test('without the App a page is gone: for one repository, and for all', async () => {
  const other = await startAcme();
  try {
    for (const name of ['taken', 'kept']) await other.repository(name, [{}]);
    const visitor = new Visitor(other);
    await visitor.signIn('ada');
    const statuses = async () =>
      Promise.all(
        ['taken', 'kept'].map(async (name) => (await visitor.open(`/repos/acme/${name}/pulls/1`)).status),
      );
    expect(await statuses()).toEqual([200, 200]);
    other.github.removeFromInstallation('acme', ['taken']);
    await other.quiet();
    expect(await statuses()).toEqual([404, 200]);
    other.github.uninstall('acme');
    await other.quiet();
    expect(await statuses()).toEqual([404, 404]);
  } finally {
    await other.close();
  }
});

test('HEAD gets the same answer without its body', async () => {
  const visitor = new Visitor(acme);
  for (const path of ['/repos/acme/web/pulls/1', '/repos/acme/web/pulls/77', ...hidden, ...absent]) {
    const [got, head] = [await visitor.open(path), await visitor.open(path, { method: 'HEAD' })];
    expect([head.status, head.text, head.location]).toEqual([got.status, '', got.location]);
  }
});

test('every page tells browsers not to share it and to load nothing from elsewhere', async () => {
  const visitor = new Visitor(acme);
  await visitor.signIn('ada');
  for (const path of ['/', '/repos/acme/vault', ...hidden, ...absent, '/auth/callback', '/auth/sign-in']) {
    const { headers } = await visitor.open(path);
    expect(headers.get('content-security-policy'), path).toBe(
      "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    );
    expect(headers.get('cache-control'), path).toBe('private, no-store');
    expect(headers.get('x-content-type-options'), path).toBe('nosniff');
    expect(headers.get('referrer-policy'), path).toBe('same-origin');
  }
});

test('to somebody who is not signed in: each leads to signing in', async () => {
  const visitor = new Visitor(acme);
  const answers = await Promise.all([...hidden, ...absent].map((path) => visitor.open(path)));
  for (const answer of answers) {
    expect(visible(answer)).toEqual(visible(answers[0]!));
    expect(answer.location).toMatch(/^\/auth\/sign-in\?to=/);
  }
});

test('visits without a sign-in ask GitHub nothing about unknown names', async () => {
  const before = acme.github.requests.length;
  await new Visitor(acme).open('/repos/acme/nothing/pulls/1');
  expect(acme.github.requests.length).toBe(before);
});

test('numbers that a public repository does not have are not found without a sign-in', async () => {
  const visitor = new Visitor(acme);
  const answers = await Promise.all(badNumbers.map((path) => visitor.open(path)));
  expect(answers.map(({ status }) => status)).toEqual(badNumbers.map(() => 404));
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
});

test.each([
  ['SECRET_KEY', { secretKey: null }],
  ['CLIENT_ID and CLIENT_SECRET', 'no oauth'],
] as const)(
  'without %s pages of private repositories are not found, and say why',
  async (missing, config) => {
    const bare = await startAcme(config === 'no oauth' ? {} : config);
    try {
      if (config === 'no oauth') bare.app.deps.config.app.oauth = null;
      await bare.repository('web', [{}]);
      await bare.repository('vault', [{}], { private: true });
      const visitor = new Visitor(bare);
      const answers = await Promise.all(
        [...hidden, ...absent, ...badNumbers].map((path) => visitor.open(path)),
      );
      for (const answer of answers) expect(visible(answer)).toEqual(visible(answers[0]!));
      expect(answers[0]!.status).toBe(404);
      expect(answers[0]!.text).toContain(`to set ${missing}.`);
      const signIn = await visitor.open('/auth/sign-in');
      expect([signIn.status, signIn.text]).toEqual([404, expect.stringContaining(`to set ${missing}.`)]);
      expect((await visitor.open('/auth/callback?code=x&state=y')).status).toBe(404);
      expect((await visitor.open('/repos/acme/web/pulls/1')).status).toBe(200);
    } finally {
      await bare.close();
    }
  },
);
