import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
type Signal = (typeof signals)[number];

/** The exit code of a shell after a signal. */
export const codeOf = (signal: NodeJS.Signals): number => 128 + constants.signals[signal];

/** Signals that do not end this process, because it must end freezes first. */
export type Signals = {
  /** A signal while no program runs aborts it, with the name of the signal as its reason. */
  stop: AbortSignal;
  /** Passes them on to a program; with null, to none. */
  passTo(program: ChildProcess | null): void;
  /** Lets them end this process again. */
  close(): void;
};

/** @param isAtTerminal whether a terminal sends Ctrl-C to the program by itself. */
export function hearSignals(isAtTerminal: boolean): Signals {
  const stopping = new AbortController();
  let program: ChildProcess | null = null;
  const hear = (signal: Signal) => {
    if (!program) stopping.abort(signal);
    else if (!(isAtTerminal && signal === 'SIGINT')) program.kill(signal);
  };
  for (const signal of signals) process.on(signal, hear);
  return {
    stop: stopping.signal,
    passTo: (next) => void (program = next),
    close: () => {
      for (const signal of signals) process.off(signal, hear);
    },
  };
}

/** Runs a program with this terminal, without a shell. @returns no code if it did not run. */
export async function runProgram(
  [program, ...args]: string[],
  signals: Signals,
): Promise<{ code: number | null; said: string }> {
  return new Promise((resolve) => {
    const child = spawn(program!, args, { stdio: 'inherit' });
    signals.passTo(child);
    child.once('error', ({ message }) => resolve({ code: null, said: message }));
    child.once('exit', (code, signal) =>
      resolve(
        signal ? { code: codeOf(signal), said: signal } : { code: code ?? 0, said: `exit code ${code}` },
      ),
    );
  });
}
