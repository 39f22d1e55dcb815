import type { Command } from 'commander';
import { type Seen, seenAt } from './memory/seen.ts';
import { addressOf, isReadableOnTheWay } from './service/address.ts';
import { credentialOf } from './service/credential.ts';
import type { Retries } from './service/retries.ts';
import { type Service, serviceAt } from './service/service.ts';
import { type Output, outputOf } from './terminal/output.ts';
import { version } from './version.ts';
import type { World } from './world.ts';

/** Options that every command takes. */
export type GlobalOptions = { url?: string; token?: string; insecure?: boolean; json?: boolean };

/** A call of a command: its machine, its output and its service. */
export type Call = {
  world: World;
  output: Output;
  options: GlobalOptions;
  /** The definition of the whole command line. */
  program: Command;
  /** The service, with a credential. @throws Stop if either is missing. */
  connect(retries?: Retries): Promise<{ service: Service; seen: Seen }>;
};

export function callOf(world: World, options: GlobalOptions, program: Command): Call {
  const output = outputOf(world, options.json === true);
  return {
    world,
    options,
    program,
    output,
    async connect(retries) {
      const url = addressOf(world, options.url);
      const token = await credentialOf(world, url, options.token, options.insecure);
      warnOfReaders(output, url);
      return { service: serviceAt(world, url, token, version(), retries), seen: seenAt(world, url) };
    },
  };
}

/** Call it before sending a credential. */
export function warnOfReaders(output: Output, url: string): void {
  if (isReadableOnTheWay(url))
    output.note(`Warning: others on the way to ${url} can read your credential. Use https.`);
}
