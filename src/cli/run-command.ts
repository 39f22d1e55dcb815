import { CommanderError } from 'commander';
import { DoubtfulTime } from '../time/moment.ts';
import { type Commands, programFor } from './program.ts';
import { exitCodes, misused, notKnown, Stop } from './stop.ts';
import { jsonLine, printableLines } from './terminal/printable.ts';
import type { World } from './world.ts';

/**
 * Runs one command line, without the name of the command.
 * @param more commands in addition to those of the package. @returns the exit code.
 */
export async function runCommand(args: string[], world: World, more: Commands = {}): Promise<number> {
  let exitCode: number = exitCodes.done;
  const program = await programFor(world, args, (code) => (exitCode = code ?? exitCodes.done), more);
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return exitCodes.done;
    const { message, status, exitCode, done } = stopFor(error);
    const isJson = (args.includes('--') ? args.slice(0, args.indexOf('--')) : args).includes('--json');
    if (isJson)
      world.out.write(jsonLine({ ...done, error: message, ...(status !== undefined && { status }) }));
    // Commander has printed what is wrong.
    if (!(error instanceof CommanderError)) world.err.write(`${printableLines(message)}\n`);
    return exitCode;
  }
}

/** The end of a command that failed. */
function stopFor(error: unknown): Stop {
  if (error instanceof Stop) return error;
  if (error instanceof DoubtfulTime) return misused(error.message);
  if (error instanceof CommanderError)
    return misused(error.code === 'commander.help' ? 'Name a command. See --help.' : error.message);
  return notKnown(
    `This command failed unexpectedly, so it may or may not be done. Compare its version with that of the service, and report this:\n${(error as Error).stack}`,
  );
}
