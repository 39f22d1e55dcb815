import type { Call } from '../call.ts';
import { command } from '../command.ts';
import type { Lease } from '../freezing/lease.ts';
import { type ExitCode, exitCodes, misused, notKnown } from '../stop.ts';
import { nameOf, readRepository } from '../target.ts';
import { conditionOptions, type ConditionOptions, conditionsIn } from './freeze-options.ts';

type Options = ConditionOptions & { message: string; freeze: string[]; lease?: string; wait?: true };

export const runFrozen = command<Options, [words: string[]]>({
  usage: 'run <command...>',
  summary: 'freeze repositories while a command runs',
  options: [
    ['--freeze <repository>', 'the repository to freeze; repeat for more', 'many'],
    ['-m, --message <reason>', 'the reason, which the status of each pull request shows', 'required'],
    ...conditionOptions,
    ['--wait', 'start the command when GitHub holds the pull requests; if it cannot, do not start'],
    ['--lease <length>', 'when the freeze ends if this machine fails (10m)'],
  ],
  examples: [
    ['holdfast run --freeze acme/web -m "Deploying" -- ./deploy.sh', 'Freeze merges during a deployment'],
    [
      'holdfast run --freeze acme/web --freeze acme/api --wait -m "Migration" -- npm run migrate',
      'Freeze two repositories, and wait until GitHub holds their pull requests',
    ],
  ],
  notes: `The freeze has an end a few minutes ahead. This moves the end while the command runs, and ends the freeze after
the command. If this machine fails, the freeze ends by itself. If somebody ends the freeze or moves its end, this
accepts it. The exit code is that of the command, or 128 plus the number of the signal that ended it. If the freeze
cannot be created, the command does not run. Without --wait, a branch that is not enforced causes only a warning.
On Windows, name a program, or write cmd /c deploy.cmd.`,
  async run(call, options, words): Promise<ExitCode> {
    if (!options.freeze) throw misused('Name what to freeze: --freeze acme/web.');
    const places = options.freeze.map(readRepository);
    const { readMilliseconds } = await import('../times/window.ts');
    const { endFreezes, makeFreezes, renewFreezes } = await import('../freezing/lease.ts');
    const length = readMilliseconds(options.lease ?? '10m');
    if (length < 120_000)
      throw misused('--lease must be at least two minutes, so that it can be renewed in time.');
    const { codeOf, hearSignals, runProgram } = await import('../run-program.ts');
    const { service } = await call.connect();
    const body = { reason: options.message, ...conditionsIn(options) };
    const lease: Lease = { service, length, body, freezes: [] };
    const signals = hearSignals(call.world.input.isTTY === true);
    try {
      await makeFreezes(call, lease, places);
      const code = options.wait ? await waitFor(call, lease, signals.stop) : exitCodes.done;
      signals.stop.throwIfAborted();
      if (code !== exitCodes.done) {
        await endFreezes(call, lease, 'GitHub does not hold, so the command did not begin');
        return code;
      }
      call.output.note(`Frozen while it runs: ${places.map(nameOf).join(', ')}.`);
      const done = new AbortController();
      const renewing = renewFreezes(call, lease, done.signal);
      const { code: ended, said } = await runProgram(words, signals);
      // A person who presses Ctrl-C from here on does not want to wait until the freeze ends.
      signals.close();
      done.abort();
      await renewing;
      await endFreezes(call, lease, `${words[0]} ended with ${said}`);
      if (ended === null) throw notKnown(`${words[0]} could not be run: ${said}.`);
      return ended as ExitCode;
    } catch (error) {
      signals.close();
      await endFreezes(call, lease, 'The command did not begin');
      if (!signals.stop.aborted) throw error;
      call.output.note(`${words[0]} did not begin.`);
      return codeOf(signals.stop.reason as NodeJS.Signals) as ExitCode;
    } finally {
      signals.close();
    }
  },
});

/** Waits until GitHub holds the pull requests, for half of the lease at most. Prints to standard error only. */
async function waitFor(
  call: Call,
  { service, freezes, length }: Lease,
  stop: AbortSignal,
): Promise<ExitCode> {
  const { exitCodeOf, sayHeld, waitUntilHeld } = await import('../freezing/wait-until-held.ts');
  const held = await waitUntilHeld(call, service, freezes, length / 2, stop);
  sayHeld(call, held);
  return exitCodeOf(held);
}
