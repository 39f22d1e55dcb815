// The last step of building an image, after `npm ci --omit=dev`: removes what the service never loads. Run it in a copy
// that is only started from then on; it edits node_modules in place.
//
// 1. Packages: Prisma's command line and packages that only it needs. It generated the client; the service applies
//    migrations itself. npm works out which packages those are.
// 2. Files: source maps and type declarations, which Node does not read, the query compilers and runtimes of Prisma's
//    client for other databases and for browsers and edges, and the tests of a package, which are most of it.
import { spawnSync } from 'node:child_process';
import { globSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath, URL } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

const uninstall = [
  'uninstall',
  'prisma',
  '--no-save',
  '--offline',
  '--ignore-scripts',
  '--no-audit',
  '--no-fund',
];
const { status, error } = spawnSync('npm', [...uninstall, '--omit=dev', '--omit=optional'], {
  cwd: root,
  stdio: 'inherit',
});
if (error) throw error;
if (status !== 0) process.exit(status ?? 1);

const neverLoaded = [
  'node_modules/**/*.map',
  'node_modules/**/*.d.{ts,mts,cts}',
  'node_modules/@prisma/client/runtime/*',
  'node_modules/bintrees/test',
];
const loaded =
  /@prisma\/client\/runtime\/(?:client|query_compiler_small_bg\.postgresql(?:\.wasm-base64)?)\.m?js$/;

for (const path of globSync(neverLoaded, { cwd: root }))
  if (!loaded.test(path.replaceAll('\\', '/'))) rmSync(join(root, path), { recursive: true, force: true });
