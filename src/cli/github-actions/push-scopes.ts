// The program of actions/push-scopes. `npm run build:action` bundles it, so that a runner installs nothing.
import { parseArgs } from 'node:util';
import { conclusionOf, rowsOf } from '../scopes/describe-scopes.ts';
import { type DiffScopes, scopesOfDiff } from '../scopes/diff-scopes.ts';
import { pushScopes } from '../scopes/push-scopes.ts';
import { addressOf, isReadableOnTheWay } from '../service/address.ts';
import { credentialOf } from '../service/credential.ts';
import { tokenOfJob } from '../service/job-token.ts';
import { forJobs, forPeople } from '../service/retries.ts';
import { serviceAt, v1 } from '../service/service.ts';
import { exitCodes, misused, Stop } from '../stop.ts';
import { type PullRequest } from '../target.ts';
import { plainTable } from '../terminal/table.ts';
import { version } from '../version.ts';
import { thisMachine, type World } from '../world.ts';
import { type Step, stepOf } from './step.ts';
import { type BranchState, summaryOf } from './summary.ts';

/** Inputs of the action that are options here. An input without a value is empty. */
const options = { file: '', base: '', head: '', 'pull-request': '', 'dry-run': '' };

const machine = thisMachine();
const step = stepOf(machine);
try {
  await run(machine, step, inputsIn(process.argv.slice(2)));
} catch (error) {
  const message = error instanceof Stop ? error.message : `Report this: ${(error as Error).stack}`;
  step.annotate('error', message);
  process.exitCode = error instanceof Stop ? error.exitCode : exitCodes.notKnown;
}

function inputsIn(args: string[]): Record<keyof typeof options, string | undefined> {
  const names = Object.keys(options).map((name) => [name, { type: 'string' }] as const);
  const { values } = parseArgs({ args, options: Object.fromEntries(names), strict: true });
  const given = Object.entries({ ...options, ...values }).map(([name, value]) => [
    name,
    String(value).trim() || undefined,
  ]);
  return Object.fromEntries(given);
}

async function run(world: World, step: Step, inputs: ReturnType<typeof inputsIn>): Promise<void> {
  const isDry = inputs['dry-run'] === 'true';
  const found = await scopesOfDiff(world, inputs['pull-request'] ?? null, inputs);
  const isPushed = !isDry && !found.isMergeGroup;
  const pushed = isPushed ? await push(world, step, found) : null;
  step.log([...plainTable(rowsOf(found)), conclusionOf(found, isPushed)]);
  step.output('scopes', found.pushed.scopes);
  step.output('all-scopes', found.pushed.all_scopes);
  step.output('pushed', isPushed);
  step.summarize(summaryOf(found, isPushed, pushed?.page ?? null, pushed?.state ?? null));
}

async function push(world: World, step: Step, { pullRequest, pushed, branch }: DiffScopes) {
  if (!pullRequest)
    throw misused(
      'This run is not about a pull request. Run the action on pull_request, or give it the input pull-request, such as acme/web#5.',
    );
  const url = addressOf(world, undefined);
  if (isReadableOnTheWay(url))
    step.annotate('warning', `Others on the way to ${url} can read the credential. Use https.`);
  const token = await tokenFor(world, url);
  step.mask(token);
  await pushScopes(serviceAt(world, url, token, version(), forJobs), pullRequest, pushed);
  const { owner, repository, number } = pullRequest;
  const page = `${url}/repos/${owner}/${repository}/pulls/${number}`;
  return { page, state: await stateOf(world, url, token, pullRequest, branch) };
}

/** The given key, or the token of this job. Never that of `gh`, which is the job's own token at GitHub. */
async function tokenFor(world: World, url: string): Promise<string> {
  const token = world.env.HOLDFAST_TOKEN?.trim() || (await tokenOfJob(world, url));
  if (!token)
    throw misused(
      'There is no credential. Give the input key a CI key of Holdfast, or the job permissions: id-token: write. Pull requests from forks get neither.',
    );
  return credentialOf(world, url, token);
}

/** Whether a freeze is on; null if that is not known. The scopes are pushed in any case. */
async function stateOf(
  world: World,
  url: string,
  token: string,
  { owner, repository }: PullRequest,
  branch: string | null,
): Promise<BranchState | null> {
  if (branch === null) return null;
  const service = serviceAt(world, url, token, version(), forPeople);
  const path = v1('repos', owner, repository, 'freeze_state');
  return service.get<BranchState>(path, { base: branch }).catch(() => null);
}
