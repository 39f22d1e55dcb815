import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { acmeForAll } from '../support/acme.ts';
import { documentAt } from './documents.ts';

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
const [actions, gitlab] = blocks('yaml').map((text) => parse(text)) as [Actions, GitLab];
/** Jenkins passes on the text between the quotes, where Groovy turns two backslashes into one. */
const jenkins = /sh '''(.*?)'''/s.exec(blocks('groovy')[0]!)![1]!.replaceAll('\\\\', '\\');

type Actions = { jobs: { gate: { steps: { run: string }[] }; release: { needs: string } } };
type GitLab = { stages: string[]; gate: { script: string[] } };

const gates: Record<string, { command: string[]; script: string }> = {
  'a shell': { command: ['sh', '-c'], script: shell },
  // As the runners call them.
  'GitHub Actions': { command: ['bash', '-e', '-c'], script: actions.jobs.gate.steps[0]!.run },
  GitLab: { command: ['sh', '-e', '-c'], script: gitlab.gate.script.join('\n') },
  Jenkins: { command: ['sh', '-xe', '-c'], script: jenkins },
};

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

    const { id } = await acme.freeze('acme/web');
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

test('GitHub Actions and GitLab continue only behind the gate', () => {
  expect(actions.jobs.release.needs).toBe('gate');
  expect(gitlab.stages).toEqual(['gate', 'release']);
});

test('the gate that waits continues when the freeze ends, and asks with its ETag until then', async () => {
  const { id } = await acme.freeze('acme/web');
  const waits = run(['sh', '-c'], waiting);
  const answered = () => acme.logs.filter((line) => line.includes('freeze_state') && line.includes('304'));
  const before = answered().length;
  await vi.waitFor(() => expect(answered().length).toBeGreaterThan(before), { timeout: 20_000 });
  await acme.remove('acme/web', id);
  const { code, out } = await waits;
  expect(code, out).toBe(0);
});
