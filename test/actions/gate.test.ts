import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { bundleAction } from '../../actions/bundle.ts';
import { acmeForAll } from '../support/acme.ts';
import { commandsIn, type CompositeAction, readAction, runAction } from '../support/composite-action.ts';

// The action as a runner would run it, against the real service. Not on GitHub itself.

const source = fileURLToPath(new URL('../../actions/gate/', import.meta.url));
const acme = acmeForAll();
let key: string;
let folder: string;
let action: CompositeAction;
beforeAll(async () => {
  key = await acme.key('acme', 'ci');
  await acme.repository('web', [{}]);
  // Where people may copy it to: it needs nothing but its folder.
  folder = mkdtempSync(join(tmpdir(), 'holdfast-action-'));
  cpSync(source, folder, { recursive: true });
  action = readAction(join(folder, 'action.yml'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function run(given: Record<string, string>, env: Record<string, string> = {}) {
  const PATH = `${dirname(process.execPath)}:${process.env['PATH']}`;
  const job = { PATH, GITHUB_REPOSITORY: 'acme/web', ...env };
  return runAction(action, { url: acme.app.url, key, ...given }, { cwd: folder, env: job });
}
const production = { environment: 'production' };
const deployments = { holds: ['deployments'], environments: ['prod*'] };

test('the folder holds what the source builds (`npm run build:action`)', async () => {
  for (const [name, text] of Object.entries(await bundleAction('gate')))
    expect(readFileSync(join(source, name), 'utf8') === text, `${name} is out of date`).toBe(true);
});

test('lets the job continue where nothing is frozen, and fails it where something is, with a link', async () => {
  const open = await run(production);
  expect([open.code, open.outputs], open.log).toEqual([0, { frozen: 'false', until: '' }]);
  expect(commandsIn(open.log).commands).toEqual([`::add-mask::${key}`]);
  const { id } = await acme.freeze('acme/web', { ...deployments, end: '2026-03-01T18:00:00' });
  const frozen = await run(production);
  expect([frozen.code, frozen.outputs]).toEqual([3, { frozen: 'true', until: '2026-03-01T18:00:00.000Z' }]);
  expect(commandsIn(frozen.log).commands[1]).toBe(
    `::error title=Holdfast::acme/web, deployments to production: frozen until 2026-03-01T18:00:00.000Z. ${acme.app.url}/repos/acme/web/freezes/${id}`,
  );
  expect((await run({ environment: 'staging' })).code).toBe(0);
  expect((await run({ base: 'main', repository: 'acme/web' }, { GITHUB_REPOSITORY: 'acme/fork' })).code).toBe(
    0,
  );
  await acme.remove('acme/web', id);
});

test('waits for the end', async () => {
  const { id } = await acme.freeze('acme/web', { ...deployments, end: '2026-03-01T09:00:05' });
  const asked = () => acme.logs.filter((line) => line.includes('freeze_state')).length;
  const before = asked();
  const running = run({ ...production, wait: 'true' });
  await vi.waitFor(() => expect(asked()).toBeGreaterThan(before));
  await acme.remove('acme/web', id);
  const ran = await running;
  expect([ran.code, ran.outputs], ran.log).toEqual([0, { frozen: 'false', until: '' }]);
  expect(commandsIn(ran.log).commands.filter((each) => each.startsWith('::warning'))).toHaveLength(1);
});

test('fails with 2 if it cannot tell', async () => {
  const wrong: Record<string, string>[] = [
    { key: 'hf_ci_wrong' },
    { key: '' },
    { wait: 'soon' },
    { environment: 'a', base: 'b' },
    { repository: 'acme' },
  ];
  for (const given of wrong) {
    const { code, log } = await run(given);
    expect([code, log]).toEqual([2, expect.stringContaining('::error title=Holdfast::')]);
  }
});

test('names that people choose are never commands', async () => {
  const { id } = await acme.freeze('acme/web', { holds: ['deployments'] });
  for (const environment of ['$(touch pwned)', '"; touch pwned; "', 'x\n::warning::pwned', '::error::x']) {
    const ran = await run({ environment });
    expect([ran.code, commandsIn(ran.log).commands.length], ran.log).toEqual([3, 2]);
    expect(() => readFileSync(join(folder, 'pwned'))).toThrow();
  }
  await acme.remove('acme/web', id);
});
