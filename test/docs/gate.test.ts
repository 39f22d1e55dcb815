import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { acmeForAll } from '../support/acme.ts';
import { readAction, runAction } from '../support/composite-action.ts';
import { documentAt, rowsOf } from './documents.ts';

// The scripts of docs/gate.md, taken out of what surrounds them and run by the shell that would run them.

const acme = acmeForAll();
let ci: string;
let folder: string;
beforeAll(async () => {
  await acme.repository('web', [{}]);
  ci = await acme.key('acme', 'ci');
  folder = await mkdtemp(join(tmpdir(), 'holdfast-gate-'));
});
afterAll(() => rm(folder, { recursive: true }));

const page = documentAt('docs/gate.md');
const blocks = (language: string) =>
  [...page.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))].map(([, text]) => text!);

const [shell, waiting] = blocks('sh') as [string, string];
const [command] = blocks('bash') as [string];
const [actions, gitlab, argo] = blocks('yaml').map((text) => parse(text)) as [Actions, GitLab, Argo];
const [spinnaker] = blocks('json').map((text) => JSON.parse(text)) as [Spinnaker];
/** A job that waits is ended by its first pause. */
const endedByPause = `sleep() { exit 7; }\n${waiting}`;
/** Jenkins passes on the text between the quotes, where Groovy turns two backslashes into one. */
const jenkins = /sh '''(.*?)'''/s.exec(blocks('groovy')[0]!)![1]!.replaceAll('\\\\', '\\');

type Step = { uses: string; with?: Record<string, string> };
type Actions = { jobs: { gate: { steps: Step[] }; release: { needs: string } } };
type Container = { command: string[]; args: [string] };
type Argo = {
  metadata: { annotations: Record<string, string> };
  spec: { template: { spec: { containers: [Container] } } };
};
type Spinnaker = [
  { url: string; customHeaders: object },
  { preconditions: [{ context: { expression: string } }] },
];
const container = argo.spec.template.spec.containers[0];
type GitLab = { stages: string[]; gate: { script: string[] } };

const gates: Record<string, { command: string[]; script: string }> = {
  'a shell': { command: ['sh', '-c'], script: shell },
  // As the runners call them.
  GitLab: { command: ['sh', '-e', '-c'], script: gitlab.gate.script.join('\n') },
  Jenkins: { command: ['sh', '-xe', '-c'], script: jenkins },
  'Argo CD': { command: container.command, script: container.args[0] },
};
const deployments = { holds: ['deployments'], environments: ['prod*'] };

const run = ([shell, ...options]: string[], script: string, more: Record<string, string> = {}) =>
  new Promise<{ code: number; out: string }>((resolve) => {
    const env = {
      PATH: process.env['PATH']!,
      HOLDFAST: acme.app.url,
      HOLDFAST_CI_KEY: ci,
      GITHUB_REPOSITORY: 'acme/web',
      PAUSE: '0',
      ...more,
    };
    execFile(shell!, [...options, script], { env, cwd: folder }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, out: stdout + stderr }),
    );
  });

describe.each(Object.entries(gates))('%s', (name, { command, script }) => {
  test('lets through what is not frozen, and nothing else', async () => {
    const open = await run(command, script);
    expect(open.code, open.out).toBe(0);
    expect(open.out).toContain('"frozen":false');

    const { id } = await acme.freeze('acme/web', deployments);
    const frozen = await run(command, script);
    expect([name, frozen.code]).toEqual([name, 1]);
    expect(frozen.out).toContain('acme/web is frozen');
    await acme.remove('acme/web', id);

    // And if there is no answer.
    const wrong: Record<string, string>[] = [
      { HOLDFAST_CI_KEY: 'hf_ci_x' },
      { HOLDFAST: `${acme.app.url}/elsewhere` },
    ];
    for (const more of wrong) expect((await run(command, script, more)).code).not.toBe(0);
  });
});

// The folder is that of all tests of this file, as the workspace of a runner is that of all runs.
describe.each(
  Object.entries({ ...gates, 'a shell that waits': { command: ['sh', '-ec'], script: endedByPause } }),
)('%s, again in the same folder', (_name, { command, script }) => {
  const away = { HOLDFAST: 'http://127.0.0.1:9' };

  test('stops when a freeze began since, and where Holdfast is away', async () => {
    expect((await run(command, script)).code).toBe(0);
    expect((await run(command, script)).code).toBe(0);
    expect((await run(command, script, away)).code).not.toBe(0);
    const { id } = await acme.freeze('acme/web', deployments);
    expect((await run(command, script)).code).not.toBe(0);
    expect((await run(command, script)).code).not.toBe(0);
    expect((await run(command, script, away)).code).not.toBe(0);
    await acme.remove('acme/web', id);
    expect((await run(command, script)).code).toBe(0);
  });
});

test('GitHub Actions: the action, with its inputs of the page', async () => {
  const given = actions.jobs.gate.steps[1]!;
  const source = fileURLToPath(new URL('../../actions/gate/', import.meta.url));
  await cp(source, join(folder, given.uses), { recursive: true });
  const action = readAction(join(folder, given.uses, 'action.yml'));
  const table = page.slice(page.indexOf('| input'), page.indexOf('Its outputs are'));
  expect(rowsOf(table).map(([name]) => name!.replaceAll('`', ''))).toEqual(Object.keys(action.inputs));
  const values: Record<string, string> = { 'vars.HOLDFAST': acme.app.url, 'secrets.HOLDFAST_CI_KEY': ci };
  const inputs = Object.fromEntries(
    Object.entries(given.with!).map(([name, text]) => [
      name,
      text.replace(/\$\{\{ (.*?) \}\}/g, (_, value: string) => values[value]!),
    ]),
  );
  const PATH = `${dirname(process.execPath)}:${process.env['PATH']}`;
  const job = { cwd: folder, env: { PATH, GITHUB_REPOSITORY: 'acme/web' } };
  expect((await runAction(action, inputs, job)).code).toBe(0);
  const { id } = await acme.freeze('acme/web', deployments);
  expect((await runAction(action, inputs, job)).code).toBe(3);
  await acme.remove('acme/web', id);
});

test('the command line exits with 3 while it is frozen', async () => {
  const bin = fileURLToPath(new URL('../../bin/holdfast.mjs', import.meta.url));
  const script = `holdfast() { "${process.execPath}" "${bin}" "$@"; }\n${command}`;
  expect(await run(['bash', '-c'], script)).toMatchObject({ code: 0 });
  const { id } = await acme.freeze('acme/web', deployments);
  expect(await run(['bash', '-c'], script)).toMatchObject({ code: 3 });
  await acme.remove('acme/web', id);
});

test('Spinnaker asks for the state, and its expression reads what the answer has', async () => {
  const [{ url, customHeaders }, { preconditions }] = spinnaker;
  const { pathname, search } = new URL(url);
  expect(customHeaders).toEqual({ Authorization: 'Bearer hf_ci_…' });
  const { body } = await acme.call('GET', pathname + search, { as: ci });
  const [, field] = /\['body'\]\['(\w+)'\] == false/.exec(preconditions[0].context.expression)!;
  expect(body[field!]).toBe(false);
});

test('Argo CD runs its job before each sync', () => {
  expect(argo.metadata.annotations['argocd.argoproj.io/hook']).toBe('PreSync');
});

test('GitHub Actions and GitLab continue only behind the gate', () => {
  expect(actions.jobs.release.needs).toBe('gate');
  expect(gitlab.stages).toEqual(['gate', 'release']);
});

test('the gate that waits continues when the freeze ends, and asks with its ETag until then', async () => {
  const { id } = await acme.freeze('acme/web', deployments);
  const waits = run(['sh', '-c'], waiting);
  const answered = () => acme.logs.filter((line) => line.includes('freeze_state') && line.includes('304'));
  const before = answered().length;
  await vi.waitFor(() => expect(answered().length).toBeGreaterThan(before));
  await acme.remove('acme/web', id);
  const { code, out } = await waits;
  expect(code, out).toBe(0);
});
