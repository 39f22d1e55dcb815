import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import type { World } from '../world.ts';

// The messages of a step to the runner:
// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands

/** The messages of a step of GitHub Actions to the runner. */
export type Step = {
  /** Masks a text in the log from now on. */
  mask(secret: string): void;
  /** Prints lines that the runner never reads as commands, for any names of files and branches. */
  log(lines: string[]): void;
  /** Shows a message on the page of the run. */
  annotate(kind: 'error' | 'warning', message: string): void;
  /** A value for later steps, as JSON if it is not a text. */
  output(name: string, value: unknown): void;
  /** Adds to the summary of the run, in Markdown. */
  summarize(markdown: string): void;
};

export function stepOf({ env, out }: Pick<World, 'env' | 'out'>): Step {
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
      append(env.GITHUB_OUTPUT, `${name}=${JSON.stringify(value)}`);
    },
    summarize: (markdown) => append(env.GITHUB_STEP_SUMMARY, markdown),
  };
}

const escaped = (text: string): string =>
  text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
