// What the programs of actions/ share: a step of GitHub Actions.
import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { addressOfService, credentialOf, isReadableOnTheWay, tokenOfJob } from './service/connection.ts';
import { type ExitCode, exitCodes, misused, CommandStop } from './stop.ts';
import { thisMachine, type World } from './world.ts';

/**
 * Runs the program of a step on this machine. A failure is an error on the page of the run.
 * @param names of the inputs that are options of the program. An input without a value is undefined.
 */
export async function runStep<Name extends string>(
  names: readonly Name[],
  run: (world: World, step: ActionStep, inputs: Record<Name, string | undefined>) => Promise<ExitCode>,
): Promise<void> {
  const machine = thisMachine();
  const step = stepOf(machine);
  try {
    const options = Object.fromEntries(names.map((name) => [name, { type: 'string' }] as const));
    const { values } = parseArgs({ args: process.argv.slice(2), options, strict: true });
    const given = names.map((name) => [name, String(values[name] ?? '').trim() || undefined]);
    process.exitCode = await run(
      machine,
      step,
      Object.fromEntries(given) as Record<Name, string | undefined>,
    );
  } catch (error) {
    const message = error instanceof CommandStop ? error.message : `Report this: ${(error as Error).stack}`;
    step.annotate('error', message);
    process.exitCode = error instanceof CommandStop ? error.exitCode : exitCodes.notKnown;
  }
}

/** The service of the step, and the credential, which the log no longer shows from now on. */
export async function connectionOf(world: World, step: ActionStep): Promise<{ url: string; token: string }> {
  const url = addressOfService(world, undefined);
  if (isReadableOnTheWay(url))
    step.annotate('warning', `Others on the way to ${url} can read the credential. Use https.`);
  const token = await tokenFor(world, url);
  step.mask(token);
  return { url, token };
}

/** The given key, or the token of this job. Never that of `gh`, which is the job's own token at GitHub. */
async function tokenFor(world: World, url: string): Promise<string> {
  const token = world.env.HOLDFAST_TOKEN?.trim() || (await tokenOfJob(world, url));
  if (!token)
    throw misused(
      'There is no credential. Give the input key a CI key of Holdfast, or the job permissions: id-token: write. Pull requests from forks get neither.',
    );
  return credentialOf(world, url, token);
}

// The messages of a step to the runner:
// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands

/** The messages of a step of GitHub Actions to the runner. */
export type ActionStep = {
  /** Masks a text in the log from now on. */
  mask(secret: string): void;
  /** Prints lines that the runner never reads as commands, for any names of files and branches. */
  log(lines: string[]): void;
  /** Shows a message on the page of the run. */
  annotate(kind: 'error' | 'warning', message: string): void;
  /** A value for later steps, as JSON if it is not a text. A text has one line. */
  output(name: string, value: unknown): void;
  /** Adds to the summary of the run, in Markdown. */
  summarize(markdown: string): void;
};

function stepOf({ env, out }: Pick<World, 'env' | 'out'>): ActionStep {
  const command = (name: string, text: string) => void out.write(`::${name}::${escaped(text)}\n`);
  const append = (path: string | undefined, text: string) => {
    if (path) appendFileSync(path, `${text}\n`);
  };
  return {
    mask: (secret) => command('add-mask', secret),
    log(lines) {
      const token = randomUUID();
      command('stop-commands', token);
      for (const line of lines) out.write(`${line}\n`);
      command(token, '');
    },
    annotate: (kind, message) => command(`${kind} title=Holdfast`, message),
    output(name, value) {
      // JSON has no line breaks.
      append(env.GITHUB_OUTPUT, `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
    },
    summarize: (markdown) => append(env.GITHUB_STEP_SUMMARY, markdown),
  };
}

const escaped = (text: string): string =>
  text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
