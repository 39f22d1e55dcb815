import type { Random } from '../../sandbox/http/random.ts';
import { forDeployments } from '../support/deployments.ts';
import { freezesOf, say, someEnd, wallClock } from './actions/freezes.ts';
import { advance } from './calm.ts';
import { type Action, oneOf, type Stage } from './stage.ts';

// Deployments that wait for freezes, in the repository of the other faults: what people do, and what must be true.

type Run = ReturnType<Stage['github']['runsOf']>[number];
type Job = Run['jobs'][number];

/** A freeze of deployments, as it was acknowledged. */
type Freeze = {
  id: string;
  environments: string[];
  onDeployment: 'wait' | 'reject';
  startsAt: number;
  endsAt: number;
  isDeleted: boolean;
  /** A change of it is under way: nobody can say yet what it is. */
  isChanging: boolean;
};

/** Our rule is enabled on both, and that of another App on the second one. */
const [alone, shared] = ['production', 'prod-eu'];
const other = 'sentry';
const selections = [['*'], ['production'], ['prod-*']];
const second = 1_000;
const mostLiving = 2;
const mostOpen = 10;

const selects = ({ environments }: Freeze, name: string) =>
  environments.some((glob) => glob === '*' || glob === name || (glob === 'prod-*' && name === shared));

const freezes = new WeakMap<Stage, Freeze[]>();
const living = (stage: Stage) =>
  freezes.get(stage)!.filter(({ isDeleted, endsAt }) => !isDeleted && stage.time.now() < endsAt);
const holding = (stage: Stage, environment: string) =>
  living(stage).filter((freeze) => freeze.startsAt <= stage.time.now() && selects(freeze, environment));

const isOpen = ({ state }: Job) => state !== 'success' && state !== 'failure';
const runs = ({ github, repository }: Stage) => github.runsOf(repository);
const isOurs = ({ app }: Run['reviews'][number]) => app !== other;
const ourGate = (stage: Stage, job: Job) => job.gates.get(stage.github.app.id);
const waitsForUs = (stage: Stage, job: Job) => job.state === 'waiting' && ourGate(stage, job) === null;

export const deploymentActions: Record<string, Action> = {
  deploy: {
    weight: 10,
    act(stage, random) {
      if (runs(stage).filter(({ jobs }) => jobs.some(isOpen)).length >= mostOpen) return null;
      const named = oneOf(random, [[alone], [shared], [alone, shared], Array(30).fill(alone)])!;
      const { id } = stage.github.runWorkflow(stage.repository, {
        environments: named as string[],
        workflow: random.chance(0.7) ? 'Deploy' : 'Docs',
      });
      return `run ${id} deploys to ${[...new Set(named)].join(', ')}, ${named.length} jobs`;
    },
  },
  takeJobs: onRun(6, 'queued', ({ github, repository }, { id }) => {
    github.takeJobs(repository, id);
    return 'has a runner';
  }),
  finishDeployment: onRun(4, 'in_progress', ({ github, repository }, { id }) => {
    github.finishRun(repository, id);
    return 'is finished';
  }),
  cancelDeployment: onRun(1, 'waiting', ({ github, repository }, { id }) => {
    github.cancelRun(repository, id);
    return 'is cancelled';
  }),
  rerunDeployment: onRun(1, null, ({ github, repository }, { id }) => {
    github.rerunWorkflow(repository, id);
    return 'runs again';
  }),
  bypass: onRun(1, 'waiting', ({ github, repository }, run) => {
    const { name } = run.jobs.find(({ state }) => state === 'waiting')!.environment;
    github.bypassRules(repository, run.id, name, 'ada');
    return `goes past the rules of ${name}`;
  }),
  otherApp: onRun(4, 'waiting', (stage, run) => (approveElsewhere(stage, run) ? `has the ${other}` : null)),
  freezeDeployments: {
    weight: 4,
    act(stage, random) {
      if (living(stage).length >= mostLiving) return null;
      const now = Math.floor(stage.time.now() / second) * second;
      const start = random.chance(0.7) ? null : now + random.between(3, 120) * second;
      const endsAt = someEnd(random, start ?? now);
      const environments = oneOf(random, selections)!;
      const onDeployment = random.chance(0.8) ? 'wait' : 'reject';
      stage.aside(create(stage, start, { environments, onDeployment, endsAt }));
      return `freeze of ${environments.join()} asked for: ${onDeployment}`;
    },
  },
  changeDeploymentFreeze: onFreeze(2, (stage, freeze, random) => {
    const now = Math.floor(stage.time.now() / second) * second;
    const change: Partial<Freeze> = random.chance(0.5)
      ? { environments: oneOf(random, selections)! }
      : random.chance(0.3)
        ? { onDeployment: 'reject' }
        : { endsAt: someEnd(random, Math.max(now, freeze.startsAt)) };
    stage.aside(changed(stage, freeze, 'PATCH', '', bodyOf(change), change));
    return `to change: ${JSON.stringify(change)}`;
  }),
  endDeploymentFreeze: onFreeze(5, (stage, freeze) => {
    const body = { delete_reason: 'Done' };
    stage.aside(changed(stage, freeze, 'POST', '/delete', body, { isDeleted: true }));
    return 'to be deleted';
  }),
};

function onRun(
  weight: number,
  state: Job['state'] | null,
  act: (stage: Stage, run: Run) => string | null,
): Action {
  return {
    weight,
    act(stage, random) {
      const lately = runs(stage).slice(-mostOpen);
      const run = oneOf(
        random,
        lately.filter(({ jobs }) => state === null || jobs.some((job) => job.state === state)),
      );
      const what = run && act(stage, run);
      return what ? `run ${run.id} ${what}` : null;
    },
  };
}

function onFreeze(weight: number, act: (stage: Stage, freeze: Freeze, random: Random) => string): Action {
  return {
    weight,
    act(stage, random) {
      const freeze = oneOf(
        random,
        living(stage).filter(({ isChanging }) => !isChanging),
      );
      return freeze ? `freeze ${freeze.id} of deployments ${act(stage, freeze, random)}` : null;
    },
  };
}

/** @returns whether the other App had something to approve. */
function approveElsewhere({ github, repository }: Stage, run: Run): boolean {
  const isDue = (job: Job) =>
    job.state === 'waiting' && [...job.gates.values()].some((gate) => gate === null);
  const before = run.reviews.length;
  const job = run.jobs.find((each) => each.environment.name === shared && isDue(each));
  if (!job) return false;
  try {
    github.approveAs(other, repository, run.id, shared);
  } catch {
    return false;
  }
  return run.reviews.length > before;
}

const bodyOf = ({ environments, onDeployment, endsAt }: Partial<Freeze>) => ({
  environments,
  on_deployment: onDeployment,
  end: endsAt === undefined ? undefined : endsAt === Infinity ? null : wallClock(endsAt),
});

async function create(
  stage: Stage,
  start: number | null,
  freeze: Pick<Freeze, 'environments' | 'onDeployment' | 'endsAt'>,
): Promise<void> {
  const window = { timezone: 'UTC', start: start === null ? null : wallClock(start) };
  const body = { reason: 'Deployments', holds: ['deployments'], ...window, ...bodyOf(freeze) };
  const answer = await stage.api.call('POST', freezesOf(stage), body);
  if (answer.status === 201) {
    const { id, start: startText } = answer.body;
    const startsAt = Date.parse(`${startText}Z`);
    freezes.get(stage)!.push({ ...freeze, id, startsAt, isDeleted: false, isChanging: false });
    stage.log(`freeze ${id} of deployments is created`);
  } else if (!(answer.status === 422 && freeze.endsAt <= stage.time.now()))
    stage.violate('unexpected answer', `to a new freeze of deployments: ${say(answer)}`);
}

async function changed(
  stage: Stage,
  freeze: Freeze,
  method: string,
  path: string,
  body: object,
  change: Partial<Freeze>,
): Promise<void> {
  freeze.isChanging = true;
  try {
    const answer = await stage.api.call(method, `${freezesOf(stage)}/${freeze.id}${path}`, body);
    const isOver = (change.endsAt ?? freeze.endsAt) <= stage.time.now();
    if (answer.status < 300 || (answer.status === 404 && isOver)) Object.assign(freeze, change);
    else if (!(answer.status === 422 && isOver))
      stage.violate('unexpected answer', `to a change of a freeze of deployments: ${say(answer)}`);
    stage.log(`freeze ${freeze.id} of deployments: ${answer.status}`);
  } finally {
    freeze.isChanging = false;
  }
}

/** Enables our rule. With an odd seed, all that waits goes one after another. */
export async function prepareDeployments(stage: Stage, seed: number) {
  const { github, repository, api } = stage;
  github.askForMore(forDeployments, ['deployment_protection_rule']);
  github.acceptPermissions('acme', github.app.permissions);
  github.addEnvironment(repository, alone!);
  github.addBot(other);
  github.addEnvironment(repository, shared!, { others: [other] });
  github.occupyRunners(repository);
  const release = seed % 2 === 0 ? 'newest' : 'all';
  await api.call('PATCH', `/v1/repos/${repository}/settings`, { release_deployments: release });
  freezes.set(stage, []);
  return new DeploymentWatch(stage, release);
}

/** After the trouble ends everything is right by then. Milliseconds of the service's clock. */
const patience = 75_000;
const steps = 5;
const margin = 20_000;
/** Within it a clock step can end the turn of a lane whose process still asks GitHub. */
const afterStep = 30_000;

class DeploymentWatch {
  readonly counts = { runs: 0, approved: 0, rejected: 0, reports: 0, refused: 0 };
  readonly #stage: Stage;
  readonly #release: 'newest' | 'all';
  readonly #seen = new Map<Run, { reviews: number; refusals: number }>();
  readonly #heldSince = new Map<string, number>();
  /** Our approvals of each environment, in order. */
  readonly #approvals: { run: Run; attempt: number; environment: string; at: number }[] = [];
  #isCalm = false;

  constructor(stage: Stage, release: 'newest' | 'all') {
    this.#stage = stage;
    this.#release = release;
  }

  /** To be called often. */
  look(): void {
    const stage = this.#stage;
    for (const environment of [alone!, shared!]) {
      const isHeld = holding(stage, environment).some(({ isChanging }) => !isChanging);
      if (!isHeld) this.#heldSince.delete(environment);
      else if (!this.#heldSince.has(environment)) this.#heldSince.set(environment, Date.now());
    }
    for (const run of runs(stage)) {
      const seen = this.#seen.get(run) ?? { reviews: 0, refusals: 0 };
      this.#seen.set(run, { reviews: run.reviews.length, refusals: run.refusals.length });
      for (let index = seen.reviews; index < run.reviews.length; index++) this.#judge(run, index);
      for (const { environment, message } of run.refusals.slice(seen.refusals)) {
        this.counts.refused++;
        const isSecond = /already been reviewed|one of the gates/.test(message) && environment === alone;
        const { steps: stepped } = stage.time;
        if (isSecond && !stepped.some((at) => at > Date.now() - afterStep))
          stage.violate('reviewed twice', `run ${run.id}, ${environment}: ${message}`);
      }
      if (!this.#isCalm) continue;
      approveElsewhere(stage, run);
      stage.github.takeJobs(stage.repository, run.id);
    }
    this.counts.runs = runs(stage).length;
  }

  /** Looks at one review of ours when it arrives. */
  #judge(run: Run, index: number): void {
    const stage = this.#stage;
    const review = run.reviews[index]!;
    const { attempt, environment, state, comment } = review;
    if (!isOurs(review)) return;
    const before = run.reviews
      .slice(0, index)
      .filter((each) => isOurs(each) && each.attempt === attempt && each.environment === environment);
    const story = `run ${run.id} (${run.workflow} ${run.number}), attempt ${attempt}, ${environment}: ${comment}`;
    stage.log(`${state}: ${story}`);
    if (state === 'pending') {
      this.counts.reports++;
      if (before.at(-1)?.comment === comment) stage.violate('told twice', story);
      if (before.length >= 10) stage.violate('told too often', story);
      return;
    }
    this.counts[state]++;
    if (before.some((each) => each.state !== 'pending')) stage.violate('decided twice', story);
    if (state !== 'approved') return;
    const since = this.#heldSince.get(environment);
    const { bound } = stage.trouble;
    if (since !== undefined && Date.now() - since > bound) stage.violate('held and approved', story);
    if (before.length > 0) this.#judgeOrder(run, environment, story);
    this.#approvals.push({ run, attempt, environment, at: Date.now() });
  }

  /** One that was held goes out in its turn. */
  #judgeOrder(run: Run, environment: string, story: string): void {
    const { trouble, violate } = this.#stage;
    const earlier = this.#approvals.filter((each) => each.environment === environment && each.run !== run);
    if (this.#release === 'newest') {
      const newer = earlier.find(
        (each) =>
          each.run.workflow === run.workflow &&
          each.run.number > run.number &&
          Date.now() - each.at > trouble.bound,
      );
      if (newer) violate('an older one after a newer one', `${story}; run ${newer.run.number} went first`);
      return;
    }
    const last = earlier.at(-1);
    const waits = (each: Run) =>
      each.jobs.every(
        (job) => job.environment.name !== environment || ['waiting', 'queued'].includes(job.state),
      );
    if (last && last.run.attempt === last.attempt && waits(last.run))
      violate('two at once', `${story}; run ${last.run.id} waits`);
  }

  /** What waits and should not, or is not told why, or was told a reject. */
  #problems(): string[] {
    const stage = this.#stage;
    return runs(stage).flatMap((run) =>
      [alone!, shared!].flatMap((environment) => {
        const jobs = run.jobs.filter((job) => job.environment.name === environment && waitsForUs(stage, job));
        if (jobs.length === 0) return [];
        const holds = holding(stage, environment);
        const told = run.reviews.filter(
          (each) => isOurs(each) && each.attempt === run.attempt && each.environment === environment,
        );
        const story = `run ${run.id} (${run.workflow} ${run.number}), attempt ${run.attempt}, ${environment}`;
        if (holds.length === 0) return [`${story} waits, and no freeze holds it`];
        if (holds.some(({ onDeployment }) => onDeployment === 'reject')) return [`${story} is not rejected`];
        return told.length === 0 ? [`${story} waits, and nobody is told why`] : [];
      }),
    );
  }

  /** A minute without faults: everything is right. */
  async calm(): Promise<void> {
    const stage = this.#stage;
    this.#isCalm = true;
    for (let step = 0; step < steps; step++) await advance(stage, patience / steps);
    const began = Date.now();
    while (this.#problems().length > 0 && Date.now() - began < stage.machine.allow(margin)) await wait(100);
    if (stage.trouble.isExcused) stage.log('calm did not last for deployments');
    else for (const problem of this.#problems()) stage.violate('wrong in calm weather', problem);
    this.#isCalm = false;
  }

  /** What the service kept of each attempt is what happened at GitHub. */
  async lastCheck(): Promise<void> {
    const stage = this.#stage;
    await this.calm();
    type Listed = { run_id: number; attempt: number; environment: string; state: string };
    const kept = new Map<string, string>();
    let path: string | null = `/v1/repos/${stage.repository}/deployments?per_page=100`;
    while (path !== null) {
      const found: Response = await fetch(stage.fleet.webs[0] + path, {
        headers: { Authorization: `Bearer ${stage.api.keys.admin}` },
      });
      const { deployments } = (await found.json()) as { deployments: Listed[] };
      for (const { run_id, attempt, environment, state } of deployments)
        kept.set(`${run_id} ${attempt} ${environment}`, state);
      const next: string | undefined = /<([^>]+)>; rel="next"/.exec(found.headers.get('link') ?? '')?.[1];
      path = next ? next.slice(next.indexOf('/v1/')) : null;
    }
    for (const [key, state] of kept) {
      const [id, attempt, environment] = key.split(' ') as [string, string, string];
      const run = runs(stage).find((each) => each.id === Number(id))!;
      const expected = this.#expected(run, Number(attempt), environment);
      if (!expected.includes(state))
        stage.violate('kept wrong', `run ${key} is ${state}, and not ${expected.join(' or ')}`);
    }
  }

  #expected(run: Run, attempt: number, environment: string): string[] {
    const ours = run.reviews.filter(
      (each) => isOurs(each) && each.attempt === attempt && each.environment === environment,
    );
    const decision = ours.find(({ state }) => state !== 'pending');
    if (decision) return decision.state === 'approved' ? ['approved'] : ['rejected', 'superseded'];
    if (attempt !== run.attempt) return ['gone', 'bypassed', ...this.#ambiguous(run)];
    const jobs = run.jobs.filter((job) => job.environment.name === environment);
    if (jobs.some((job) => job.state === 'waiting')) return ['waiting'];
    const hasBegun = jobs.some(({ history }) => history.some(({ state }) => state === 'queued'));
    const unheld = ours.length === 0 ? ['approved'] : [];
    return hasBegun ? ['bypassed', ...unheld, ...this.#ambiguous(run)] : ['gone', ...this.#ambiguous(run)];
  }

  /** A decision whose answer was lost counts as taken if nothing waits any more. */
  #ambiguous({ id }: Run): string[] {
    const isOfRun = ({ path, method }: { path: string; method: string }) =>
      method === 'POST' && path.includes(`/runs/${id}/`);
    const { chaos } = this.#stage.github;
    const { kills, restarts } = this.#stage.trouble;
    const mayBe = chaos.events.some(isOfRun) || kills.length > 0 || restarts.length > 0;
    return mayBe ? ['approved', 'rejected', 'superseded'] : [];
  }
}

const wait = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));
