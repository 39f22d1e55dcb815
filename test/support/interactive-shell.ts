// An interactive bash, as the person has it who pastes a document into it: it lives on between the blocks. So a trap on
// EXIT does not run yet, and `set -e` or `exit` ends the session.
import { spawn } from 'node:child_process';
import { once } from 'node:events';

export type Shell = {
  /**
   * Pastes commands and waits until they are done.
   * @returns what they printed, and the exit code of the last one. @throws Error if the shell ended.
   */
  paste(commands: string): Promise<{ code: number; out: string }>;
  /** Leaves it, as a person does. */
  leave(): Promise<void>;
};

/** @param env replaces the environment of the test. */
export function openShell(env: Record<string, string | undefined>, cwd?: string): Shell {
  // Prompts go to the other stream. In a session of its own it does not take the terminal of the tests.
  const child = spawn('bash', ['--norc', '-i'], { env: { ...env, HISTFILE: '' }, cwd, detached: true });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  child.stdin.on('error', () => {});
  const ended = once(child, 'exit');
  let count = 0;

  async function paste(commands: string): Promise<{ code: number; out: string }> {
    const [from, mark] = [out.length, `== ${++count} pastes are done: `];
    child.stdin.write(`${commands}\nprintf '\\n${mark}%s\\n' "$?"\n`);
    const end = new RegExp(`\n${mark}(\\d+)\n`);
    while (!end.test(out)) {
      const hasEnded = await Promise.race([
        once(child.stdout, 'data').then(() => false),
        ended.then(() => true),
      ]);
      if (hasEnded) throw new Error(`The shell ended:\n${out.slice(from)}\n${err}`);
    }
    const { 1: code, index } = end.exec(out)!;
    return { code: Number(code), out: out.slice(from, index) };
  }

  return {
    paste,
    async leave() {
      child.stdin.end();
      await ended;
    },
  };
}

/** Bash whose `date -d` counts from so many days ahead of now. */
export const clockAhead = (days: number): string => `date() {
  local words=()
  while [ $# -gt 0 ]; do
    if [ "$1" = -d ]; then words+=(-d "$2 ${days} days"); shift; else words+=("$1"); fi
    shift
  done
  command date "\${words[@]}"
}`;
