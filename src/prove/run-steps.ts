// A whole run: the stage, each step, and the end of everything that it made.
import { createPrivateKey } from 'node:crypto';
import { unknownThing } from '../cli/stop.ts';
import { appToken } from '../github/app-token.ts';
import { type Ask, askAs, type ProveCaller, type Exchange, type ProveGround } from './ask.ts';
import { cleanUp } from './clean-up.ts';
import { manifestOf, type ProvedApp, type ProvedApps } from './make-apps.ts';
import type { Proved } from './report.ts';
import { Stage, type ProveStep } from './stage.ts';
import { given, needed, NotHeld, Unclear } from './verdict.ts';

const asApp = (ground: ProveGround, { id, private_key: key }: ProvedApp, tape?: Exchange[]): Ask =>
  askAs(ground, 'app', async () => (await appToken(id, createPrivateKey(key), ground.world.now())).jwt, tape);

/** The installation of an App, as soon as there is one. @throws Unclear; Stop if nobody installs it in ten minutes. */
export async function installationOf(ground: ProveGround, app: ProvedApp): Promise<number> {
  const { organization, world } = ground;
  const latest = world.now() + 600_000;
  for (let isTold = false; ; isTold = true) {
    const installation = await asApp(ground, app)('GET', `/orgs/${organization}/installation`);
    if (installation.status !== 404) return needed(installation, 200).id;
    if (world.now() >= latest) throw unknownThing(`Nobody installed ${app.slug}. Nothing was proved.`);
    const where = `${app.html_url}/installations/new`;
    if (!isTold) ground.note(`Waiting until you install ${app.slug} on all repositories, at ${where}.`);
    await world.delay(2000, ground.stop);
  }
}

/** Everything that steps work with. @throws Unclear */
async function stageOf(ground: ProveGround, { first, second }: ProvedApps, tape: Exchange[]): Promise<Stage> {
  const installed = async (as: ProveCaller, app: ProvedApp, permissions?: Record<string, string>) => {
    const ask = asApp(ground, app);
    const found = await ask('GET', `/orgs/${ground.organization}/installation`);
    given(found.status !== 404, `GitHub shows no installation: ${app.html_url}/installations/new`);
    const { id } = needed(found);
    const made = await ask('POST', `/app/installations/${id}/access_tokens`, { permissions });
    const { token } = needed(made);
    return (takesLimits = false) => askAs(ground, as, async () => token, tape, takesLimits);
  };
  const bot = await installed('installation', first);
  const owner = askAs(ground, 'ada', async () => ground.token, tape);
  return new Stage({
    ...{ ...ground, tape, owner },
    app: asApp(ground, first, tape),
    bot: bot(),
    impatientBot: bot(true),
    ruler: second ? (await installed('second', second))() : owner,
    weakBot: (await installed('weak', first, { metadata: 'read' }))(),
    appId: first.id,
    wanted: manifestOf(ground.run, 'http://127.0.0.1'),
  });
}

/** Runs the steps one after the other, and deletes what they made. One that fails does not stop the others. */
export async function runSteps(ground: ProveGround, apps: ProvedApps, steps: ProveStep[], tell: Tell) {
  const tape: Exchange[] = [];
  const proved: Proved[] = [];
  ground.note(`Making ${ground.organization}/${ground.run} to prove it in.`);
  try {
    let stage: Stage | null = null;
    const failure = await outcomeOf(ground.stop, async () => {
      stage = await stageOf(ground, apps, tape);
      await stage.build();
    });
    const before = [...tape];
    for (const { run, costs: _, ...step } of steps) {
      tape.length = 0;
      const outcome = failure.why
        ? { verdict: 'unknown' as const, why: `The run could not be prepared. ${failure.why}` }
        : await outcomeOf(ground.stop, () => run(stage!));
      proved.push({ ...step, ...outcome, exchanges: [...before, ...tape] });
      tell(proved.at(-1)!);
    }
  } finally {
    await tidy(ground);
  }
  return proved;
}

type StepOutcome = Pick<Proved, 'verdict' | 'why'>;
type Tell = (proved: Proved) => void;

async function outcomeOf(stop: AbortSignal, work: () => Promise<unknown>): Promise<StepOutcome> {
  const held = (how?: unknown): StepOutcome => ({
    verdict: 'held',
    why: typeof how === 'string' ? how : null,
  });
  const whyNot = (error: Error): StepOutcome => {
    if (error instanceof NotHeld) return { verdict: 'not held', why: error.message };
    const form = error instanceof Unclear ? '' : 'GitHub answered in another form than expected: ';
    return { verdict: 'unknown', why: form + error.message };
  };
  const outcome = stop.aborted ? held() : await work().then(held, whyNot);
  const isCutOff = stop.aborted && outcome.verdict !== 'not held';
  return isCutOff ? { verdict: 'unknown', why: 'The run was interrupted.' } : outcome;
}

/** Deletes what this run made, also after an interruption, and says what it could not delete. */
async function tidy(ground: ProveGround): Promise<void> {
  const again = `Run holdfast prove ${ground.organization} --clean.`;
  try {
    const { deleted, left } = await cleanUp({ ...ground, stop: new AbortController().signal }, ground.run);
    if (deleted.length > 0) ground.note(`Deleted ${deleted.join(', ')}.`);
    if (left.length > 0) ground.note(`GitHub did not delete ${left.join(', ')}. ${again}`);
  } catch (error) {
    ground.note(`${(error as Error).message} What the run made may still be there. ${again}`);
  }
}

/** Uninstalls an App, also after an interruption. @returns what became of it, and what is left to do for a person. */
export async function uninstall(ground: ProveGround, app: ProvedApp): Promise<string> {
  const ask = asApp({ ...ground, stop: new AbortController().signal }, app);
  const remove = async () => {
    const { status, answer } = await ask('GET', `/orgs/${ground.organization}/installation`);
    return status === 404 || (await ask('DELETE', `/app/installations/${answer.id}`)).status === 204;
  };
  const is = (await remove().catch(() => false)) ? 'uninstalled' : 'still installed';
  const settings = `/organizations/${ground.organization}/settings/apps/${app.slug}/advanced`;
  return `${app.slug} is ${is}. GitHub deletes an App only at ${new URL(app.html_url).origin}${settings}`;
}
