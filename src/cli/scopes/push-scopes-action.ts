// The program of actions/push-scopes. `npm run build:action` bundles it, so that a runner installs nothing.
import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { addressOf, isReadableOnTheWay } from '../service/address.ts';
import { credentialOf, tokenOfJob } from '../service/credential.ts';
import { forJobs, type Schemas, type Service, serviceAt } from '../service/service.ts';
import { exitCodes, misused, Stop } from '../stop.ts';
import type { PullRequest } from '../target.ts';
import { onOneLine, plainTable } from '../terminal.ts';
import { thisMachine, type World } from '../world.ts';
import { conclusionOf, type DiffScopes, rowsOf, scopesOfDiff } from './diff-scopes.ts';

/** Inputs of the action that are options here. An input without a value is empty. */
const options = { file: '', base: '', head: '', 'pull-request': '', 'dry-run': '' };

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
  const service = serviceAt(world, url, token, forJobs);
  await service.put('/repos/{owner}/{repository}/pulls/{number}/scopes', pullRequest, pushed);
  const { owner, repository, number } = pullRequest;
  const page = `${url}/repos/${owner}/${repository}/pulls/${number}`;
  // The scopes are pushed, so the rest may fail soon.
  return { page, state: await stateOf(serviceAt(world, url, token), pullRequest, branch) };
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
  service: Service,
  pullRequest: PullRequest,
  base: string | null,
): Promise<Schemas['FreezeState'] | null> {
  if (base === null) return null;
  return service.get('/repos/{owner}/{repository}/freeze_state', pullRequest, { base }).catch(() => null);
}

// The messages of a step to the runner:
// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands

/** The messages of a step of GitHub Actions to the runner. */
type Step = {
  /** Masks a text in the log from now on. */
  mask(secret: string): void;
  /** Prints lines that the runner never reads as commands, for any names of files and branches. */
  log(lines: string[]): void;
  /** Shows a message on the page of the run. */
  annotate(kind: 'error' | 'warning', message: string): void;
  /** A value for later steps, as JSON if it is not a text. */
  output(name: string, value: unknown): void;
  /** Adds to the summary of the run, in Markdown. */
  summarize(markdown: string): void;
};

function stepOf({ env, out }: Pick<World, 'env' | 'out'>): Step {
  const command = (name: string, text: string) => void out.write(`::${name}::${escaped(text)}\n`);
  const append = (path: string | undefined, text: string) => {
    if (path) appendFileSync(path, `${text}\n`);
  };
  return {
    mask: (secret) => command('add-mask', secret),
    log(lines) {
      const token = randomUUID();
      command('stop-commands', token);
      for (const line of lines) out.write(`${line}\n`);
      command(token, '');
    },
    annotate: (kind, message) => command(`${kind} title=Holdfast`, message),
    output(name, value) {
      // JSON has no line breaks.
      append(env.GITHUB_OUTPUT, `${name}=${JSON.stringify(value)}`);
    },
    summarize: (markdown) => append(env.GITHUB_STEP_SUMMARY, markdown),
  };
}

const escaped = (text: string): string =>
  text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');

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
  const rows = rowsOf(found).map((row) => `<tr>${row.map((cell) => `<td>${code(cell)}</td>`).join('')}</tr>`);
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

const machine = thisMachine();
const step = stepOf(machine);
try {
  await run(machine, step, inputsIn(process.argv.slice(2)));
} catch (error) {
  const message = error instanceof Stop ? error.message : `Report this: ${(error as Error).stack}`;
  step.annotate('error', message);
  process.exitCode = error instanceof Stop ? error.exitCode : exitCodes.notKnown;
}
