import { command } from '../command.ts';
import { addressesFile, keepAddress } from '../memory/addresses.ts';
import { hostOf, readAddress } from '../service/address.ts';
import { notKnown } from '../stop.ts';

export const login = command<{ host?: string }, [address: string]>({
  usage: 'login <address>',
  summary: 'keep where Holdfast answers, so that no other command needs --url',
  options: [['--host <host>', 'the GitHub that it works for (GH_HOST, or github.com)']],
  examples: [
    ['holdfast login https://holdfast.example.com', 'Ask this Holdfast from now on'],
    [
      'holdfast login https://holdfast.example.com --host github.example.com',
      'The one for a GitHub of your own',
    ],
  ],
  notes:
    'No credential is kept. Each command takes --token, HOLDFAST_TOKEN, or what `gh auth token` says for that GitHub.',
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
