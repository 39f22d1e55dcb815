import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { between, documentAt } from '../docs/documents.ts';
import { repositoryRoot } from '../support/clean-copy.ts';
import { readUnit, variablesIn } from '../support/systemd-unit.ts';

const unit = 'deploy/systemd/holdfast.service';
const settings = readUnit(documentAt(unit));
const last = (name: string) => settings.get(name)?.at(-1);
/** The most that `systemd-analyze security` may say; the page tells the figure of today. */
const mostExposure = 1.5;

const analyze = (...args: string[]) =>
  spawnSync('systemd-analyze', [...args, unit], {
    cwd: repositoryRoot,
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C.UTF-8' },
  });
const whyNot =
  spawnSync('systemd-analyze', ['--version']).status === 0 ? null : 'there is no systemd-analyze';

test.each([
  ['DynamicUser', 'yes'],
  ['StateDirectory', 'holdfast'],
  ['UMask', '0077'],
  ['ProtectSystem', 'strict'],
  ['NoNewPrivileges', 'yes'],
  ['CapabilityBoundingSet', ''],
  // Node compiles at run time.
  ['MemoryDenyWriteExecute', 'no'],
])('the unit sets %s=%s', (name, value) => expect(last(name)).toBe(value));

test('the commands of docs/backup.md copy its folder', () => {
  const folder = `/var/lib/${last('StateDirectory')}`;
  expect(last('WorkingDirectory')).toBe(folder);
  expect(variablesIn(last('Environment')!)['DATA_DIR']).toBe(`${folder}/data`);
  const entered = [...documentAt('docs/backup.md').matchAll(/^cd (\S+) /gm)].map(([, path]) => path);
  expect(new Set(entered)).toEqual(new Set([folder]));
});

test('it starts the service with the flags of npm start', () => {
  const [, ...flags] = JSON.parse(documentAt('package.json')).scripts.start.split(' ');
  const [, ...words] = last('ExecStart')!.split(' ');
  expect(words).toEqual([...flags.slice(0, -1), `/opt/holdfast/${flags.at(-1)}`]);
});

test('it gives the service enough time to stop', () => {
  expect(Number(last('TimeoutStopSec'))).toBeGreaterThan(10);
});

test('systemd accepts every line of it', ({ skip }) => {
  if (whyNot) skip(whyNot);
  // It also looks for programs, which may be elsewhere on this machine.
  const { stderr } = analyze('verify', '--man=no');
  const complaints = stderr.split('\n').filter((line) => line && !line.includes('is not executable'));
  expect(complaints).toEqual([]);
});

test('it exposes as little as docs/install-systemd.md says', ({ skip }) => {
  if (whyNot) skip(whyNot);
  const { stdout } = analyze('security', '--offline=true', '--no-pager');
  const exposure = Number(/exposure level for holdfast\.service: ([\d.]+)/.exec(stdout)?.[1]);
  expect(exposure).toBeLessThanOrEqual(mostExposure);
  const told = between(documentAt('docs/install-systemd.md'), 'exposure level of **', '**');
  expect(Number(told)).toBeCloseTo(exposure, 0);
});
