// Jobs that deploy wait for the rule of the App.
import type { Exchange, ProveJson } from '../ask.ts';
import { type Asks, environment, type Stage } from '../stage.ts';
import { claimProved, claimed, given, type Must, needed } from '../verdict.ts';

/**
 * Starts a workflow whose jobs deploy to an environment with the rule of the App.
 * @param branch its own, so that GitHub can list this run alone. @returns the path of the run.
 */
async function start(stage: Stage, branch: string, workflow: string): Promise<string> {
  const { parts, repository } = stage;
  const rules = `${repository}/environments/${environment}/deployment_protection_rules`;
  given((await stage.sure('GET', rules)).total_count > 0, 'Nobody could enable the rule of the App.');
  await stage.branch(branch);
  await stage.sure('POST', `${repository}/actions/workflows/${workflow}.yml/dispatches`, { ref: branch });
  const list = () => parts.owner('GET', `${repository}/actions/runs?branch=${branch}`);
  const begun = ({ answer }: Exchange) => answer?.workflow_runs?.[0];
  const found = begun(await stage.until(120, list, (each) => begun(each) !== undefined));
  given(found, 'No run began within two minutes.');
  return `${repository}/actions/runs/${found.id}`;
}

/** Waits for a state of a run. @returns the run. @throws as `must` does if it is another one two minutes later. */
async function reach(
  stage: Stage,
  run: string,
  wanted: RegExp,
  must: Must = claimProved,
): Promise<ProveJson> {
  const isSo = ({ answer }: Exchange) => wanted.test(answer?.status);
  const found = needed(await stage.until(120, () => stage.parts.bot('GET', run), isSo));
  must(wanted.test(found.status), `The run is ${found.status} two minutes later.`);
  return found;
}

/** The webhook that asks about a job of a run. @param but the one about another job. */
function asked(stage: Stage, run: string, must: Must, but?: ProveJson): Promise<ProveJson> {
  const path = `${run.slice(run.indexOf('/actions'))}/`;
  const isMeant = ({ deployment_callback_url: url, deployment }: ProveJson) =>
    String(url).includes(path) && deployment?.id !== but?.deployment?.id;
  return stage.told('deployment_protection_rule', 'requested', isMeant, must);
}

/** A run that waits. @returns its path. */
async function deploy(stage: Stage, branch: string, workflow = 'deploy'): Promise<string> {
  const run = await start(stage, branch, workflow);
  await reach(stage, run, /waiting/, given);
  return run;
}

/** Decides or reports as the App. */
const decide = ({ parts }: Stage, run: string, comment: string, state?: string): Promise<Exchange> =>
  parts.bot('POST', `${run}/deployment_protection_rule`, { environment_name: environment, state, comment });

export const deploymentSteps: Asks = {
  async 'deployment-webhook'(stage) {
    const { environment: named } = await asked(stage, await deploy(stage, 'deploy-webhook'), claimProved);
    claimProved(named === environment, `The webhook names the environment ${named}.`);
  },
  async 'deployment-report'(stage) {
    const run = await deploy(stage, 'deploy-report');
    claimed(await decide(stage, run, 'Frozen until Monday.'), 204);
    const { status } = needed(await stage.parts.bot('GET', run));
    claimProved(status === 'waiting', `After a report, the run is ${status}.`);
  },
  async 'deployment-approved'(stage) {
    const run = await deploy(stage, 'deploy-approved');
    claimed(await decide(stage, run, 'The freeze is over.', 'approved'), 204);
    await reach(stage, run, /^(?!waiting)/);
    const again = JSON.stringify(claimed(await decide(stage, run, 'Again.', 'approved'), 422));
    claimProved(/No pending deployment requests|already been reviewed/.test(again), again);
  },
  async 'deployment-rejected'(stage) {
    const run = await deploy(stage, 'deploy-rejected');
    claimed(await decide(stage, run, 'Superseded.', 'rejected'), 204);
    await reach(stage, run, /completed/);
  },
  async 'deployment-matrix'(stage) {
    const run = await deploy(stage, 'deploy-matrix', 'matrix');
    await asked(stage, run, given, await asked(stage, run, given));
    needed(await decide(stage, run, 'The freeze is over.', 'approved'));
    await reach(stage, run, /^(?!waiting)/);
  },
  async 'deployment-again'(stage) {
    const run = await deploy(stage, 'deploy-again');
    const first = await asked(stage, run, given);
    needed(await decide(stage, run, 'Superseded.', 'rejected'));
    await reach(stage, run, /completed/, given);
    await stage.sure('POST', `${run}/rerun`, {});
    const { run_attempt: attempt } = await reach(stage, run, /waiting/);
    claimProved(attempt === 2, `It is called attempt ${attempt}.`);
    await asked(stage, run, given, first);
    needed(await decide(stage, run, 'The freeze is over.', 'approved'));
  },
  async 'deployment-careless'(stage) {
    const { conclusion } = await reach(stage, await start(stage, 'deploy-careless', 'careless'), /completed/);
    claimProved(conclusion === 'failure', `The run ended with ${conclusion}.`);
  },
  async environment(stage) {
    const { environments } = needed(await stage.parts.bot('GET', `${stage.repository}/environments`));
    claimProved(typeof environments[0]?.can_admins_bypass === 'boolean', 'It has no can_admins_bypass.');
  },
};
