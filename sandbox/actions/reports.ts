import { ownerSender } from './sender.ts';
import type { CheckConclusion, CheckRun, Deployment } from '../state/model.ts';
import type { World } from '../state/world.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';

/** Check runs and deployments, which other Apps report. */
export function reports(world: World, webhooks: Webhooks) {
  const headOf = (fullName: string, number: number) => world.pullRequest(fullName, number).head.sha;

  return {
    /** An App reports a check on the head of a pull request: a running one, or with `conclusion` a completed one. */
    reportCheck(
      fullName: string,
      number: number,
      given: { name: string; app?: string; conclusion?: CheckConclusion },
    ) {
      const repository = world.repository(fullName);
      const sha = headOf(fullName, number);
      const run: CheckRun = {
        id: world.ids.next('check run', 5_000_000),
        name: given.name,
        app: given.app ?? 'github-actions',
        status: given.conclusion ? 'completed' : 'in_progress',
        conclusion: given.conclusion ?? null,
        startedAt: world.now(),
        completedAt: given.conclusion ? world.now() : null,
      };
      // GitHub shows the newest run of an App's check.
      const others = (repository.checkRuns.get(sha) ?? []).filter(
        ({ name, app }) => name !== run.name || app !== run.app,
      );
      repository.checkRuns.set(sha, [...others, run]);
      const { id, name, app, status, conclusion } = run;
      webhooks.emit({
        event: 'check_run',
        action: conclusion ? 'completed' : 'created',
        repository,
        sender: ownerSender(world, repository.owner),
        payload: { check_run: { id, name, head_sha: sha, status, conclusion, app: { slug: app } } },
      });
    },

    /** The head of a pull request is deployed, or its deployment fails. */
    deploy(fullName: string, number: number, environment: string, state: Deployment['state']) {
      const repository = world.repository(fullName);
      const sha = headOf(fullName, number);
      const id = world.ids.next('deployment', 8_000_000);
      const deployments = repository.deployments.get(sha) ?? [];
      repository.deployments.set(sha, [...deployments, { id, environment, state, createdAt: world.now() }]);
      webhooks.emit({
        event: 'deployment_status',
        action: 'created',
        repository,
        sender: ownerSender(world, repository.owner),
        payload: { deployment: { id, sha, environment }, deployment_status: { state, environment } },
      });
    },
  };
}
