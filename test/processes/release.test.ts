import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cleanEnvironment, copyFiles, repositoryRoot, trackedFiles } from '../support/clean-copy.ts';
import { contextFiles } from '../support/image.ts';

const { version } = JSON.parse(readFileSync(join(repositoryRoot, 'package.json'), 'utf8')) as {
  version: string;
};

let folder: string;
let shell: Record<string, string>;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-release-'));
  shell = await cleanEnvironment(join(folder, 'bin'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A checkout of the same commit, in another folder and with other times of its files. */
async function checkout(name: string, unready = new Set<'changelog' | 'tag'>()): Promise<string> {
  const path = join(folder, name);
  mkdirSync(path);
  await copyFiles(trackedFiles(), path);
  for (const file of readdirSync(path)) utimesSync(join(path, file), name.length, name.length * 1000);
  const who = { GIT_AUTHOR_NAME: 'Ada', GIT_AUTHOR_EMAIL: 'ada@example.com', GIT_COMMITTER_NAME: 'Ada' };
  const when = {
    GIT_AUTHOR_DATE: '2026-03-01T10:00:00+01:00',
    GIT_COMMITTER_DATE: '2026-03-01T10:00:00+01:00',
  };
  const env = { ...shell, ...who, ...when, GIT_COMMITTER_EMAIL: 'ada@example.com', HOME: folder };
  const git = (...args: string[]) => execFileSync('git', args, { cwd: path, env });
  git('init', '--quiet');
  symlinkSync(join(repositoryRoot, 'node_modules'), join(path, 'node_modules'));
  // `npm ci` writes it.
  symlinkSync(join(repositoryRoot, 'src/generated'), join(path, 'src/generated'));
  appendFileSync(join(path, '.git/info/exclude'), 'node_modules\nsrc/generated\n');
  const changelog = join(path, 'CHANGELOG.md');
  const text = readFileSync(changelog, 'utf8');
  const isReady = !unready.has('changelog');
  const unreleased = isReady ? '' : '\n### Added\n\n- Something.\n';
  writeFileSync(
    changelog,
    text.replace(/## \[Unreleased\][^]*?(?=\n## \[)/, `## [Unreleased]\n${unreleased}`),
  );
  git('add', '--all');
  git('commit', '--quiet', '--message', 'All of it');
  if (!unready.has('tag')) git('tag', `v${version}`);
  return path;
}
const release = (path: string, to: string, umask: string, more: Record<string, string> = {}) =>
  spawnSync('sh', ['-c', `umask ${umask} && exec node release/make-release.ts "$0"`, to], {
    cwd: path,
    env: { ...shell, ...more },
    encoding: 'utf8',
  });
const filesOf = (path: string) =>
  Object.fromEntries(
    readdirSync(path)
      .toSorted()
      .map((name) => [
        name,
        createHash('sha256')
          .update(readFileSync(join(path, name)))
          .digest('hex'),
      ]),
  );
const names = (archive: string) =>
  execFileSync('tar', ['-tzf', archive], { encoding: 'utf8' })
    .split('\n')
    .filter((name) => name && !name.endsWith('/'));

test('made twice, on different days, in different zones and folders, it has the same bytes', async () => {
  const [one, other] = [join(folder, 'out'), join(folder, 'out-again')];
  const first = release(await checkout('here'), one, '022', { TZ: 'UTC' });
  expect(first.status, first.stderr).toBe(0);
  const second = release(await checkout('over-there'), other, '077', {
    TZ: 'Pacific/Auckland',
    LC_ALL: 'C.UTF-8',
  });
  expect(second.status, second.stderr).toBe(0);

  const files = filesOf(one);
  expect(filesOf(other)).toEqual(files);
  const made = [`holdfast-${version}`, `holdfast-cli-${version}`];
  expect(Object.keys(files)).toEqual([
    'SHA256SUMS',
    `${made[0]}-image.tar.gz`,
    `${made[0]}.cdx.json`,
    `${made[0]}.tar.gz`,
    `${made[1]}.tgz`,
  ]);
  execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: one });

  const inArchive = names(join(one, `${made[0]}.tar.gz`));
  expect(inArchive.toSorted()).toEqual(
    trackedFiles()
      .map((path) => `${made[0]}/${path}`)
      .toSorted(),
  );
  const inImage = names(join(one, `${made[0]}-image.tar.gz`));
  expect(inImage.toSorted()).toEqual(['Dockerfile', '.dockerignore', ...contextFiles()].toSorted());
  expect(names(join(one, `${made[1]}.tgz`))).toContain('package/dist/cli/holdfast.js');

  const sbom = JSON.parse(readFileSync(join(one, `${made[0]}.cdx.json`), 'utf8')) as {
    bomFormat: string;
    serialNumber: string;
    metadata: { timestamp: string };
    components: { name: string; hashes?: object[] }[];
  };
  expect(sbom).toMatchObject({ bomFormat: 'CycloneDX', metadata: { timestamp: '2026-03-01T09:00:00.000Z' } });
  expect(sbom.serialNumber).toMatch(
    /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  );
  const components = sbom.components.map(({ name }) => name);
  expect(components).toContain('hono');
  expect(components).not.toContain('vitest');
});

test.each([
  ['changelog', 'CHANGELOG.md has changes under [Unreleased].'],
  ['tag', `This commit has no tag v${version}.`],
] as const)('a commit is not released without its %s', async (what, sentence) => {
  const path = await checkout(`without-${what}`, new Set([what]));
  const { status, stderr } = release(path, join(folder, `out-without-${what}`), '022');
  expect(status).not.toBe(0);
  expect(stderr).toContain(sentence);
});

test('uncommitted files are not released', async () => {
  const path = await checkout('dirty');
  writeFileSync(join(path, 'more.txt'), 'not committed');
  const { status, stderr } = release(path, join(folder, 'out-of-dirty'), '022');
  expect(status).not.toBe(0);
  expect(stderr).toContain('Commit or remove:\n?? more.txt');
});
