import { type Call } from '../call.ts';
import { command, type CommandSpec } from '../command.ts';
import { pushScopes } from '../scopes/push-scopes.ts';
import { forJobs } from '../service/retries.ts';
import { misused } from '../stop.ts';
import { nameOfPullRequest, readPullRequest } from '../target.ts';

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
  summary: 'say what a pull request touches, with a CI key',
  options: [
    ['--all', 'it touches everything'],
    ['--from-diff', 'work it out from the paths that it changes, by scopes.yml'],
    ['--base <commit>', 'with --from-diff: what it is compared with; a run of GitHub Actions says it itself'],
    ['--head <commit>', 'with --from-diff: its last commit; without it: that of the run, or HEAD'],
    ['--file <path>', 'with --from-diff: which paths each scope has (scopes.yml)'],
    ['--dry-run', 'with --from-diff: change nothing, show what it touches'],
  ],
  examples: [
    [
      'holdfast scopes push acme/web#4 payments checkout',
      'It touches two parts; what was said before is replaced',
    ],
    ['holdfast scopes push acme/web#4 --all', 'It touches everything'],
    ['holdfast scopes push --from-diff', 'In GitHub Actions: what the pull request of this run touches'],
    [
      'holdfast scopes push --from-diff --base origin/main --dry-run',
      'See what the commits of this branch touch',
    ],
  ],
  notes: `--from-diff takes the paths that changed since the pull request left its base. They come from git, so all history
must be there: actions/checkout with fetch-depth: 0. If no scope is touched, that is what is pushed. For a merge group
nothing is pushed: Holdfast judges it by the scopes of its pull requests. A failed push is tried again for two minutes.`,
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
    const pullRequest = readPullRequest(text);
    if (scopes.length === 0 && !options.all)
      throw misused('Name what it touches, or write --all or --from-diff.');
    const { service } = await call.connect(forJobs);
    const pushed = { scopes, all_scopes: options.all === true };
    await pushScopes(service, pullRequest, pushed);
    call.output.line(`${text} touches ${pushed.all_scopes ? 'everything' : scopes.join(', ')}.`);
    call.output.json(pushed);
    return undefined;
  },
});

async function pushDiff({ world, output, connect }: Call, options: Options, text: string | undefined) {
  const { scopesOfDiff } = await import('../scopes/diff-scopes.ts');
  const { conclusionOf, rowsOf } = await import('../scopes/describe-scopes.ts');
  const found = await scopesOfDiff(world, text ?? null, options);
  const { pullRequest, pushed, changed } = found;
  const isPushed = !options.dryRun && !found.isMergeGroup;
  if (isPushed) {
    if (!pullRequest) throw misused('Name the pull request, such as acme/web#5, or write --dry-run.');
    const { service } = await connect(forJobs);
    await pushScopes(service, pullRequest, pushed);
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
  return undefined;
}

export const scopes: CommandSpec = {
  usage: 'scopes',
  summary: 'what pull requests touch',
  below: [push],
};
