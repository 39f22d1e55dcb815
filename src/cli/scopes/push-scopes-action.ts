// The program of actions/push-scopes. `npm run build:action` bundles it, so that a runner installs nothing.
import { connectionOf, runStep, type ActionStep } from '../action-step.ts';
import { forJobs, type Schemas, type ServiceClient, serviceAt } from '../service/service.ts';
import { type ExitCode, exitCodes, misused } from '../stop.ts';
import type { PullRequestTarget } from '../target.ts';
import { onOneLine, plainTable } from '../terminal.ts';
import type { World } from '../world.ts';
import { conclusionOf, type DiffScopes, rowsOfDiff, scopesOfDiff } from './diff-scopes.ts';

/** Inputs of the action that are options here. */
const options = ['file', 'base', 'head', 'pull-request', 'dry-run'] as const;

type Inputs = Record<(typeof options)[number], string | undefined>;

async function run(world: World, step: ActionStep, inputs: Inputs): Promise<ExitCode> {
  const isDry = inputs['dry-run'] === 'true';
  const found = await scopesOfDiff(world, inputs['pull-request'] ?? null, inputs);
  const isPushed = !isDry && !found.isMergeGroup;
  const pushed = isPushed ? await push(world, step, found) : null;
  step.log([...plainTable(rowsOfDiff(found)), conclusionOf(found, isPushed)]);
  step.output('scopes', found.pushed.scopes);
  step.output('all-scopes', found.pushed.all_scopes);
  step.output('pushed', isPushed);
  step.summarize(summaryOf(found, isPushed, pushed?.page ?? null, pushed?.state ?? null));
  return exitCodes.done;
}

async function push(world: World, step: ActionStep, { pullRequest, pushed, branch }: DiffScopes) {
  if (!pullRequest)
    throw misused(
      'This run is not about a pull request. Run the action on pull_request, or give it the input pull-request, such as acme/web#5.',
    );
  const { url, token } = await connectionOf(world, step);
  const service = serviceAt(world, url, token, forJobs);
  await service.put('/repos/{owner}/{repository}/pulls/{number}/scopes', pullRequest, pushed);
  const { owner, repository, number } = pullRequest;
  const page = `${url}/repos/${owner}/${repository}/pulls/${number}`;
  // The scopes are pushed, so the rest may fail soon.
  return { page, state: await scopesState(serviceAt(world, url, token), pullRequest, branch) };
}

/** Whether a freeze is on; null if that is not known. The scopes are pushed in any case. */
async function scopesState(
  service: ServiceClient,
  pullRequest: PullRequestTarget,
  base: string | null,
): Promise<Schemas['FreezeState'] | null> {
  if (base === null) return null;
  return service.get('/repos/{owner}/{repository}/freeze_state', pullRequest, { base }).catch(() => null);
}

/**
 * The summary of a run: which scopes, by which paths, and whether a freeze is on.
 * @param page of the pull request at Holdfast; null if there is none.
 */
function summaryOf(
  found: DiffScopes,
  isPushed: boolean,
  page: string | null,
  state: Schemas['FreezeState'] | null,
): string {
  const rows = rowsOfDiff(found).map(
    (row) => `<tr>${row.map((cell) => `<td>${code(cell)}</td>`).join('')}</tr>`,
  );
  const table = `<table><tr><th>Scope</th><th>Touched by</th></tr>${rows.join('')}</table>`;
  return [
    '### Scopes',
    `<p>${html(conclusionOf(found, isPushed))}</p>`,
    ...(rows.length > 0 ? [table] : []),
    ...(state ? [describeState(state)] : []),
    ...(page ? [`[See what blocks this pull request](${page})`] : []),
  ].join('\n\n');
}

/** A freeze may hold this pull request or not. Its page says that. */
function describeState({ frozen, next_transition_at: next, enforced }: Schemas['FreezeState']): string {
  if (!frozen) return `No freeze is on for its base branch${next ? ` until ${next}` : ''}.`;
  const warning = enforced === 'no' ? ' GitHub does not require the status of Holdfast there.' : '';
  return `**A freeze is on for its base branch${next ? ` until ${next}` : ''}.**${warning}`;
}

/** People choose the names of files and scopes, so the summary shows them as text on one line. */
const code = (text: string): string => `<code>${html(text)}</code>`;

const html = (text: string): string =>
  onOneLine(text).replace(/[&<>"'`|[\]*_~@#:\\]/g, (each) => `&#${each.codePointAt(0)};`);

await runStep(options, run);
