// Makes the files of a release, from a clean checkout with its dependencies: `npm run release -- FOLDER`.
// The same commit gives the same bytes: times come from the commit, names are sorted, and the machine adds nothing.
// The same bytes also need the same npm and Node, because they pack and compress.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { reproducibleSbom } from './sbom.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const run = (command: string, ...args: string[]): Buffer =>
  execFileSync(command, args, {
    cwd: root,
    maxBuffer: 256 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

const [folder] = process.argv.slice(2);
if (!folder) throw new Error('Name the folder for the files: npm run release -- FOLDER');
const changes = run('git', 'status', '--porcelain').toString();
if (changes) throw new Error(`A release is made from what is committed. Commit or remove:\n${changes}`);
const { version } = JSON.parse(read('package.json')) as { version: string };
const { version: versionOfCommands } = JSON.parse(read('packages/cli/package.json')) as { version: string };
if (version !== versionOfCommands)
  throw new Error(
    `package.json says ${version}, packages/cli/package.json ${versionOfCommands}: set the same.`,
  );
const changelog = read('CHANGELOG.md');
if (!changelog.includes(`\n## [${version}]`)) throw new Error(`CHANGELOG.md has no section for ${version}.`);
if (/\n## \[Unreleased\]\s+(?!## \[)\S/.test(changelog))
  throw new Error(
    `CHANGELOG.md has changes under [Unreleased]. Move them to the section of the new version.`,
  );
if (!run('git', 'tag', '--points-at', 'HEAD').toString().split('\n').includes(`v${version}`))
  throw new Error(`This commit has no tag v${version}. Make it: git tag --annotate v${version}`);

const out = resolve(folder);
mkdirSync(out, { recursive: true });
const write = (name: string, content: Buffer | string) => writeFileSync(join(out, name), content);

/** The tracked files from git: sorted, owned by root, with the time of the commit. */
const archive = (...args: string[]): Buffer =>
  gzipSync(run('git', '-c', 'tar.umask=0022', 'archive', '--format=tar', ...args), { level: 9 });

write(`holdfast-${version}.tar.gz`, archive(`--prefix=holdfast-${version}/`, 'HEAD'));

// The files that .dockerignore does not exclude, for `docker build - < FILE`.
const ofImage = read('.dockerignore')
  .split('\n')
  .filter((line) => line.startsWith('!'))
  .map((line) => line.slice(1));
write(`holdfast-${version}-image.tar.gz`, archive('HEAD', 'Dockerfile', '.dockerignore', ...ofImage));

// Built from git's files, with git's modes, because those of a checkout depend on its umask. npm sets one time for all
// files of a package.
process.umask(0o022);
const stage = mkdtempSync(join(tmpdir(), 'holdfast-release-'));
try {
  execFileSync('tar', ['-x', '-C', stage], { input: run('git', 'archive', 'HEAD') });
  symlinkSync(join(root, 'node_modules'), join(stage, 'node_modules'));
  // The types that `npm ci` writes.
  symlinkSync(join(root, 'src/generated'), join(stage, 'src/generated'));
  const pack = ['pack', '--workspace', 'holdfast-cli', '--pack-destination', out];
  execFileSync('npm', pack, { cwd: stage, stdio: ['ignore', 'ignore', 'inherit'] });
} finally {
  rmSync(stage, { recursive: true, force: true });
}

const sbom = run(
  'npm',
  'sbom',
  '--sbom-format',
  'cyclonedx',
  '--omit',
  'dev',
  '--package-lock-only',
).toString();
const [commit = '', committed = ''] = run('git', 'log', '-1', '--format=%H %cI').toString().trim().split(' ');
write(`holdfast-${version}.cdx.json`, reproducibleSbom(sbom, { name: 'holdfast', commit, committed }));

const sums = readdirSync(out)
  .filter((name) => name.includes(`-${version}`))
  .toSorted()
  .map(
    (name) =>
      `${createHash('sha256')
        .update(readFileSync(join(out, name)))
        .digest('hex')}  ${name}\n`,
  );
write('SHA256SUMS', sums.join(''));
process.stdout.write(sums.join(''));
