// Jobs that deploy wait for the rule of the App.
import type { Exchange, Json } from '../ask.ts';
import { environment, type Stage, type Steps, workflow } from '../stage.ts';
import { claim, given, needed, said } from '../verdict.ts';

/** A run that deploys to an environment with the rule of the App. @returns its path, and the webhook about it. */
async function deploy(stage: Stage): Promise<{ run: string; payload: Json | null }> {
  const { owner, appId } = stage.parts;
  const place = `${stage.repository}/environments/${environment}`;
  needed(await owner('PUT', place, {}), 200);
  const { total_count: count } = needed(await owner('GET', `${place}/deployment_protection_rules`), 200);
  const rule = { integration_id: appId };
  if (count === 0) needed(await owner('POST', `${place}/deployment_protection_rules`, rule), 200, 201);
  const list = () => owner('GET', `${stage.repository}/actions/runs?per_page=100`);
  const known = new Set(needed(await list(), 200).workflow_runs.map(({ id }: Json) => id));
  const path = `${stage.repository}/actions/workflows/${workflow}/dispatches`;
  needed(await owner('POST', path, { ref: 'main' }), 204);
  const waiting = ({ answer }: Exchange) =>
    answer?.workflow_runs?.find(({ id, status }: Json) => !known.has(id) && status === 'waiting');
  const found = waiting(await stage.until(120, list, (each) => waiting(each) !== undefined));
  given(found !== undefined, 'No run waited for its environment within two minutes.');
  const isOfRun = ({ deployment_callback_url: url }: Json) => String(url).includes(`/runs/${found.id}/`);
  const payload = await stage.delivered('deployment_protection_rule', 'requested', isOfRun);
  return { run: `${stage.repository}/actions/runs/${found.id}`, payload };
}

/** Decides or reports as the App. */
const decide = ({ parts }: Stage, run: string, sent: object): Promise<Exchange> =>
  parts.bot('POST', `${run}/deployment_protection_rule`, { environment_name: environment, ...sent });

/** Claims that a run gets into a state within a minute. */
async function claimRun(stage: Stage, run: string, isSo: (status: string) => boolean): Promise<void> {
  const isThere = ({ answer }: Exchange) => isSo(String(answer?.status));
  const last = await stage.until(60, () => stage.parts.bot('GET', run), isThere);
  needed(last, 200);
  claim(isThere(last), `The run is ${last.answer.status} a minute later.`);
}

export const deployments: Steps = {
  'deployment-webhook': {
    proves: 'GitHub asks the App about each job that deploys to an environment with its rule.',
    otherwise: 'Deployments wait until Holdfast looks for them by itself.',
    async run(stage) {
      const { payload } = await deploy(stage);
      claim(payload !== null, 'No webhook asked about the deployment.');
      claim(payload.environment === environment, `The webhook names the environment ${payload.environment}.`);
    },
  },
  'deployment-report': {
    proves: 'The App can say why a deployment waits, and the deployment goes on waiting.',
    otherwise: 'People do not see at GitHub which freeze holds their deployment.',
    async run(stage) {
      const { run } = await deploy(stage);
      const report = await decide(stage, run, { comment: 'Frozen until Monday.' });
      claim(report.status === 204, said(report));
      const { status } = needed(await stage.parts.bot('GET', run), 200);
      claim(status === 'waiting', `After a report, the run is ${status}.`);
    },
  },
  'deployment-approved': {
    proves: 'A deployment goes out when the App approves it. A second decision is refused in known words.',
    otherwise: 'Deployments wait after a freeze, or Holdfast decides again and again.',
    async run(stage) {
      const { run } = await deploy(stage);
      const approved = await decide(stage, run, { state: 'approved', comment: 'The freeze is over.' });
      claim(approved.status === 204, said(approved));
      await claimRun(stage, run, (status) => status !== 'waiting');
      const again = await decide(stage, run, { state: 'approved', comment: 'Again.' });
      const known = /No pending deployment requests|already been reviewed/;
      claim(again.status === 422 && known.test(JSON.stringify(again.answer)), said(again));
    },
  },
  'deployment-rejected': {
    proves: 'A deployment that the App rejects does not go out.',
    otherwise: 'After a freeze, older runs are deployed as well as newer ones.',
    async run(stage) {
      const { run } = await deploy(stage);
      const rejected = await decide(stage, run, { state: 'rejected', comment: 'Superseded.' });
      claim(rejected.status === 204, said(rejected));
      await claimRun(stage, run, (status) => status === 'completed');
    },
  },
};
