// Runs a composite action as GitHub documents it: https://docs.github.com/en/actions/reference/workflows-and-actions/metadata-syntax
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';

const expressionless = z.string().refine((text) => !text.includes('${{'), 'No expressions here.');
const id = z.string().regex(/^[A-Za-z_][\w-]*$/);
/** What a step of a composite action may have, of which this runner knows all but `uses`. */
const step = z.strictObject({
  id: id.optional(),
  name: expressionless.optional(),
  shell: z.literal('bash'),
  // An expression would be put into the script before the shell reads it.
  run: expressionless,
  env: z.record(z.string().regex(/^[A-Z][A-Z0-9_]*$/), z.string()).optional(),
});
const input = z.strictObject({
  description: expressionless.min(10),
  required: z.boolean(),
  default: expressionless.optional(),
});
const action = z.strictObject({
  name: expressionless.min(1),
  description: expressionless.min(10).max(125),
  inputs: z.record(id, input),
  outputs: z.record(id, z.strictObject({ description: expressionless.min(10), value: z.string() })),
  runs: z.strictObject({ using: z.literal('composite'), steps: z.array(step).min(1) }),
});

export type CompositeAction = z.infer<typeof action> & { folder: string };

/** @throws where it has anything that GitHub does not know, or that this runner cannot do. */
export function readAction(path: string): CompositeAction {
  return { ...action.parse(parse(readFileSync(path, 'utf8'))), folder: dirname(path) };
}

export type Ran = {
  code: number;
  /** Standard output and error of all steps. */
  log: string;
  outputs: Record<string, string>;
  summary: string;
};

/** Runs the steps one after the other in a checkout, up to the first that fails. @param env of the job. */
export async function runAction(
  { inputs, outputs, runs, folder }: CompositeAction,
  given: Record<string, string>,
  { cwd, env }: { cwd: string; env: Record<string, string> },
): Promise<Ran> {
  for (const name of Object.keys(given)) if (!(name in inputs)) throw new Error(`There is no input ${name}.`);
  const context: Record<string, string> = {};
  for (const [name, { default: usual = '' }] of Object.entries(inputs))
    context[`inputs.${name}`] = given[name] ?? usual;
  const ran: Ran = { code: 0, log: '', outputs: {}, summary: '' };
  const files = mkdtempSync(join(tmpdir(), 'holdfast-step-'));
  for (const { id = '', run, env: own = {} } of runs.steps) {
    const [output, summary, script] = ['output', 'summary', 'script.sh'].map((name) => join(files, name));
    for (const [file, text] of [
      [output, ''],
      [summary, ''],
      [script, run],
    ])
      writeFileSync(file!, text!);
    const expanded = Object.fromEntries(
      Object.entries(own).map(([name, text]) => [name, expand(text, context)]),
    );
    const { code, log } = await bash(script!, cwd, {
      GITHUB_ACTIONS: 'true',
      GITHUB_ACTION_PATH: folder,
      GITHUB_OUTPUT: output!,
      GITHUB_STEP_SUMMARY: summary!,
      ...env,
      ...expanded,
    });
    ran.log += log;
    ran.summary += readFileSync(summary!, 'utf8');
    for (const line of readFileSync(output!, 'utf8').split('\n').filter(Boolean)) {
      const [, name, value] = /^([\w-]+)=(.*)$/.exec(line) ?? [];
      if (name === undefined) throw new Error(`Not a line of GITHUB_OUTPUT: ${line}`);
      context[`steps.${id}.outputs.${name}`] = value!;
    }
    ran.code = code;
    if (code !== 0) break;
  }
  rmSync(files, { recursive: true });
  for (const [name, { value }] of Object.entries(outputs)) ran.outputs[name] = expand(value, context);
  return ran;
}

/** Puts values in the place of expressions. What is not there is empty, as GitHub has it. */
const expand = (text: string, context: Record<string, string>): string =>
  text.replace(/\$\{\{(.*?)\}\}/g, (_, expression: string) => {
    const name = expression.trim();
    if (!/^(?:inputs\.[\w-]+|steps\.[\w-]+\.outputs\.[\w-]+)$/.test(name))
      throw new Error(`This runner does not know the expression ${name}.`);
    if (name.startsWith('inputs.') && !(name in context)) throw new Error(`There is no ${name}.`);
    return context[name] ?? '';
  });

/** As `shell: bash` is documented. */
function bash(script: string, cwd: string, env: Record<string, string>) {
  const args = ['--noprofile', '--norc', '-eo', 'pipefail', script];
  return new Promise<{ code: number; log: string }>((resolve, reject) => {
    execFile('/bin/bash', args, { cwd, env }, (error, out, err) => {
      if (error && typeof error.code !== 'number') reject(error);
      else resolve({ code: Number(error?.code ?? 0), log: out + err });
    });
  });
}

/** What a runner does with a log: which lines are commands, and what is printed of the others. */
export function commandsIn(log: string): { commands: string[]; printed: string[] } {
  const commands: string[] = [];
  const printed: string[] = [];
  let stoppedBy: string | null = null;
  for (const line of log.split('\n')) {
    const [, name, value] = /^\s*::([^: ]+)[^:]*::(.*)$/.exec(line) ?? [];
    if (stoppedBy !== null) {
      if (name === stoppedBy) stoppedBy = null;
      else printed.push(line);
    } else if (name === 'stop-commands') stoppedBy = value!;
    else if (name !== undefined) commands.push(line.trim());
    else printed.push(line);
  }
  return { commands, printed };
}
