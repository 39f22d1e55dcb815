import { instantJson } from '../json/instant-json.ts';
import { GitHubError } from '../http/github-error.ts';
import type { Account, Environment, Repository, RunJob, WorkflowRun } from '../state/model.ts';
import { fullNameOf, type World } from '../state/world.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';
import { ownerSender } from './sender.ts';

/** GitHub fails a job that waited this long. */
const longestWait = 30 * 86_400_000;
/** Reports without a decision, for one environment of a run. */
const mostReports = 10;
const mostRules = 6;

export interface NewRun {
  workflow?: string;
  /** The environment of each job; one without a job of its own gets one. */
  environments: string[];
  /** The environments of jobs that say `deployment: false`. */
  careless?: string[];
  ref?: string;
  sha?: string;
  event?: string;
  /** The message of the commit. */
  message?: string;
  /** Who starts it; by default as `ownerSender`. */
  by?: string;
}

export interface NewEnvironment {
  /** Whether the rule of the App under test is enabled; by default it is. */
  ours?: boolean;
  /** Slugs of other Apps whose rules are enabled. */
  others?: string[];
  adminsBypass?: boolean;
}

/** Environments with their protection rules, and runs of workflows that deploy to them. */
export class Deployments {
  readonly #world: World;
  readonly #webhooks: Webhooks;
  /** Reviews under way. GitHub takes one at a time for an environment of a run. */
  readonly #reviewing = new Set<string>();

  constructor(world: World, webhooks: Webhooks) {
    this.#world = world;
    this.#webhooks = webhooks;
  }

  environment(repository: Repository, name: string): Environment | undefined {
    return repository.environments.get(name.toLowerCase());
  }

  /** An environment comes to be by its first use, without rules. */
  make(repository: Repository, name: string): Environment {
    const known = this.environment(repository, name);
    if (known) return known;
    const id = this.#world.ids.next('environment', 4_000_000);
    const made: Environment = { id, name, rules: [], adminsBypass: true, createdAt: this.#world.now() };
    repository.environments.set(name.toLowerCase(), made);
    return made;
  }

  enable(environment: Environment, app: { id: number; slug: string }): Environment['rules'][number] {
    if (environment.rules.length >= mostRules)
      throw new GitHubError(422, `An environment can have at most ${mostRules} enabled protection rules.`);
    const rule = { id: this.#world.ids.next('protection rule', 3_000_000), app };
    environment.rules.push(rule);
    return rule;
  }

  start(repository: Repository, given: NewRun): WorkflowRun {
    const { workflow = 'Deploy', environments, careless = [], event = 'push' } = given;
    const { ref = repository.defaultBranch } = given;
    const now = this.#world.now();
    const run: WorkflowRun = {
      id: this.#world.ids.next('run', 9_000_000_000),
      number: repository.runs.filter((each) => each.workflow === workflow).length + 1,
      attempt: 1,
      workflow,
      event,
      ref,
      sha: given.sha ?? repository.branches.get(ref) ?? this.#world.ids.sha(),
      message: given.message ?? `Change ${ref}`,
      startedBy: given.by ? this.#world.account(given.by) : ownerSender(this.#world, repository.owner),
      isCancelled: false,
      // A custom protection rule needs a deployment.
      hasFailed: careless.some((name) => this.make(repository, name).rules.length > 0),
      jobs: [],
      former: [],
      reviews: [],
      refusals: [],
      createdAt: now,
      startedAt: now,
    };
    repository.runs.push(run);
    for (const environment of environments) this.startJob(repository, run, environment);
    return run;
  }

  /** All jobs of a run once more. */
  rerun(repository: Repository, run: WorkflowRun): void {
    const environments = run.jobs.map(({ environment }) => environment.name);
    run.attempt += 1;
    run.isCancelled = false;
    run.startedAt = this.#world.now();
    run.former.push(...run.jobs);
    run.jobs = [];
    for (const environment of environments) this.startJob(repository, run, environment);
  }

  cancel(repository: Repository, run: WorkflowRun): void {
    run.isCancelled = true;
    for (const job of run.jobs) if (!isDone(job)) this.#become(repository, run, job, 'failure');
  }

  finish(repository: Repository, run: WorkflowRun, state: 'success' | 'failure'): void {
    for (const job of run.jobs) if (job.state === 'in_progress') this.#become(repository, run, job, state);
  }

  /** "Start all waiting jobs": an administrator goes past the rules of an environment. */
  bypass(repository: Repository, run: WorkflowRun, environment: string, by: Account): void {
    for (const job of this.waiting(run, environment)) {
      if (!job.environment.adminsBypass)
        throw new Error(`${environment} lets no administrator bypass its rules`);
      this.#enqueue(repository, run, job, by);
    }
  }

  /** A runner takes the jobs of a run that are queued. */
  take(repository: Repository, run: WorkflowRun): void {
    for (const job of run.jobs) if (job.state === 'queued') this.#become(repository, run, job, 'in_progress');
  }

  /** The waiting jobs of a run. What waited for too long has failed by now. */
  waiting(run: WorkflowRun, environment?: string): RunJob[] {
    const since = this.#world.now().getTime() - longestWait;
    for (const job of run.jobs)
      if (job.state === 'waiting' && job.requestedAt.getTime() <= since) job.state = 'failure';
    return run.jobs.filter(
      (job) =>
        job.state === 'waiting' &&
        (environment === undefined || job.environment.name.toLowerCase() === environment.toLowerCase()),
    );
  }

  conclusionOf(run: WorkflowRun): 'success' | 'failure' | 'cancelled' | null {
    if (run.isCancelled) return 'cancelled';
    if (this.statusOf(run) !== 'completed') return null;
    return run.hasFailed || run.jobs.some(({ state }) => state === 'failure') ? 'failure' : 'success';
  }

  statusOf(run: WorkflowRun): 'waiting' | 'queued' | 'in_progress' | 'completed' {
    if (this.waiting(run).length > 0) return 'waiting';
    if (run.jobs.every(isDone)) return 'completed';
    return run.jobs.some(({ state }) => state === 'in_progress') ? 'in_progress' : 'queued';
  }

  /** Decides or reports as an App, as `POST …/deployment_protection_rule` does. */
  async review(
    repository: Repository,
    run: WorkflowRun,
    app: { id: number; slug: string },
    given: { environment: string; state: 'approved' | 'rejected' | null; comment: string },
  ): Promise<void> {
    const { environment } = given;
    const key = `${run.id} ${environment.toLowerCase()}`;
    const isFirst = !this.#reviewing.has(key);
    try {
      if (!isFirst) throw new GitHubError(422, 'There was a problem approving one of the gates');
      this.#reviewing.add(key);
      await new Promise((resolve) => setImmediate(resolve));
      this.decide(repository, run, app, given);
    } catch (error) {
      run.refusals.push({ environment, message: (error as Error).message, at: this.#world.now() });
      throw error;
    } finally {
      if (isFirst) this.#reviewing.delete(key);
    }
  }

  /** The same without a moment in which another review is refused. */
  decide(
    repository: Repository,
    run: WorkflowRun,
    app: { id: number; slug: string },
    {
      environment,
      state,
      comment,
    }: { environment: string; state: 'approved' | 'rejected' | null; comment: string },
  ): void {
    const waiting = this.waiting(run, environment);
    if (waiting.length === 0)
      throw new GitHubError(422, 'No pending deployment requests to approve or reject');
    const open = waiting.filter((job) => job.gates.get(app.id) === null);
    if (open.length === 0) throw new GitHubError(422, 'Deployment protection rule has already been reviewed');
    const reports = run.reviews.filter(
      (each) =>
        each.attempt === run.attempt &&
        each.state === 'pending' &&
        each.environment.toLowerCase() === environment.toLowerCase(),
    );
    if (state === null && reports.length >= mostReports)
      throw new GitHubError(422, `A deployment can have at most ${mostReports} status reports.`);
    run.reviews.push({
      attempt: run.attempt,
      environment,
      state: state ?? 'pending',
      comment,
      app: app.slug,
      at: this.#world.now(),
    });
    if (state === null) return;
    for (const job of open) {
      job.gates.set(app.id, state);
      if (state === 'rejected') this.#become(repository, run, job, 'failure');
      else if ([...job.gates.values()].every((gate) => gate === 'approved'))
        this.#enqueue(repository, run, job);
    }
  }

  startJob(repository: Repository, run: WorkflowRun, name: string): void {
    const environment = this.make(repository, name);
    const job: RunJob = {
      deploymentId: this.#world.ids.next('deployment', 8_000_000),
      environment,
      state: environment.rules.length > 0 ? 'waiting' : 'queued',
      gates: new Map(environment.rules.map(({ app }) => [app.id, null])),
      requestedAt: this.#world.now(),
      history: [],
    };
    this.#note(repository, job);
    run.jobs.push(job);
    this.#tell(repository, run, job);
    if (job.state === 'queued' && !repository.runnersAreBusy) this.take(repository, run);
    if (!job.gates.has(this.#world.app.id)) return;
    const { deploymentId: id } = job;
    const url = `${this.#world.url}/repos/${fullNameOf(repository)}`;
    this.#webhooks.emit({
      event: 'deployment_protection_rule',
      action: 'requested',
      repository,
      sender: ownerSender(this.#world, repository.owner),
      payload: {
        environment: environment.name,
        event: run.event,
        // Real payloads have these two, and GitHub's schema lacks them. They have no id of the run.
        sha: run.sha,
        ref: run.ref,
        deployment_callback_url: `${url}/actions/runs/${run.id}/deployment_protection_rule`,
        deployment: {
          url: `${url}/deployments/${id}`,
          id,
          sha: run.sha,
          ref: run.ref,
          task: 'deploy',
          environment: environment.name,
          original_environment: environment.name,
          created_at: instantJson(job.requestedAt),
          updated_at: instantJson(job.requestedAt),
        },
        pull_requests: [],
      },
    });
  }

  /** Nothing holds the job any more: a runner takes it as soon as there is one. */
  #enqueue(repository: Repository, run: WorkflowRun, job: RunJob, by?: Account): void {
    this.#become(repository, run, job, 'queued', by);
    if (!repository.runnersAreBusy) this.#become(repository, run, job, 'in_progress', by);
  }

  #become(repository: Repository, run: WorkflowRun, job: RunJob, state: RunJob['state'], by?: Account): void {
    job.state = state;
    this.#note(repository, job, by);
    this.#tell(repository, run, job, by);
  }

  #note(repository: Repository, job: RunJob, by = ownerSender(this.#world, repository.owner)): void {
    job.history.push({ state: job.state, at: this.#world.now(), by });
  }

  #tell(
    repository: Repository,
    run: WorkflowRun,
    { deploymentId: id, environment, state }: RunJob,
    by?: Account,
  ) {
    this.#webhooks.emit({
      event: 'deployment_status',
      action: 'created',
      repository,
      sender: by ?? ownerSender(this.#world, repository.owner),
      payload: {
        deployment: { id, sha: run.sha, environment: environment.name },
        deployment_status: { state, environment: environment.name },
        workflow_run: { id: run.id, run_attempt: run.attempt },
      },
    });
  }
}

const isDone = ({ state }: RunJob): boolean => state === 'success' || state === 'failure';

/** Environments and runs, for tests. */
export function deploymentVerbs(world: World, deployments: Deployments) {
  const runIn = (repository: Repository, id: number): WorkflowRun => {
    const run = repository.runs.find((each) => each.id === id);
    if (!run) throw new Error(`The sandbox has no run ${id} in ${fullNameOf(repository)}`);
    return run;
  };
  const on = <Result>(
    fullName: string,
    id: number,
    act: (repository: Repository, run: WorkflowRun) => Result,
  ) => {
    const repository = world.repository(fullName);
    return act(repository, runIn(repository, id));
  };

  return {
    /** An environment. By default the rule of the App under test is enabled on it. */
    addEnvironment(
      fullName: string,
      name: string,
      { ours = true, others = [], adminsBypass = true }: NewEnvironment = {},
    ) {
      const environment = deployments.make(world.repository(fullName), name);
      environment.adminsBypass = adminsBypass;
      if (ours) deployments.enable(environment, world.app);
      for (const slug of others)
        deployments.enable(environment, { id: world.ids.next('other App', 700_000), slug });
    },

    /** Disables the rule of the App under test. */
    disableRule(fullName: string, name: string) {
      const environment = deployments.make(world.repository(fullName), name);
      environment.rules = environment.rules.filter(({ app }) => app.id !== world.app.id);
    },

    /** Its waiting jobs fail. */
    removeEnvironment(fullName: string, name: string) {
      const repository = world.repository(fullName);
      for (const run of repository.runs)
        for (const job of deployments.waiting(run, name)) job.state = 'failure';
      repository.environments.delete(name.toLowerCase());
    },

    /** Starts a workflow whose jobs deploy. Each waits for the rules of its environment. */
    runWorkflow(fullName: string, run: NewRun): { id: number; number: number; sha: string } {
      const { id, number, sha } = deployments.start(world.repository(fullName), run);
      return { id, number, sha };
    },

    rerunWorkflow: (fullName: string, id: number) =>
      on(fullName, id, (repository, run) => deployments.rerun(repository, run)),
    /** One more job of a run, as `max-parallel` of a matrix starts it. */
    startJob: (fullName: string, id: number, environment: string) =>
      on(fullName, id, (repository, run) => deployments.startJob(repository, run, environment)),
    cancelRun: (fullName: string, id: number) =>
      on(fullName, id, (repository, run) => deployments.cancel(repository, run)),
    finishRun: (fullName: string, id: number, state: 'success' | 'failure' = 'success') =>
      on(fullName, id, (repository, run) => deployments.finish(repository, run, state)),
    bypassRules: (fullName: string, id: number, environment: string, login: string) =>
      on(fullName, id, (repository, run) =>
        deployments.bypass(repository, run, environment, world.account(login)),
      ),

    /** No runner takes a job of the repository by itself any more. */
    occupyRunners(fullName: string) {
      world.repository(fullName).runnersAreBusy = true;
    },
    /** A runner takes the jobs of a run that are queued. */
    takeJobs: (fullName: string, id: number) =>
      on(fullName, id, (repository, run) => deployments.take(repository, run)),

    /** Another App approves, if its rule is enabled there. */
    approveAs(slug: string, fullName: string, id: number, environment: string) {
      on(fullName, id, (repository, run) => {
        const app = run.jobs
          .flatMap((job) => job.environment.rules)
          .find((rule) => rule.app.slug === slug)!.app;
        deployments.decide(repository, run, app, { environment, state: 'approved', comment: '' });
      });
    },

    /** The states of the jobs of a run. */
    jobsOf: (fullName: string, id: number): RunJob['state'][] =>
      on(fullName, id, (_, run) => {
        deployments.waiting(run);
        return run.jobs.map(({ state }) => state);
      }),

    /** Everything about the runs of a repository, oldest first. */
    runsOf: (fullName: string) => world.repository(fullName).runs,

    /** What Apps decided and reported on a run, oldest first. */
    reviewsOf: (fullName: string, id: number) => on(fullName, id, (_, run) => run.reviews),
  };
}
