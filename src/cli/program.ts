import { Command } from 'commander';
import { addCommand, type CommandSpec, type Ended } from './command.ts';
import { allow } from './commands/allow.ts';
import { complete, completion } from './commands/completion.ts';
import { conditions } from './commands/conditions.ts';
import { approve, deny } from './commands/decide.ts';
import { doctor } from './commands/doctor.ts';
import { extend } from './commands/extend.ts';
import { freeze } from './commands/freeze.ts';
import { keys } from './commands/keys.ts';
import { list } from './commands/list.ts';
import { login } from './commands/login.ts';
import { logs } from './commands/logs.ts';
import { plans } from './commands/plans.ts';
import { products } from './commands/products.ts';
import { requests } from './commands/requests.ts';
import { runFrozen } from './commands/run.ts';
import { scopes } from './commands/scopes.ts';
import { status } from './commands/status.ts';
import { unfreeze } from './commands/unfreeze.ts';
import { version } from './version.ts';
import type { World } from './world.ts';

/** Every command, as `--help` lists them. */
export const commands: CommandSpec[] = [
  ...[login, freeze, unfreeze, list, status, extend],
  ...[allow, requests, approve, deny],
  ...[plans, runFrozen, keys, products, scopes, logs, doctor, conditions, completion, complete],
];

/** The whole command line. @param ended is told how a command ended. */
export function programFor(world: World, ended: Ended): Command {
  const program = new Command('holdfast')
    .description('Merge freezes that hold, and let go.')
    .option('--url <url>', 'where Holdfast answers (HOLDFAST_URL, or what login kept)')
    .option('--token <token>', 'an application key or a GitHub token (HOLDFAST_TOKEN, or gh auth token)')
    .option('--json', 'print JSON, for programs')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => void world.out.write(text),
      writeErr: (text) => void world.err.write(text),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .exitOverride()
    .addHelpText(
      'after',
      `
Exits with 0 when it is done, 1 when the service refuses it or GitHub does not enforce it, and 2 when the command
is used wrongly or its outcome is not known. holdfast COMMAND --help shows examples.`,
    );
  program.version(version(), '--version', 'print the version of this command');
  for (const spec of commands) addCommand(program, spec, world, ended);
  return program;
}
