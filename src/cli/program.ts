import { Command, CommanderError } from 'commander';
import { nearNames } from '../conditions/suggest-names.ts';
import { DoubtfulTime } from '../time/moment.ts';
import { addCommand, type CommandSpec, type Ended } from './command.ts';
import { exitCodes, misused, unknownThing, CommandStop } from './stop.ts';
import { jsonLine, printableLines } from './terminal.ts';
import { version } from './version.ts';
import type { World } from './world.ts';

/** Commands by name. Each is loaded when it is called. */
export type Commands = Record<string, () => Promise<CommandSpec>>;

/** Every command of the package, in the order of `--help`. */
const commands: Commands = {
  login: async () => (await import('./commands/doctor.ts')).login,
  freeze: async () => (await import('./commands/freeze.ts')).freezeCommand,
  unfreeze: async () => (await import('./commands/unfreeze.ts')).unfreezeCommand,
  list: async () => (await import('./commands/list.ts')).listCommand,
  status: async () => (await import('./commands/status.ts')).status,
  gate: async () => (await import('./commands/status.ts')).gate,
  extend: async () => (await import('./commands/unfreeze.ts')).extendCommand,
  allow: async () => (await import('./commands/exemptions.ts')).allow,
  requests: async () => (await import('./commands/exemptions.ts')).requests,
  approve: async () => (await import('./commands/exemptions.ts')).approveCommand,
  deny: async () => (await import('./commands/exemptions.ts')).denyCommand,
  deployments: async () => (await import('./commands/list.ts')).deploymentsCommand,
  plans: async () => (await import('./commands/plans.ts')).plans,
  run: async () => (await import('./commands/run.ts')).runFrozen,
  keys: async () => (await import('./commands/keys.ts')).keys,
  'oidc-rules': async () => (await import('./commands/keys.ts')).oidcRules,
  webhooks: async () => (await import('./commands/webhooks.ts')).webhooks,
  settings: async () => (await import('./commands/settings.ts')).settingsCommand,
  products: async () => (await import('./commands/settings.ts')).productsCommand,
  scopes: async () => (await import('./commands/scopes.ts')).scopesCommand,
  calendar: async () => (await import('./commands/list.ts')).calendar,
  audit: async () => (await import('./commands/audit.ts')).audit,
  whoami: async () => (await import('./commands/keys.ts')).whoami,
  doctor: async () => (await import('./commands/doctor.ts')).doctor,
  conditions: async () => (await import('./commands/conditions.ts')).conditionsCommand,
  completion: async () => (await import('./commands/completion.ts')).completion,
  complete: async () => (await import('./commands/completion.ts')).completeCommand,
};

/** Other names of commands. */
const aliases: Record<string, string> = { logs: 'audit' };

/** The definitions of all commands. @param more commands in addition to those of the package. */
export const allCommands = (more: Commands = {}): Promise<CommandSpec[]> =>
  Promise.all(Object.values({ ...commands, ...more }).map((load) => load()));

/**
 * The commands that a command line can call: those that it names, because loading all takes longer than most commands.
 * If it names none, help or a suggestion needs all. Completion needs all, too.
 */
async function commandsIn(words: string[], more: Commands): Promise<CommandSpec[]> {
  if (words.join() === '--version') return [];
  const asked = words.map((word) => aliases[word] ?? word);
  const named = Object.entries({ ...commands, ...more }).filter(([name]) => asked.includes(name));
  const isAll = named.length === 0 || named.some(([name]) => name === 'complete');
  return isAll ? allCommands(more) : Promise.all(named.map(([, load]) => load()));
}

/** The program for a command line. @param ended called when the command ends; @param more as for `allCommands`. */
async function programFor(
  world: World,
  words: string[],
  ended: Ended,
  more: Commands = {},
): Promise<Command> {
  const program = new Command('holdfast')
    .description('Merge freezes for GitHub.')
    .option('--url <url>', 'the address of Holdfast (HOLDFAST_URL, or the address that login saved)')
    .option(
      '--token <token>',
      'an application key, a GitHub token or an OIDC token of a job (HOLDFAST_TOKEN, or gh auth token)',
    )
    .option('--insecure', 'send the token of gh also over http to another machine')
    .option('--json', 'print JSON, for programs')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => void world.out.write(text),
      writeErr: (text) => void world.err.write(withoutFarNames(text)),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .exitOverride()
    .addHelpText(
      'after',
      `
Exits with 0 when it is done, 1 when the service refuses it or GitHub does not enforce it, and 2 when the command
is used wrongly or its outcome is unknown. gate exits with 3 if something is frozen. For examples, use holdfast COMMAND --help.`,
    );
  program.version(version(), '--version', 'print the version of this command');
  for (const spec of await commandsIn(words, more)) addCommand(program, spec, world, ended);
  return program;
}

/** A word with fewer letters has at most one typo. */
const shortWord = 6;

/** Commander proposes names that share few letters with the word, such as `logs` for `bogus`. */
const withoutFarNames = (text: string): string =>
  text.replace(/\n\(Did you mean (?:one of )?([^?]+)\?\)/, (advice, names: string) => {
    const word = /'([^']+)'/.exec(text)?.[1] ?? '';
    const most = word.length < shortWord ? 1 : 2;
    return nearNames(word, names.split(', '), most).length > 0 ? advice : '';
  });

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
function stopFor(error: unknown): CommandStop {
  if (error instanceof CommandStop) return error;
  if (error instanceof DoubtfulTime) return misused(error.message);
  if (error instanceof CommanderError)
    return misused(error.code === 'commander.help' ? 'Name a command. See --help.' : error.message);
  return unknownThing(
    `This command failed unexpectedly, so it may or may not be done. Compare its version with that of the service, and report this:\n${(error as Error).stack}`,
  );
}
