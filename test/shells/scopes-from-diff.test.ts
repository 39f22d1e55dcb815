import { createServer, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { acmeForAll } from '../support/acme.ts';
import { type Circumstances, type CommandLine, commandLineFor } from '../support/command-line.ts';
import { type Checkout, newCheckout } from '../support/git-checkout.ts';

const acme = acmeForAll();
let line: CommandLine;
beforeAll(async () => {
  line = commandLineFor(acme, await acme.key('acme', 'ci'));
  await acme.repository('web', [{}, {}]);
});
afterAll(() => line.close());

const scopesYml = `
scopes:
  payments: ['services/payments/**', '!**/*.md']
  docs: '**/*.md'
all_scopes: [package-lock.json]
`;

let checkout: Checkout;
let base: string;
beforeEach(() => {
  checkout = newCheckout();
  base = checkout.commit({ 'scopes.yml': scopesYml, 'services/payments/a.ts': 'a', 'old.md': 'long enough' });
  checkout.git('switch', '--quiet', '--create', 'topic');
});
afterEach(async () => {
  checkout.remove();
  await acme.quiet();
});

const here = (env: Record<string, string | undefined> = {}, folder = checkout.folder): Circumstances => ({
  cwd: folder,
  env: { PATH: process.env['PATH'], ...env },
});
const push = (words: string[], more: Circumstances = here()) =>
  line.holdfast(['scopes', 'push', '--from-diff', ...words], more);

/** An event of GitHub Actions; @returns the circumstances of its run. */
function runOf(event: object, folder = checkout.folder): Circumstances {
  const path = join(folder, '.git', 'event.json');
  writeFileSync(path, JSON.stringify({ repository: { full_name: 'acme/web' }, ...event }));
  return here({ GITHUB_EVENT_PATH: path }, folder);
}
const pullRequestEvent = (number: number, head: string) => ({
  pull_request: { number, base: { sha: base, ref: 'main' }, head: { sha: head } },
});

const stored = async (number: number) => {
  const row = await acme.app.deps.db.pullRequestScopes.findFirst({ where: { number } });
  return row && { scopes: row.scopes, all: row.allScopes };
};

describe('in a run of GitHub Actions', () => {
  test('the pull request and its commits are those of the event, and what it touches is pushed', async () => {
    const head = checkout.commit({ 'services/payments/a.ts': 'b', 'docs/x.md': 'x', 'other.txt': 'x' });
    const said = await push([], runOf(pullRequestEvent(1, head)));
    expect([said.code, said.err]).toEqual([0, '']);
    expect(said.out).toBe(
      'payments\tservices/payments/a.ts\ndocs\tdocs/x.md\nacme/web#1 touches payments, docs (3 changed paths).\n',
    );
    expect(await stored(1)).toEqual({ scopes: ['payments', 'docs'], all: false });
  });

  test('a freeze of a scope holds pull requests that touch it, and frees those that no longer do', async () => {
    const { id } = await acme.freeze('acme/web', { matching_conditions: ['scope=payments'] });
    const head = checkout.commit({ 'services/payments/a.ts': 'b' });
    await push([], runOf(pullRequestEvent(2, head)));
    await acme.quiet();
    expect(acme.frozen('acme/web')).toContain(2);
    const next = checkout.commit({ 'services/payments/a.ts': 'a', x: 'x' });
    const said = await push([], runOf(pullRequestEvent(2, next)));
    expect(said.out).toBe('acme/web#2 touches no scope (1 changed path).\n');
    await acme.quiet();
    expect(acme.frozen('acme/web')).not.toContain(2);
    expect(await stored(2)).toEqual({ scopes: [], all: false });
    await acme.remove('acme/web', id);
  });

  test('paths that touch everything are pushed as that', async () => {
    const head = checkout.commit({ 'package-lock.json': '{}' });
    const said = await push(['--json'], runOf(pullRequestEvent(1, head)));
    expect(said.json()).toEqual({
      pull_request: 'acme/web#1',
      scopes: [],
      all_scopes: true,
      pushed: true,
      changed_paths: 1,
      by: { scopes: {}, all_scopes: ['package-lock.json'] },
    });
    expect(await stored(1)).toEqual({ scopes: [], all: true });
  });

  test('a merge group has the scopes of its pull requests: it is shown, and nothing is pushed', async () => {
    const head = checkout.commit({ 'services/payments/a.ts': 'b' });
    const group = { merge_group: { base_sha: base, head_sha: head } };
    const said = await push([], { ...runOf(group), env: { ...runOf(group).env, HOLDFAST_TOKEN: 'none' } });
    expect([said.code, said.out]).toEqual([
      0,
      expect.stringContaining('This merge group touches payments (1 changed path). Nothing was pushed'),
    ]);
  });

  test('an event about no pull request names nothing to compare with', async () => {
    const said = await push([], runOf({ ref: 'refs/heads/main' }));
    expect([said.code, said.err]).toEqual([2, expect.stringContaining('such as --base origin/main')]);
    const other = await push(['acme/api#1'], runOf(pullRequestEvent(1, base)));
    expect([other.code, other.err]).toEqual([2, expect.stringContaining('such as --base origin/main')]);
    const gone = await push([], here({ GITHUB_EVENT_PATH: '/nowhere/event.json' }));
    expect([gone.code, gone.err]).toEqual([2, expect.stringContaining('/nowhere/event.json is not there')]);
  });
});

describe('what changed', () => {
  const changed = async (words: string[] = []) => {
    const said = await push(['--base', 'main', '--dry-run', '--json', ...words]);
    expect(said.code, said.err).toBe(0);
    return said.json();
  };

  test('a renamed file counts with both names, a deleted one with its own', async () => {
    checkout.git('mv', 'old.md', 'services/payments/new.ts');
    checkout.commit({ 'services/payments/a.ts': null });
    expect((await changed()).by.scopes).toEqual({
      payments: ['services/payments/a.ts', 'services/payments/new.ts'],
      docs: ['old.md'],
    });
  });

  test('names are used unchanged', async () => {
    const names = ['a b.md', 'ä "quoted".md', 'tab\there.md', 'two\nlines.md', '-x.md', '$(touch pwned).md'];
    checkout.commit(Object.fromEntries(names.map((name) => [name, 'x'])));
    expect((await changed()).by.scopes.docs.toSorted()).toEqual(names.toSorted());
  });

  test('is counted from where the branch left its base, from any folder, with any settings of git', async () => {
    checkout.commit({ 'services/payments/b.ts': 'b', 'top.md': 'x' });
    checkout.git('switch', '--quiet', 'main');
    checkout.commit({ 'later.md': 'x' });
    checkout.git('switch', '--quiet', 'topic');
    checkout.git('config', 'diff.relative', 'true');
    checkout.git('config', 'diff.renames', 'copies');
    const words = ['--base', 'main', '--dry-run', '--json', '--file', '../scopes.yml'];
    const said = await push(words, here({}, join(checkout.folder, 'services')));
    expect(said.json().by.scopes).toEqual({ payments: ['services/payments/b.ts'], docs: ['top.md'] });
  });

  test('--head names another last commit, and nothing changed is no scope', async () => {
    checkout.commit({ 'x.md': 'x' });
    expect(await changed(['--head', 'main'])).toMatchObject({ scopes: [], changed_paths: 0 });
  });

  test('a shallow checkout is refused, and says fetch-depth: 0', async () => {
    const head = checkout.commit({ 'x.md': 'x' });
    const copy = checkout.shallowCopy(1);
    const said = await push([], runOf(pullRequestEvent(1, head), copy.folder));
    copy.remove();
    expect([said.code, said.err]).toEqual([2, expect.stringContaining('fetch-depth: 0')]);
  });

  test.each([['gone'], ['--output=pwned'], ['--since=yesterday'], ['main^{tree}'], ['']])(
    'a base %j that is not a commit is refused',
    async (name) => {
      const said = await push([`--base=${name}`, '--dry-run']);
      expect([said.code, said.err]).toEqual([
        2,
        expect.stringContaining(`git does not have the commit "${name}"`),
      ]);
    },
  );

  test('no repository, commits that have nothing in common, and no git', async () => {
    const outside = await push(['--base', 'main', '--file', join(checkout.folder, 'scopes.yml')], {
      ...here({ GIT_CEILING_DIRECTORIES: '/' }),
      cwd: line.home,
    });
    expect([outside.code, outside.err]).toEqual([2, expect.stringContaining('not a git repository')]);
    checkout.git('switch', '--quiet', '--orphan', 'other');
    checkout.commit({ 'scopes.yml': scopesYml });
    const apart = await push(['--base', 'main', '--dry-run']);
    expect([apart.code, apart.err]).toEqual([2, expect.stringContaining('no merge base')]);
    const none = await push(['--base', 'main'], here({ PATH: '/nowhere' }));
    expect([none.code, none.err]).toEqual([2, expect.stringContaining('git is not installed here')]);
  });
});

describe('the file', () => {
  test('is named, and must exist and be valid', async () => {
    const gone = await push(['--base', 'main', '--file', 'ci/scopes.yml']);
    expect([gone.code, gone.err]).toEqual([2, expect.stringContaining('There is no ci/scopes.yml.')]);
    checkout.commit({ 'scopes.yml': '' });
    const empty = await push(['--base', 'main']);
    expect([empty.code, empty.err]).toEqual([2, expect.stringContaining('scopes.yml:1: The file does not')]);
    const ofWindows = async (encoding: BufferEncoding) => {
      writeFileSync(join(checkout.folder, 'scopes.yml'), Buffer.from(`\uFEFF${scopesYml}`, encoding));
      return push(['--base', 'main', '--dry-run']);
    };
    const wide = await ofWindows('utf16le');
    expect([wide.code, wide.err]).toEqual([2, expect.stringContaining('scopes.yml is in UTF-16')]);
    expect((await ofWindows('utf8')).err).not.toContain('scopes.yml');
  });
});

describe('the command line', () => {
  test.each([
    [['--base', 'main'], 'Name the pull request, such as acme/web#5, or write --dry-run.'],
    [['acme/web#1', 'payments', '--base', 'main'], 'Write --from-diff, or say what it touches, not both.'],
    [['acme/web#1', '--all', '--base', 'main'], 'Write --from-diff, or say what it touches, not both.'],
  ])('%j is wrong', async (words, message) => {
    const said = await push(words);
    expect([said.code, said.err]).toEqual([2, `${message}\n`]);
  });

  test.each([
    [['acme/web#1', 'a', '--base', 'main'], '--base goes with --from-diff.'],
    [['acme/web#1', 'a', '--dry-run'], '--dry-run goes with --from-diff.'],
    [[], 'Name the pull request, such as acme/web#5, or write --from-diff.'],
  ])('without --from-diff %j is wrong', async (words, message) => {
    const said = await line.holdfast(['scopes', 'push', ...words], here());
    expect([said.code, said.err]).toEqual([2, `${message}\n`]);
  });
});

test('a push outlasts a restart: it waits as the service says, or longer each time, for two minutes in total', async () => {
  let time = 0;
  const waits: number[] = [];
  const answers = [
    (response: ServerResponse) => void response.destroy(),
    (response: ServerResponse) => void response.writeHead(429, { 'Retry-After': '7' }).end('{"detail": "x"}'),
    (response: ServerResponse) => void response.writeHead(500).end('{"detail": "x"}'),
    (response: ServerResponse) => void response.writeHead(503).end('{"detail": "x"}'),
  ];
  let asked = 0;
  let isBack = true;
  const server = createServer((_, response) => {
    const answer = answers[isBack ? asked : asked % answers.length];
    asked++;
    if (answer) answer(response);
    else response.writeHead(204).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  checkout.commit({ 'x.md': 'x' });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/below`;
  const more = {
    ...here(),
    now: () => time,
    delay: async (milliseconds: number) => {
      waits.push(milliseconds);
      time += milliseconds;
    },
  };
  const words = ['acme/web#1', '--base', 'main', '--url', url];
  const said = await push(words, more);
  expect([said.code, said.err.trim()]).toEqual([
    0,
    expect.stringMatching(/^Holdfast does not answer at .* Trying for up to 2 minutes\.$/),
  ]);
  const [first, told, third, fourth] = waits as [number, number, number, number];
  expect([waits.length, told]).toEqual([4, 7000]);
  for (const [wait, most] of [
    [first, 1000],
    [third, 4000],
    [fourth, 8000],
  ] as const)
    expect([wait >= most / 2, wait <= most]).toEqual([true, true]);

  isBack = false;
  waits.length = 0;
  const down = await push(words, more);
  expect(down.code).toBe(2);
  expect(waits.length).toBe(7);
  expect(waits.reduce((sum, wait) => sum + wait, 0)).toBeLessThan(120_000);
  server.closeAllConnections();
  server.close();
});
