import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { type GlobalOptions, warnOfReaders } from '../call.ts';
import { command } from '../command.ts';
import { addressOf, hostOf } from '../service/address.ts';
import { addressFor } from '../memory/addresses.ts';
import { credentialOf } from '../service/credential.ts';
import { type ExitCode, Stop } from '../stop.ts';
import type { World } from '../world.ts';

export const doctor = command<object, [repository: string | undefined]>({
  usage: 'doctor [repository]',
  summary: 'check that Holdfast runs, and that it can enforce freezes in a repository',
  examples: [
    ['holdfast doctor', 'Check the service. You do not need a credential'],
    ['holdfast doctor acme/web', 'Check whether freezes are enforced in a repository, and how to fix it'],
  ],
  notes: `If you name no service, this asks the machine itself, at the PORT of the environment or .env.
For a repository, use an admin application key or the GitHub token of one of its admins.
The exit code is 0 if nothing failed, 1 if something failed, and 2 if this cannot tell.`,
  async run({ world, options, output }, _options, repository): Promise<ExitCode> {
    const isNamed = options.url ?? (world.env.HOLDFAST_URL?.trim() || addressFor(world, hostOf(world)));
    const url = options.url ?? (isNamed ? addressOf(world, undefined) : addressHere(world));
    const token =
      repository === undefined ? undefined : await tokenFor(world, url, options, Boolean(isNamed));
    if (token) warnOfReaders(output, url);
    const { doctor } = await import('../doctor.ts');
    return doctor({ repository, url, token, isJson: output.isJson }, world.out);
  },
});

/** The given token, unchanged: the doctor says what is wrong with it. Asks `gh` only for a service that was named. */
async function tokenFor(world: World, url: string, { token, insecure }: GlobalOptions, isNamed: boolean) {
  const given = token ?? world.env.HOLDFAST_TOKEN?.trim();
  if (given || !isNamed) return given;
  try {
    return await credentialOf(world, url, undefined, insecure);
  } catch (error) {
    if (error instanceof Stop) return undefined;
    throw error;
  }
}

/** The service on this machine: at `PORT` and `HOST` of the environment, or of `.env` in this folder. */
function addressHere({ env }: World): string {
  const file = readDotEnv();
  const value = (name: 'HOST' | 'PORT') => env[name]?.trim() || file[name]?.trim();
  const host = value('HOST') ?? 'localhost';
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  return `http://${name}:${value('PORT') ?? '3000'}`;
}

function readDotEnv(): NodeJS.Dict<string> {
  try {
    return parseEnv(readFileSync('.env', 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
}
