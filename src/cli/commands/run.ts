import { command } from '../command.ts';
import type { Lease } from '../freezing/lease.ts';
import { type ExitCode, exitCodes, misused, notKnown } from '../stop.ts';
import { nameOf, readRepository } from '../target.ts';
import { conditionOptions, type ConditionOptions, conditionsIn } from './freeze-options.ts';

type Options = ConditionOptions & { message: string; freeze: string[]; lease?: string; wait?: true };

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export const runFrozen = command<Options, [words: string[]]>({
  usage: 'run <command...>',
  summary: 'freeze repositories while a command runs',
  options: [
    ['--freeze <repository>', 'what to freeze; again for more', 'many'],
    ['-m, --message <reason>', 'why; it stands in the status of each pull request', 'required'],
    ...conditionOptions,
    ['--wait', 'begin the command when GitHub holds; where it cannot, do not begin'],
    ['--lease <length>', 'how soon the freeze ends by itself if this machine dies (10m)'],
  ],
  examples: [
    ['holdfast run --freeze acme/web -m "Deploying" -- ./deploy.sh', 'Nothing is merged while it deploys'],
    [
      'holdfast run --freeze acme/web --freeze acme/api --wait -m "Migration" -- npm run migrate',
      'Two repositories, and not before GitHub holds',
    ],
  ],
  notes: `The freeze has an end a few minutes ahead, which is moved while the command runs. When the command ends, so does
the freeze; if this machine dies, it ends by itself. The exit code is that of the command, or 128 and the number of
the signal that ended it. If the freeze cannot be made, the command does not run. On Windows name a program, or
write cmd /c deploy.cmd.`,
  async run(call, options, words): Promise<ExitCode> {
    if (!options.freeze) throw misused('Name what to freeze: --freeze acme/web.');
    const places = options.freeze.map(readRepository);
    const { readLength } = await import('../times/window.ts');
    const { endFreezes, makeFreezes, renewFreezes } = await import('../freezing/lease.ts');
    const { days, milliseconds } = readLength(options.lease ?? '10m');
    const length = days * 86_400_000 + milliseconds;
    if (length < 120_000)
      throw misused('--lease is two minutes at least, so that it can be renewed in time.');
    const { service } = await call.connect();
    const body = { reason: options.message, ...conditionsIn(options) };
    const lease: Lease = { service, length, body, freezes: [] };
    try {
      await makeFreezes(call, lease, places);
      if (options.wait) {
        const { exitCodeOf, showHeld, waitUntilHeld } = await import('../freezing/wait-until-held.ts');
        // What is shown belongs to standard error: the output is the command's.
        const held = await waitUntilHeld(call, service, lease.freezes, length / 2);
        const code = exitCodeOf(held);
        if (code !== exitCodes.done) {
          showHeld(call, held);
          await endFreezes(call, lease, 'GitHub does not hold, so the command did not begin');
          return code;
        }
      }
    } catch (error) {
      await endFreezes(call, lease, 'The command did not begin');
      throw error;
    }
    call.output.note(`Frozen while it runs: ${places.map(nameOf).join(', ')}.`);
    const done = new AbortController();
    const renewing = renewFreezes(call, lease, done.signal);
    const { code, said } = await runProgram(words, call.world.input.isTTY === true);
    done.abort();
    await renewing;
    await endFreezes(call, lease, `${words[0]} ended with ${said}`);
    if (code === null) throw notKnown(`${words[0]} could not be run: ${said}.`);
    return code as ExitCode;
  },
});

/** Runs a program with this terminal, without a shell; signals are passed on. @returns no code where it did not run. */
async function runProgram(
  [program, ...args]: string[],
  isAtTerminal: boolean,
): Promise<{ code: number | null; said: string }> {
  const { spawn } = await import('node:child_process');
  const { constants } = await import('node:os');
  return new Promise((resolve) => {
    const child = spawn(program!, args, { stdio: 'inherit' });
    // A terminal sends Ctrl-C to the program by itself; this one stays, to end the freeze after it.
    const isSent = (signal: NodeJS.Signals) => isAtTerminal && signal === 'SIGINT';
    const passOn = signals.map(
      (signal) => [signal, () => void (isSent(signal) || child.kill(signal))] as const,
    );
    for (const [signal, listener] of passOn) process.on(signal, listener);
    const end = (result: { code: number | null; said: string }) => {
      for (const [signal, listener] of passOn) process.off(signal, listener);
      resolve(result);
    };
    child.once('error', ({ message }) => end({ code: null, said: message }));
    child.once('exit', (code, signal) =>
      end(
        signal
          ? { code: 128 + constants.signals[signal], said: signal }
          : { code: code ?? 0, said: `exit code ${code}` },
      ),
    );
  });
}
