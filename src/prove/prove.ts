// `prove/` is `holdfast prove`: it asks the real GitHub for what Holdfast relies on, one row a step. The service needs
// nothing of it.

// `holdfast prove`: whether GitHub does what Holdfast relies on, asked of the real one.
import { randomBytes } from 'node:crypto';
import { accessSync, constants, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import * as z from 'zod';
import { type CommandCall, command } from '../cli/command.ts';
import { credentialOf, hostOfService } from '../cli/service/connection.ts';
import { type ExitCode, exitCodes, misused, unknownThing } from '../cli/stop.ts';
import { version } from '../cli/version.ts';
import { type ProveGround, provedOwner } from './ask.ts';
import { cleanUp, repositoriesIn, runOf } from './clean-up.ts';
import { makeApps, type ProvedApps } from './make-apps.ts';
import { proofAsJson, proofAsMarkdown, summary } from './report.ts';
import { installationOf, runSteps, uninstall } from './run-steps.ts';
import type { ProveStep } from './stage.ts';
import { notProven, steps } from './steps/all.ts';
import { needed, Unclear } from './verdict.ts';

type Options = { [flag in 'list' | 'lock' | 'clean']?: boolean } & {
  [word in 'only' | 'with' | 'app' | 'out']?: string;
};

export const prove = command<Options, [organization: string | undefined]>({
  usage: 'prove [organization]',
  summary: 'ask the real GitHub whether it does what Holdfast relies on',
  options: [
    ['--list', 'show the steps, and what is not proven'],
    ['--only <steps>', 'run these steps alone, with commas between their names'],
    ['--with <steps>', 'also run these steps, which cost much'],
    ['--lock', 'also create the second App, which switches rulesets for instant hold'],
    ['--app <file>', 'keep the Apps in this file, to use them again; without it, they are uninstalled'],
    ['--out <folder>', 'where to write prove.json and prove.md, instead of this folder'],
    ['--clean', 'delete what former runs left in the organization'],
  ],
  examples: [
    ['npx --no-install holdfast prove my-empty-org', 'Create the App, install it, and prove everything'],
    ['npx --no-install holdfast prove my-empty-org --only pending,stack', 'Prove two steps'],
    ['npx --no-install holdfast prove my-empty-org --clean', 'Delete what an interrupted run left'],
  ],
  notes: `Run it in the folder of the service, as an owner of an organization that has no repositories. It uses HOLDFAST_TOKEN,
or your token of gh, with the scopes repo, workflow, delete_repo and read:org. The repositories that it makes are called
holdfast-prove-…, and are deleted at the end. It touches no others.
The exit code is 0 if everything held, 3 if something did not, and 2 if it cannot tell.`,
  async run(call, options, organization): Promise<ExitCode> {
    if (options.list) return listSteps(call);
    if (!organization || !/^[\w-]+$/.test(organization))
      throw misused('Name an organization that has no repositories: holdfast prove my-empty-org.');
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
    const stopping = new AbortController();
    const hear = () => stopping.abort();
    for (const signal of signals) process.on(signal, hear);
    try {
      const ground = await groundOf(call, organization, stopping.signal);
      return await (options.clean ? cleanAll(call, ground) : proveAll(call, ground, options));
    } catch (error) {
      if (stopping.signal.aborted) throw unknownThing('The run was interrupted. Nothing was proved.');
      throw error instanceof Unclear ? unknownThing(error.message) : error;
    } finally {
      for (const signal of signals) process.off(signal, hear);
    }
  },
});

function listSteps({ output }: CommandCall): ExitCode {
  const rows = steps.map(({ name, proves, costs }) => [name, costs ? `${proves} (It ${costs}.)` : proves]);
  output.table(['STEP', 'WHAT GITHUB DOES'], rows);
  for (const [what, why] of Object.entries(notProven)) output.line(`Not proven: ${what}. ${why}.`);
  output.json({ steps: steps.map(({ run: _, ...step }) => step), not_proven: notProven });
  return exitCodes.done;
}

async function groundOf(call: CommandCall, organization: string, stop: AbortSignal): Promise<ProveGround> {
  const { world, output, options } = call;
  const host = hostOfService(world);
  const ofHost = host === 'github.com' ? 'https://api.github.com' : `https://${host}/api/v3`;
  const apiUrl = (world.env.GITHUB_API_URL?.trim() || ofHost).replace(/\/+$/, '');
  const token = await credentialOf(world, apiUrl, options.token, options.insecure);
  const { HTTP_PROXY: httpProxy = null, HTTPS_PROXY: httpsProxy = null, NO_PROXY: noProxy = '' } = world.env;
  const run = `holdfast-prove-${randomBytes(4).toString('hex')}`;
  const about = { world, apiUrl, proxies: { httpProxy, httpsProxy, noProxy }, organization, run };
  return { ...about, token, stop, note: output.note };
}

async function cleanAll({ output }: CommandCall, ground: ProveGround): Promise<ExitCode> {
  const { deleted, left } = await cleanUp(ground);
  output.line(deleted.length > 0 ? `Deleted ${deleted.join(', ')}.` : 'No run left a repository.');
  for (const each of left) output.note(`GitHub did not delete ${each}.`);
  const installed = await provedOwner(ground)(
    'GET',
    `/orgs/${ground.organization}/installations?per_page=100`,
  );
  for (const { app_slug: slug, html_url: url } of installed.answer?.installations ?? [])
    if (String(slug).startsWith('holdfast-prove-')) output.note(`${slug} is still installed: ${url}`);
  output.json({ deleted, left });
  return left.length > 0 ? exitCodes.notKnown : exitCodes.done;
}

async function proveAll(
  { output, world }: CommandCall,
  ground: ProveGround,
  options: Options,
): Promise<ExitCode> {
  const chosen = chosenSteps(options);
  const folder = writableFolder(resolve(world.cwd, options.out ?? '.'));
  const file = options.app === undefined ? null : resolve(world.cwd, options.app);
  if (file !== null) writableFolder(dirname(file));
  const person = await checkOwner(ground).catch((error: unknown) => {
    // The steps find out, too, and each says what it could not ask.
    if (error instanceof Unclear) return 'nobody';
    throw error;
  });
  const kept: Partial<ProvedApps> = file === null ? {} : keptIn(file);
  try {
    const apps = await appsFor(ground, kept, file, options.lock === true);
    const at = new Date(world.now()).toISOString();
    const tones = { held: 'free', 'not held': 'wrong', unknown: 'quiet' } as const;
    let count = 0;
    const proved = await runSteps(ground, apps, chosen, ({ name, proves, otherwise, verdict, why }) => {
      const shown = { text: verdict.padEnd(8), tone: tones[verdict] };
      output.line(`${String(++count).padStart(2)}/${chosen.length}  `, shown, `  ${name}: ${why ?? proves}`);
      if (verdict === 'not held') output.line(`                 What it means: ${otherwise}`);
    });
    const github = new URL(ground.apiUrl).host;
    const names = { [ground.apiUrl]: 'https://api.github.com', [ground.run]: 'holdfast-prove-run' };
    Object.assign(names, { [ground.organization]: 'acme', [person]: 'ada' });
    const proof = proofAsJson({ at, holdfast: version(), github, not_proven: notProven }, proved, names);
    writeFileSync(resolve(folder, 'prove.json'), `${JSON.stringify(proof, null, 2)}\n`);
    writeFileSync(resolve(folder, 'prove.md'), proofAsMarkdown(proof));
    output.line(`${summary(proved)} See prove.md and prove.json in ${folder}.`);
    output.json(proof);
    const is = new Set(proved.map(({ verdict }) => verdict));
    return is.has('not held') ? exitCodes.frozen : is.has('unknown') ? exitCodes.notKnown : exitCodes.done;
  } finally {
    // Also those that somebody made and did not install in time.
    for (const app of file === null ? Object.values(kept) : []) output.note(await uninstall(ground, app));
  }
}

/** A folder that files can be written to. @throws Stop before anything is made. */
function writableFolder(folder: string): string {
  try {
    if (!statSync(folder).isDirectory()) throw new Error('It is a file.');
    accessSync(folder, constants.W_OK);
    return folder;
  } catch (error) {
    throw misused(`Name a folder that you can write to. ${folder}: ${(error as Error).message}`);
  }
}

function chosenSteps({ only, with: more }: Options): ProveStep[] {
  const asked = [only, more].flatMap((text) => text?.split(',') ?? []).map((name) => name.trim());
  const unknown = asked.filter((name) => !steps.some((step) => step.name === name));
  if (unknown.length > 0) throw misused(`There is no step ${unknown.join(', ')}. See holdfast prove --list.`);
  return steps.filter(({ name, costs }) => asked.includes(name) || (only === undefined && !costs));
}

/** Whether this person can use this organization. @throws Stop for what they must change; Unclear. @returns the login. */
async function checkOwner(ground: ProveGround): Promise<string> {
  const self = await provedOwner(ground)('GET', '/user');
  if (self.status === 401) throw misused('GitHub does not accept the token. Sign in with gh auth login.');
  const { login } = needed(self, 200);
  const scopes = self.headers['x-oauth-scopes']?.split(/,\s*/);
  const missing = ['repo', 'workflow', 'delete_repo'].filter((scope) => scopes && !scopes.includes(scope));
  if (missing.length > 0)
    throw misused(`Your token lacks ${missing.join(', ')}: gh auth refresh --scopes ${missing.join(',')}`);
  const membership = await provedOwner(ground)('GET', `/user/memberships/orgs/${ground.organization}`);
  const others = (await repositoriesIn(ground)).filter((each) => runOf(each) === null);
  if (needed(membership, 200).role !== 'admin' || others.length > 0)
    throw misused(`Use an organization of yours that has no repositories: ${ground.organization} is none.`);
  return login;
}

const keptApp = z.object({ id: z.int(), slug: z.string(), html_url: z.string(), private_key: z.string() });
const keptApps = z.object({ first: keptApp, second: keptApp.exactOptional() });

/** The Apps of a file of `--app`; none if there is no file. @throws Stop if it is another file. */
function keptIn(file: string): Partial<ProvedApps> {
  if (!existsSync(file)) return {};
  const kept = keptApps.safeParse(JSON.parse(readFileSync(file, 'utf8')));
  if (kept.success) return kept.data;
  throw misused(`${file} is not a file of holdfast prove --app. Name another one.`);
}

/** Those that are kept, and new ones, each of which is kept as soon as it is made. */
async function appsFor(
  ground: ProveGround,
  kept: Partial<ProvedApps>,
  file: string | null,
  withSecond: boolean,
): Promise<ProvedApps> {
  const wanted = withSecond ? (['first', 'second'] as const) : (['first'] as const);
  const missing = wanted.filter((which) => !kept[which]);
  if (missing.length > 0)
    await makeApps(ground, missing, (which, app) => {
      kept[which] = app;
      if (file !== null) writeFileSync(file, `${JSON.stringify(kept, null, 2)}\n`, { mode: 0o600 });
    });
  for (const which of missing) await installationOf(ground, kept[which]!);
  return kept as ProvedApps;
}
