import { CommanderError } from 'commander';
import { DoubtfulTime } from '../time/doubtful-time.ts';
import { programFor } from './program.ts';
import { exitCodes, misused, Stop } from './stop.ts';
import { printableLines } from './terminal/printable.ts';
import type { World } from './world.ts';

/** Runs one command line, without the name of the command. @returns what the shell is told. */
export async function runCommand(args: string[], world: World): Promise<number> {
  let exitCode: number = exitCodes.done;
  const program = await programFor(world, args, (code) => (exitCode = code ?? exitCodes.done));
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    // Commander has said what is wrong, or printed the help that was asked for.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.notKnown;
    const stop = error instanceof DoubtfulTime ? misused(error.message) : error;
    if (!(stop instanceof Stop)) throw error;
    const { message, status } = stop;
    if (program.opts<{ json?: boolean }>().json)
      world.out.write(`${JSON.stringify({ error: message, ...(status !== undefined && { status }) })}\n`);
    world.err.write(`${printableLines(message)}\n`);
    return stop.exitCode;
  }
}
