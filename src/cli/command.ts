// `cli/` is the command line `holdfast`, which is installed without the service and calls its API.
import { type Command, Option } from 'commander';
import { type Memory, memoryOf } from './memory.ts';
import { addressOfService, credentialOf, isReadableOnTheWay } from './service/connection.ts';
import { type Retries, type ServiceClient, serviceAt } from './service/service.ts';
import type { ExitCode } from './stop.ts';
import { readOwner } from './target.ts';
import { type Output, outputOf } from './terminal.ts';
import type { World } from './world.ts';

/** Options that every command takes. */
export type GlobalOptions = { url?: string; token?: string; insecure?: boolean; json?: boolean };

/** The service, and what this machine saw of it. */
export type ServiceConnection = { service: ServiceClient; memory: Memory; token: string };

export type CommandCall = {
  world: World;
  output: Output;
  options: GlobalOptions;
  /** The definition of the whole command line. */
  program: Command;
  /** The service, with a credential. @throws Stop if either is missing. */
  connect(retries?: Retries): Promise<ServiceConnection>;
};

/** An option: its flags, what it does, and whether it is required or can repeat. */
export type OptionSpec = [flags: string, description: string, kind?: 'required' | 'many'];

/** A command, or a group of them. */
export type CommandSpec = {
  /** Its name and arguments, such as `extend <id>`. */
  usage: string;
  /** Another name that it had, for scripts. */
  alias?: string;
  summary: string;
  options?: OptionSpec[];
  /** Shell lines, each with what it does. */
  examples?: [line: string, does: string][];
  /** Whether `--help` leaves it out, because it is for programs. */
  isHidden?: true;
  /** More for `--help`. */
  notes?: string;
  /** @returns the exit code; nothing: done. */
  run?(call: CommandCall, ...given: never[]): Promise<ExitCode | undefined>;
  below?: CommandSpec[];
};

/** Gives `run` the types of its options and arguments: options first, then the arguments in their order. */
export const command = <Options, Args extends unknown[]>(
  spec: Omit<CommandSpec, 'run' | 'below'> & {
    run(call: CommandCall, options: Options, ...args: Args): Promise<ExitCode | undefined>;
  },
): CommandSpec => spec as unknown as CommandSpec;

/** The call of a command about an owner, with the service. */
type OwnerCall = CommandCall & ServiceConnection & { owner: string };

/** A command about an owner, which its first argument names. */
export const ownerCommand = <Options, Args extends unknown[] = []>({
  run,
  ...spec
}: Omit<CommandSpec, 'run' | 'below'> & {
  run(call: OwnerCall, options: Options, ...args: Args): Promise<ExitCode | undefined>;
}): CommandSpec =>
  command<Options, [owner: string, ...Args]>({
    ...spec,
    async run(call, options, text, ...args) {
      const owner = readOwner(text);
      return run({ ...call, ...(await call.connect()), owner }, options, ...args);
    },
  });

export type Ended = (exitCode: ExitCode | undefined) => void;

/** Adds a command to the program, with all its subcommands. */
export function addCommand(parent: Command, spec: CommandSpec, world: World, ended: Ended): void {
  const { run } = spec;
  const added = parent.command(spec.usage, { hidden: spec.isHidden ?? false }).description(spec.summary);
  if (spec.alias) added.alias(spec.alias);
  for (const [flags, description, kind] of spec.options ?? []) {
    const option = new Option(flags, description);
    if (kind === 'required') option.makeOptionMandatory();
    if (kind === 'many') option.argParser((value: string, before: string[] = []) => [...before, value]);
    added.addOption(option);
  }
  const help = [examplesOf(spec), spec.notes].filter(Boolean).join('\n\n');
  if (help) added.addHelpText('after', `\n${help}`);
  for (const below of spec.below ?? []) addCommand(added, below, world, ended);
  if (!run) return;
  added.action(async (...given: unknown[]) => {
    const self = given.pop() as Command;
    const options = given.pop();
    let program = self;
    while (program.parent) program = program.parent;
    const call = callOf(world, self.optsWithGlobals<GlobalOptions>(), program);
    ended(await run(call, ...([options, ...given] as never[])));
    await call.output.drained();
  });
}

function examplesOf({ examples = [] }: CommandSpec): string {
  if (examples.length === 0) return '';
  return ['Examples:', ...examples.flatMap(([line, does]) => [`  # ${does}`, `  $ ${line}`])].join('\n');
}

function callOf(world: World, options: GlobalOptions, program: Command): CommandCall {
  const output = outputOf(world, options.json === true);
  return {
    world,
    options,
    program,
    output,
    async connect(retries) {
      const url = addressOfService(world, options.url);
      const token = await credentialOf(world, url, options.token, options.insecure);
      warnOfReaders(output, url);
      return { service: serviceAt(world, url, token, retries), memory: memoryOf(world, url), token };
    },
  };
}

/** Call it before sending a credential. */
export function warnOfReaders(output: Output, url: string): void {
  if (isReadableOnTheWay(url))
    output.note(`Warning: others on the way to ${url} can read your credential. Use https.`);
}
