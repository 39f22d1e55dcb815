import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import type { World } from '../world.ts';

// How a step speaks to the runner:
// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands

/** What a step of GitHub Actions tells the runner. */
export type Step = {
  /** Has the log show stars in the place of a text from now on. */
  mask(secret: string): void;
  /** Prints lines that the runner takes for no commands, whatever names of files and branches they hold. */
  log(lines: string[]): void;
  /** Shows a message on the page of the run. */
  annotate(kind: 'error' | 'warning', message: string): void;
  /** A value for later steps, as JSON where it is no text. */
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
