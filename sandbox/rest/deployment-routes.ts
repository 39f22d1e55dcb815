import { createHash } from 'node:crypto';
import { instantJson } from '../json/instant-json.ts';
import { accountJson } from '../json/account-json.ts';
import { environmentJson, namedEnvironment } from '../json/environment-json.ts';
import { bodyOf, type Api, type ApiContext, type Parts } from '../http/api.ts';
import { GitHubError, notAccessible, notFound } from '../http/github-error.ts';
import { page } from '../http/paging.ts';
import { fullNameOf } from '../state/world.ts';
import { administer } from './branch-routes.ts';
import { demand, onRepository, reading, writing } from './on-repository.ts';
import type { Environment, Repository, WorkflowRun } from '../state/model.ts';

const mostComment = 1024;

/** Environments, their protection rules, and runs that wait for them. */
export function deploymentRoutes(api: Api, { world, deployments }: Parts): void {
  const read = (c: ApiContext, repository: Repository) => demand(c, repository, reading);
  const environmentIn = (c: ApiContext, repository: Repository): Environment => {
    const environment = deployments.environment(repository, c.req.param('environment') ?? '');
    if (!environment) throw notFound();
    return environment;
  };
  const runIn = (c: ApiContext, repository: Repository): WorkflowRun => {
    const run = repository.runs.find(({ id }) => String(id) === c.req.param('run'));
    if (!run) throw notFound();
    return run;
  };
  const ruleJson = ({ id, app: { id: appId, slug } }: Environment['rules'][number]) => ({
    id,
    node_id: `GA_${id}`,
    enabled: true,
    app: { id: appId, slug, node_id: `A_${appId}`, integration_url: `${world.url}/apps/${slug}` },
  });
  const writerOf = ({ startedBy: { login } }: WorkflowRun) => ({
    name: login,
    email: `${login}@users.noreply.github.com`,
  });
  const runJson = (repository: Repository, run: WorkflowRun) => ({
    id: run.id,
    name: run.workflow,
    run_number: run.number,
    run_attempt: run.attempt,
    event: run.event,
    status: deployments.statusOf(run),
    conclusion: deployments.conclusionOf(run),
    head_branch: run.ref,
    head_sha: run.sha,
    head_commit: {
      id: run.sha,
      tree_id: createHash('sha1').update(run.sha).digest('hex'),
      message: run.message,
      timestamp: instantJson(run.createdAt),
      author: writerOf(run),
      committer: writerOf(run),
    },
    path: `.github/workflows/${run.workflow.toLowerCase()}.yml`,
    html_url: `https://github.com/${fullNameOf(repository)}/actions/runs/${run.id}`,
    created_at: instantJson(run.createdAt),
    run_started_at: instantJson(run.startedAt),
    triggering_actor: accountJson(world, run.startedBy),
  });

  onRepository(api, world, 'get', '/environments', (c, repository) => {
    read(c, repository);
    const all = [...repository.environments.values()];
    const environments = page(c, all).map((each) => environmentJson(world, repository, each));
    return c.json({ total_count: all.length, environments });
  });

  onRepository(api, world, 'get', '/environments/:environment', (c, repository) => {
    read(c, repository);
    return c.json(environmentJson(world, repository, environmentIn(c, repository)));
  });

  const rules = '/environments/:environment/deployment_protection_rules';
  onRepository(api, world, 'get', rules, (c, repository) => {
    read(c, repository);
    const all = environmentIn(c, repository).rules.map(ruleJson);
    return c.json({ total_count: all.length, custom_deployment_protection_rules: all });
  });

  onRepository(api, world, 'post', rules, async (c, repository) => {
    administer(c, repository);
    const { integration_id: id } = await bodyOf(c);
    if (id !== world.app.id) throw new GitHubError(422, 'Validation Failed');
    return c.json(ruleJson(deployments.enable(environmentIn(c, repository), world.app)), 201);
  });

  onRepository(api, world, 'get', '/actions/runs', (c, repository) => {
    read(c, repository);
    const [status, branch] = [c.req.query('status'), c.req.query('branch')];
    const all = repository.runs
      .filter((run) => status === undefined || deployments.statusOf(run) === status)
      .filter((run) => branch === undefined || run.ref === branch)
      .toReversed();
    return c.json({
      total_count: all.length,
      workflow_runs: page(c, all).map((run) => runJson(repository, run)),
    });
  });

  onRepository(api, world, 'get', '/actions/runs/:run', (c, repository) => {
    read(c, repository);
    return c.json(runJson(repository, runIn(c, repository)));
  });

  onRepository(api, world, 'post', '/actions/runs/:run/rerun', (c, repository) => {
    demand(c, repository, writing);
    const run = runIn(c, repository);
    if (deployments.statusOf(run) !== 'completed')
      throw new GitHubError(403, 'This workflow is already running');
    deployments.rerun(repository, run);
    return c.json({}, 201);
  });

  onRepository(api, world, 'get', '/actions/runs/:run/pending_deployments', (c, repository) => {
    read(c, repository);
    const waiting = deployments.waiting(runIn(c, repository)).map(({ environment }) => environment);
    return c.json(
      [...new Set(waiting)].map((environment) => {
        const { id, node_id, name, url, html_url } = environmentJson(world, repository, environment);
        return {
          environment: { id, node_id, name, url, html_url },
          wait_timer: 0,
          wait_timer_started_at: null,
          current_user_can_approve: false,
          reviewers: [],
        };
      }),
    );
  });

  onRepository(api, world, 'get', '/actions/runs/:run/approvals', (c, repository) => {
    read(c, repository);
    return c.json(
      runIn(c, repository).reviews.map(({ environment, state, comment, app }) => ({
        environments: [environment].flatMap((name) => {
          const found = deployments.environment(repository, name);
          return found ? [namedEnvironment(world, repository, found)] : [];
        }),
        state,
        comment,
        user: accountJson(world, world.account(`${app}[bot]`)),
      })),
    );
  });

  const jobsWith = (repository: Repository) =>
    repository.runs
      .flatMap((run) => [...run.former, ...run.jobs].map((job) => ({ run, job })))
      .toSorted((one, other) => other.job.deploymentId - one.job.deploymentId);

  onRepository(api, world, 'get', '/deployments', (c, repository) => {
    read(c, repository);
    const [sha, environment] = [c.req.query('sha'), c.req.query('environment')?.toLowerCase()];
    const found = jobsWith(repository).filter(
      ({ run, job }) =>
        (sha === undefined || run.sha === sha) &&
        (environment === undefined || job.environment.name.toLowerCase() === environment),
    );
    return c.json(
      page(c, found).map(({ run, job }) => ({
        id: job.deploymentId,
        sha: run.sha,
        ref: run.ref,
        task: 'deploy',
        environment: job.environment.name,
        original_environment: job.environment.name,
        description: null,
        creator: accountJson(world, job.history[0]!.by),
        created_at: instantJson(job.requestedAt),
        updated_at: instantJson(job.history.at(-1)!.at),
      })),
    );
  });

  onRepository(api, world, 'get', '/deployments/:id/statuses', (c, repository) => {
    read(c, repository);
    const found = jobsWith(repository).find(({ job }) => String(job.deploymentId) === c.req.param('id'));
    if (!found) throw notFound();
    const log_url = `https://github.com/${fullNameOf(repository)}/actions/runs/${found.run.id}/job/${found.job.deploymentId}`;
    const { name: environment } = found.job.environment;
    return c.json(
      page(c, found.job.history.toReversed()).map(({ state, at, by }) => ({
        state,
        environment,
        description: '',
        log_url,
        target_url: log_url,
        creator: accountJson(world, by),
        created_at: instantJson(at),
        updated_at: instantJson(at),
      })),
    );
  });

  onRepository(api, world, 'post', '/actions/runs/:run/deployment_protection_rule', async (c, repository) => {
    const principal = c.get('principal');
    if (principal.kind !== 'installation') throw notAccessible();
    const run = runIn(c, repository);
    const { environment_name: environment, state = null, comment = '' } = await bodyOf(c);
    if (typeof environment !== 'string' || typeof comment !== 'string')
      throw new GitHubError(422, 'Invalid request.');
    if (state !== null && state !== 'approved' && state !== 'rejected')
      throw new GitHubError(422, 'Invalid request.');
    if ((state === null && comment === '') || comment.length > mostComment)
      throw new GitHubError(422, 'Invalid request.');
    await deployments.review(repository, run, world.app, { environment, state, comment });
    return c.body(null, 204);
  });
}
