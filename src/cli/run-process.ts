import module from 'node:module';
import { join } from 'node:path';
import { stateFolder } from './memory.ts';
import type { Commands } from './program.ts';
import { thisMachine } from './world.ts';

/** Runs the command line of this process. @param more commands in addition to those of the package. */
export async function runProcess(more: Commands = {}): Promise<void> {
  // A reader that stops reading, such as `head`, is not a failure.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });

  if (Number(process.versions.node.split('.')[0]) < 22) {
    process.stderr.write(`holdfast needs Node 22 or later; this is ${process.versions.node}.\n`);
    process.exit(2);
  }

  const machine = thisMachine();
  // Node caches the compiled code there, which halves the time of a start. Early versions of Node 22 cannot.
  module.enableCompileCache?.(join(stateFolder(machine), 'code'));

  const { runCommand } = await import('./program.ts');
  process.exitCode = await runCommand(process.argv.slice(2), machine, more);
}
