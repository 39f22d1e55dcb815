import { command, type CommandSpec } from '../command.ts';
import { v1 } from '../service/service.ts';
import { misused } from '../stop.ts';
import { readPullRequest } from '../target.ts';

const push = command<{ all?: true }, [pullRequest: string, scopes: string[]]>({
  usage: 'push <pull-request> [scopes...]',
  summary: 'say what a pull request touches, with a CI key',
  options: [['--all', 'it touches everything']],
  examples: [
    [
      'holdfast scopes push acme/web#4 payments checkout',
      'It touches two parts; what was said before is replaced',
    ],
    ['holdfast scopes push acme/web#4 --all', 'It touches everything'],
  ],
  async run({ output, connect }, { all }, text, scopes) {
    const { owner, repository, number } = readPullRequest(text);
    if (scopes.length === 0 && !all) throw misused('Name what it touches, or write --all.');
    const { service } = await connect();
    const body = { scopes, all_scopes: all === true };
    await service.put(v1('repos', owner, repository, 'pulls', number, 'scopes'), body);
    output.line(`${text} touches ${all ? 'everything' : scopes.join(', ')}.`);
    output.json(body);
  },
});

export const scopes: CommandSpec = {
  usage: 'scopes',
  summary: 'what pull requests touch',
  below: [push],
};
