import { type CommandCall, command, type CommandSpec } from '../command.ts';
import { forJobs } from '../service/service.ts';
import { misused } from '../stop.ts';
import { nameOfPullRequest, readPullRequestTarget } from '../target.ts';

type Options = {
  all?: true;
  fromDiff?: true;
  base?: string;
  head?: string;
  file?: string;
  dryRun?: true;
};

const push = command<Options, [pullRequest: string | undefined, scopes: string[]]>({
  usage: 'push [pull-request] [scopes...]',
  summary: 'say which scopes a pull request touches, with a CI key',
  options: [
    ['--all', 'the pull request touches every scope'],
    ['--from-diff', 'find the scopes by the changed paths and scopes.yml'],
    ['--base <commit>', 'with --from-diff: the commit to compare with (in GitHub Actions, that of the run)'],
    [
      '--head <commit>',
      'with --from-diff: the last commit (in GitHub Actions, that of the run; otherwise HEAD)',
    ],
    ['--file <path>', 'with --from-diff: the file that has the paths of each scope (scopes.yml)'],
    ['--dry-run', 'with --from-diff: show the scopes, and change nothing'],
  ],
  examples: [
    [
      'holdfast scopes push acme/web#4 payments checkout',
      'Replace the scopes of a pull request by these two',
    ],
    ['holdfast scopes push acme/web#4 --all', 'Say that a pull request touches every scope'],
    [
      'holdfast scopes push --from-diff',
      'In GitHub Actions, push the scopes of the pull request of this run',
    ],
    [
      'holdfast scopes push --from-diff --base origin/main --dry-run',
      'See which scopes the commits of this branch touch',
    ],
  ],
  notes: `--from-diff uses the paths that changed since the pull request left its base. It needs the whole history of git:
use actions/checkout with fetch-depth: 0. If the pull request touches no scope, it pushes an empty list. For a merge
group it pushes nothing: Holdfast uses the scopes of its pull requests. It retries a failed push for two minutes.`,
  async run(call, options, text, scopes) {
    if (options.fromDiff) {
      if (scopes.length > 0 || options.all)
        throw misused('Write --from-diff, or say what it touches, not both.');
      return pushDiff(call, options, text);
    }
    for (const name of ['base', 'head', 'file', 'dryRun'] as const)
      if (options[name] !== undefined)
        throw misused(`--${name === 'dryRun' ? 'dry-run' : name} goes with --from-diff.`);
    if (text === undefined) throw misused('Name the pull request, such as acme/web#5, or write --from-diff.');
    const pullRequest = readPullRequestTarget(text);
    if (scopes.length === 0 && !options.all)
      throw misused('Name what it touches, or write --all or --from-diff.');
    const { service } = await call.connect(forJobs);
    const pushed = { scopes, all_scopes: options.all === true };
    await service.put('/repos/{owner}/{repository}/pulls/{number}/scopes', pullRequest, pushed);
    call.output.line(`${text} touches ${pushed.all_scopes ? 'everything' : scopes.join(', ')}.`);
    call.output.json(pushed);
  },
});

async function pushDiff(
  { world, output, connect }: CommandCall,
  options: Options,
  text: string | undefined,
): Promise<undefined> {
  const { conclusionOf, rowsOfDiff: rowsOf, scopesOfDiff } = await import('../scopes/diff-scopes.ts');
  const found = await scopesOfDiff(world, text ?? null, options);
  const { pullRequest, pushed, changed } = found;
  const isPushed = !options.dryRun && !found.isMergeGroup;
  if (isPushed) {
    if (!pullRequest) throw misused('Name the pull request, such as acme/web#5, or write --dry-run.');
    const { service } = await connect(forJobs);
    await service.put('/repos/{owner}/{repository}/pulls/{number}/scopes', pullRequest, pushed);
  }
  output.table(['SCOPE', 'BY'], rowsOf(found));
  output.line(conclusionOf(found, isPushed));
  output.json({
    pull_request: pullRequest && nameOfPullRequest(pullRequest),
    ...pushed,
    pushed: isPushed,
    changed_paths: changed.length,
    by: { scopes: Object.fromEntries(found.scopes), all_scopes: found.all },
  });
}

export const scopesCommand: CommandSpec = {
  usage: 'scopes',
  summary: 'manage the scopes that pull requests touch',
  below: [push],
};
