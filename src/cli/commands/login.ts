import { command } from '../command.ts';
import { addressesFile, keepAddress } from '../memory/addresses.ts';
import { hostOf, readAddress } from '../service/address.ts';
import { notKnown } from '../stop.ts';

export const login = command<{ host?: string }, [address: string]>({
  usage: 'login <address>',
  summary: 'save the address of Holdfast, so that other commands do not need --url',
  options: [['--host <host>', 'the GitHub host that it works with (GH_HOST, or github.com)']],
  examples: [
    ['holdfast login https://holdfast.example.com', 'Use this Holdfast from now on'],
    [
      'holdfast login https://holdfast.example.com --host github.example.com',
      'Use this Holdfast with GitHub Enterprise Server',
    ],
  ],
  notes:
    'This saves no credential. Each command uses --token, HOLDFAST_TOKEN, or the output of `gh auth token` for that GitHub host.',
  async run({ world, output }, { host = hostOf(world) }, text) {
    const url = readAddress(text);
    const { askService, CannotAsk } = await import('../doctor.ts');
    const findings = await askService({ url }).catch((error: unknown) => {
      throw error instanceof CannotAsk ? notKnown(error.message) : error;
    });
    keepAddress(world, host, url);
    for (const { message } of findings) output.line(message);
    output.line(`Kept for ${host} in ${addressesFile(world)}.`);
    output.json({ host, url });
  },
});
