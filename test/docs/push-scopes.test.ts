import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { compilePathTest, readScopesFile, touchedScopes } from '../../src/cli/scopes/scopes-file.ts';
import { acmeForAll } from '../support/acme.ts';
import { readAction, runAction } from '../support/composite-action.ts';
import { type Checkout, newCheckout } from '../support/git-checkout.ts';
import { documentAt, rowsOf } from './documents.ts';

const page = documentAt('docs/push-scopes.md');
const [scopesYml, workflowYml] = [...page.matchAll(/```yaml\n(.*?)```/gs)].map(([, text]) => text!);
const source = fileURLToPath(new URL('../../actions/push-scopes/', import.meta.url));

type Step = {
  uses?: string;
  run?: string;
  with?: Record<string, string | number>;
  env?: Record<string, string>;
};
type Workflow = {
  on: Record<string, { types: string[] }>;
  permissions: Record<string, string>;
  jobs: Record<string, { steps: Step[] }>;
};
const workflow = parse(workflowYml!) as Workflow;
const steps = Object.values(workflow.jobs).flatMap((job) => job.steps);

/** The table under a heading. */
const tableUnder = (heading: string) => rowsOf(page.split(`\n${heading}\n`)[1]!.split('\n#')[0]!);
const coded = (cell: string | undefined): string => /^`'?(.*?)'?`$/.exec(cell!)![1]!;

test('the example is a file of scopes, and does what it says', () => {
  const touched = touchedScopes(readScopesFile(scopesYml!, 'scopes.yml'), [
    'services/payments/a.ts',
    'services/payments/README.md',
    'web/x/y.tsx',
    '.github/workflows/ci.yml',
  ]);
  expect(Object.fromEntries(touched.scopes)).toEqual({
    payments: ['services/payments/a.ts'],
    web: ['web/x/y.tsx'],
    docs: ['services/payments/README.md'],
  });
  expect(touched.all).toEqual(['.github/workflows/ci.yml']);
});

test('each pattern of the table is one', () => {
  const patterns = rowsOf(page.slice(page.indexOf('| pattern'))).slice(0, 6);
  for (const [cell] of patterns) expect(() => compilePathTest(['**', coded(cell)])).not.toThrow();
});

test('the inputs and outputs are those of the action', () => {
  const { inputs, outputs } = readAction(join(source, 'action.yml'));
  const names = (heading: string) => tableUnder(heading).map(([cell]) => coded(cell));
  expect(names('### Inputs')).toEqual(Object.keys(inputs));
  expect(names('### Outputs')).toEqual(Object.keys(outputs));
});

test('the workflow asks for no more than it needs, and runs nothing of the pull request', () => {
  expect(workflow.permissions).toEqual({ contents: 'read', 'id-token': 'write' });
  expect(Object.keys(workflow.on)).toEqual(['pull_request_target']);
  const [checkout] = steps;
  expect([checkout!.uses, checkout!.with]).toEqual([
    expect.stringMatching(/^actions\/checkout@/),
    { 'fetch-depth': 0, filter: 'blob:none' },
  ]);
  for (const { run } of steps) expect(run ?? '').not.toContain('${{');
});

const acme = acmeForAll();
let origin: Checkout;
let runner: string;
beforeAll(async () => {
  await acme.repository('web', [{}]);
  origin = newCheckout();
  runner = mkdtempSync(join(tmpdir(), 'holdfast-runner-'));
});
afterAll(async () => {
  rmSync(runner, { recursive: true });
  origin.remove();
});

test('the workflow pushes the scopes of a pull request from a fork, by the file of the base branch', async () => {
  const key = await acme.key('acme', 'ci');
  cpSync(source, join(origin.folder, '.github/actions/push-scopes'), { recursive: true });
  const base = origin.commit({ 'scopes.yml': scopesYml!, 'web/a.ts': 'a' });
  origin.git('switch', '--quiet', '--create', 'fork');
  // It tries to be none of payments.
  const head = origin.commit({ 'services/payments/a.ts': 'a', 'scopes.yml': 'scopes: {web: web/**}\n' });
  origin.git('update-ref', 'refs/pull/1/head', head);
  origin.git('switch', '--quiet', 'main');
  origin.git('branch', '--quiet', '-D', 'fork');
  origin.git('config', 'uploadpack.allowFilter', 'true');

  const event = join(runner, 'event.json');
  const pull = { number: 1, base: { sha: base, ref: 'main' }, head: { sha: head } };
  writeFileSync(event, JSON.stringify({ repository: { full_name: 'acme/web' }, pull_request: pull }));
  const values: Record<string, string> = {
    'github.event.pull_request.number': '1',
    'secrets.HOLDFAST_CI_KEY': key,
  };
  const expand = (text: string) => text.replace(/\$\{\{ (.*?) \}\}/g, (_, name: string) => values[name]!);
  const PATH = `${dirname(process.execPath)}:${process.env['PATH']}`;
  const env = { PATH, HOME: runner, GITHUB_EVENT_PATH: event };
  const cwd = join(runner, 'work');
  const done: string[] = [];
  for (const { uses, run, with: given = {}, env: own = {} } of steps) {
    const expanded = Object.entries({ ...given, ...own }).map(([name, text]) => [name, expand(`${text}`)]);
    const inputs = Object.fromEntries(expanded) as Record<string, string>;
    if (run) execFileSync('bash', ['-e', '-c', run], { cwd, env: { ...env, ...inputs }, stdio: 'pipe' });
    else if (uses!.startsWith('actions/checkout@'))
      origin.git('clone', '--quiet', '--filter=blob:none', `file://${origin.folder}`, cwd);
    else {
      const action = readAction(join(cwd, uses!, 'action.yml'));
      const ran = await runAction(action, { ...inputs, url: acme.app.url }, { cwd, env });
      expect(ran.code, ran.log).toBe(0);
      expect(ran.outputs).toMatchObject({ scopes: '["payments"]', 'all-scopes': 'true' });
    }
    done.push(uses ?? run!);
  }
  expect(done).toHaveLength(3);
  const stored = await acme.app.deps.db.pullRequestScopes.findFirstOrThrow({ where: { number: 1 } });
  expect([stored.scopes, stored.allScopes]).toEqual([['payments'], true]);
  await acme.quiet();
});
