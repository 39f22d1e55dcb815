import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import pLimit from 'p-limit';
import { type CommandCall, command } from '../command.ts';
import { endItem } from '../freezing/items.ts';
import type { Schemas, ServiceClient } from '../service/service.ts';
import { type ExitCode, exitCodes, misused, unknownThing } from '../stop.ts';
import { nameOfTarget, readRepository, type RepositoryTarget } from '../target.ts';
import { conditionOptions, type ConditionOptions, conditionsIn } from './freeze-options.ts';

type Options = ConditionOptions & { message: string; freeze: string[]; lease?: string; wait?: true };

export const runFrozen = command<Options, [words: string[]]>({
  usage: 'run <command...>',
  summary: 'freeze repositories while a command runs',
  options: [
    ['--freeze <repository>', 'the repository to freeze; repeat for more', 'many'],
    ['-m, --message <reason>', 'the reason, which the status of each pull request shows', 'required'],
    ...conditionOptions,
    ['--wait', 'start the command when GitHub blocks the pull requests; if it cannot, do not start'],
    ['--lease <length>', 'when the freeze ends if this machine fails (10m)'],
  ],
  examples: [
    ['holdfast run --freeze acme/web -m "Deploying" -- ./deploy.sh', 'Freeze merges during a deployment'],
    [
      'holdfast run --freeze acme/web --freeze acme/api --wait -m "Migration" -- npm run migrate',
      'Freeze two repositories, and wait until GitHub blocks their pull requests',
    ],
  ],
  notes: `The freeze has an end a few minutes ahead. This moves the end while the command runs, and ends the freeze after
the command. If this machine fails, the freeze ends by itself. If somebody ends the freeze or moves its end, this
accepts it. The exit code is that of the command, or 128 plus the number of the signal that ended it. If the freeze
cannot be created, the command does not run. Without --wait, a branch that is not enforced causes only a warning.
On Windows, name a program, or write cmd /c deploy.cmd.`,
  async run(call, options, words): Promise<ExitCode> {
    if (!options.freeze) throw misused('Name what to freeze: --freeze acme/web.');
    const repositories = options.freeze.map(readRepository);
    const { readMilliseconds } = await import('../times.ts');
    const length = readMilliseconds(options.lease ?? '10m');
    if (length < 120_000)
      throw misused('--lease must be at least two minutes, so that it can be renewed in time.');
    const { service } = await call.connect();
    const body = { reason: options.message, ...conditionsIn(options) };
    const renewed: RenewedFreezes = { service, length, body, freezes: [] };
    const signals = hearSignals(call.world.input.isTTY === true);
    try {
      await createFreezes(call, renewed, repositories);
      const code = options.wait ? await waitFor(call, renewed, signals.stop) : exitCodes.done;
      signals.stop.throwIfAborted();
      if (code !== exitCodes.done) {
        await endFreezes(call, renewed, 'GitHub does not block merges, so the command did not begin');
        return code;
      }
      call.output.note(`Frozen while it runs: ${repositories.map(nameOfTarget).join(', ')}.`);
      const done = new AbortController();
      const renewing = renewFreezes(call, renewed, done.signal);
      const { code: ended, said } = await runProgram(words, signals);
      // A person who presses Ctrl-C from here on does not want to wait until the freeze ends.
      signals.close();
      done.abort();
      await renewing;
      await endFreezes(call, renewed, `${words[0]} ended with ${said}`);
      if (ended === null) throw unknownThing(`${words[0]} could not be run: ${said}.`);
      return ended as ExitCode;
    } catch (error) {
      signals.close();
      await endFreezes(call, renewed, 'The command did not begin');
      if (!signals.stop.aborted) throw error;
      call.output.note(`${words[0]} did not begin.`);
      return codeOfExit(signals.stop.reason as NodeJS.Signals) as ExitCode;
    } finally {
      signals.close();
    }
  },
});

/** Waits until GitHub blocks the pull requests, for half of the lease at most. Prints to standard error only. */
async function waitFor(
  call: CommandCall,
  { service, freezes, length }: RenewedFreezes,
  stop: AbortSignal,
): Promise<ExitCode> {
  const { exitCodeOf, noteNotHeld, waitUntilHeld } = await import('../freezing/wait-until-held.ts');
  const held = await waitUntilHeld(call, service, freezes, length / 2, stop);
  noteNotHeld(call, held);
  return exitCodeOf(held);
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
type Signal = (typeof signals)[number];

/** The exit code of a shell after a signal. */
const codeOfExit = (signal: NodeJS.Signals): number => 128 + constants.signals[signal];

/** Signals that do not end this process, because it must end freezes first. */
type Signals = {
  /** A signal while no program runs aborts it, with the name of the signal as its reason. */
  stop: AbortSignal;
  /** Passes them on to a program; with null, to none. */
  passTo(program: ChildProcess | null): void;
  /** Lets them end this process again. */
  close(): void;
};

/** @param isAtTerminal whether a terminal sends Ctrl-C to the program by itself. */
function hearSignals(isAtTerminal: boolean): Signals {
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
async function runProgram(
  [program, ...args]: string[],
  signals: Signals,
): Promise<{ code: number | null; said: string }> {
  // Not for the help of all commands.
  const { spawn } = await import('node:child_process');
  return new Promise((resolve) => {
    const child = spawn(program!, args, { stdio: 'inherit' });
    signals.passTo(child);
    child.once('error', ({ message }) => resolve({ code: null, said: message }));
    child.once('exit', (code, signal) =>
      resolve(
        signal ? { code: codeOfExit(signal), said: signal } : { code: code ?? 0, said: `exit code ${code}` },
      ),
    );
  });
}

/**
 * @property ends every end that this command set. If the freeze has another end, somebody moved it.
 * @property until the last end that the service accepted, in milliseconds.
 */
type RunFreeze = RepositoryTarget & { id: string; ends: string[]; until: number };

/**
 * Freezes that end by themselves unless they are renewed.
 * @property length milliseconds from when a freeze is created or renewed to its end.
 */
type RenewedFreezes = {
  service: ServiceClient;
  length: number;
  body: Pick<Schemas['NewScheduledFreeze'], 'reason' | 'matching_conditions' | 'exclude_conditions'>;
  freezes: RunFreeze[];
};

/** In UTC no hour comes twice, so no end is later than it should be. */
const timezone = 'UTC';
/** Several requests run at once: one that hangs does not delay the others. */
const mostSideBySide = 6;

/** Creates a freeze of each repository, from now. */
async function createFreezes(
  { world, output }: CommandCall,
  renewed: RenewedFreezes,
  repositories: RepositoryTarget[],
): Promise<void> {
  for (const repository of repositories) {
    const end = endOfRun(world, renewed);
    const body = { ...renewed.body, start: null, end, timezone };
    const path = '/repos/{owner}/{repository}/scheduled_freeze';
    const { id, warnings } = await renewed.service.post(path, repository, body);
    renewed.freezes.push({ ...repository, id, ends: [end], until: instantOfRun(end) });
    for (const warning of warnings ?? []) output.note(`Warning: ${nameOfTarget(repository)}: ${warning}`);
  }
}

/** Moves the ends, four times in each length, until the signal stops it. It warns and never throws. */
async function renewFreezes(call: CommandCall, renewed: RenewedFreezes, done: AbortSignal): Promise<void> {
  const renew = async (freeze: RunFreeze) => {
    const { owner, repository, id } = freeze;
    const end = endOfRun(call.world, renewed);
    freeze.ends.push(end);
    const path = '/repos/{owner}/{repository}/scheduled_freeze/{freeze_id}';
    await renewed.service.patch(path, { owner, repository, freeze_id: id }, { end });
    freeze.until = instantOfRun(end);
  };
  for (;;) {
    const isDone = await call.world.delay(renewed.length / 4, done).then(
      () => false,
      () => true,
    );
    if (isDone) return;
    await pLimit(mostSideBySide).map([...renewed.freezes], (freeze) =>
      changeUnlessOthersDid(call, renewed, freeze, renew).catch(({ message }: Error) =>
        call.output.note(`The freeze of ${nameOfTarget(freeze)} could not be renewed: ${message}`),
      ),
    );
  }
}

/** Ends the freezes that are left. It warns and never throws, because the freezes end by themselves. */
async function endFreezes(call: CommandCall, renewed: RenewedFreezes, reason: string): Promise<void> {
  const end = (freeze: RunFreeze) => endItem(renewed.service, { kind: 'freeze', ...freeze }, reason);
  const minutes = Math.ceil(renewed.length / 60_000);
  await pLimit(mostSideBySide).map(renewed.freezes.splice(0), (freeze) =>
    changeUnlessOthersDid(call, renewed, freeze, end).catch(({ message }: Error) =>
      call.output.note(
        `The freeze of ${nameOfTarget(freeze)} could not be ended, so it ends by itself within ${minutes} minutes: ${message}`,
      ),
    ),
  );
}

/** Changes a freeze unless somebody else ended or moved it. Their change counts, and the freeze is no longer renewed. */
async function changeUnlessOthersDid(
  call: CommandCall,
  renewed: RenewedFreezes,
  freeze: RunFreeze,
  change: (freeze: RunFreeze) => Promise<unknown>,
): Promise<void> {
  const { owner, repository, id, ends, until } = freeze;
  const path = '/repos/{owner}/{repository}/scheduled_freeze';
  const { scheduled_freezes } = await renewed.service.get(path, { owner, repository });
  const now = scheduled_freezes.find((each) => each.id === id);
  if (now && ends.includes(now.end ?? '')) return void (await change(freeze));
  const isRunning = renewed.freezes.includes(freeze);
  renewed.freezes = renewed.freezes.filter((each) => each !== freeze);
  if (now) {
    const { describeInstant, toInstant } = await import('../../time/local-time.ts');
    const { end, timezone: zone } = now;
    const moved = end === null ? 'somebody removes it' : describeInstant(toInstant(end, zone, 'end'), zone);
    call.output.note(
      `Somebody moved the end of the freeze of ${nameOfTarget(freeze)}, so it stays until ${moved}: holdfast unfreeze ${id} --in ${nameOfTarget(freeze)}`,
    );
  } else if (!isRunning) {
    // It has ended as planned.
  } else if (call.world.now() < until) {
    call.output.note(`Somebody ended the freeze of ${nameOfTarget(freeze)}. The command goes on.`);
  } else {
    call.output.note(
      `The freeze of ${nameOfTarget(freeze)} ran out before it could be renewed. It is frozen again.`,
    );
    await createFreezes(call, renewed, [{ owner, repository }]);
  }
}

const instantOfRun = (end: string): number => Date.parse(`${end}Z`);

const endOfRun = ({ now }: CommandCall['world'], { length }: RenewedFreezes): string =>
  new Date(now() + length).toISOString().slice(0, 'YYYY-MM-DDTHH:MM:SS'.length);
