import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Random } from '../../sandbox/http/random.ts';
import { type Sandbox, startSandbox } from '../../sandbox/github.ts';
import { administer, databaseUrl } from '../support/postgres.ts';
import { ApiClient } from './api-client.ts';
import { queuedBranch } from './actions/merge-queue.ts';
import { mostOpen, pullRequestActions } from './actions/pull-requests.ts';
import { advance, calm, settle } from './calm.ts';
import { Fleet, type Role } from './fleet.ts';
import { setMode } from './actions/instant-hold.ts';
import { runOf } from './instant-hold.ts';
import { lastCheck } from './last-check.ts';
import { Machine } from './machine.ts';
import { MergeWatch } from './merge-watch.ts';
import { Model } from './model.ts';
import { PostWatch } from './post-watch.ts';
import { mostOpenNextDoor, Neighbours } from './neighbours.ts';
import type { PostgresCluster } from './postgres-cluster.ts';
import { prepareDeployments } from './deployments.ts';
import { actions, type Step, writeScript } from './script.ts';
import { ServiceTime } from './service-time.ts';
import { everybody, type Stage } from './stage.ts';
import { Trouble } from './trouble.ts';

const repository = 'acme/web';
const chaos = {
  apiFailureRate: 0.2,
  webhookRates: { lose: 0.2, repeat: 0.2, reorder: 0.2 },
  staleRate: 0.05,
  staleBy: 1_500,
};

export type Outcome = {
  /** Counts for one line of JSON. */
  counts: Record<string, unknown>;
  violations: string[];
  /** What was done, in order. */
  steps: string[];
  logFolder: string;
};

/** Runs the script of a seed against the real service, on a PostgreSQL server where one is given. */
export async function run(
  seed: number,
  seconds: number,
  server: string | null,
  postgres: PostgresCluster | null,
): Promise<Outcome> {
  const folder = await mkdtemp(join(tmpdir(), `holdfast-faults-${seed}-`));
  const time = new ServiceTime();
  const machine = new Machine();
  const github = await startSandbox({
    now: () => new Date(time.now()),
    before: () => new Date(time.before()),
  });
  const database = server ? await newDatabase(server, seed) : { DATA_DIR: join(folder, 'data') };
  const roles: Role[] = server ? ['web', 'web', 'worker', 'worker'] : ['all'];
  const { mode, statusWritesPerMinute, openAtFirst } = runOf(seed);
  const lock = mode && github.addSecondApp();
  const environment = {
    ...environmentOf(github),
    STATUS_WRITES_PER_MINUTE: `${statusWritesPerMinute}-${statusWritesPerMinute}`,
    ...(lock && { LOCK_APP_ID: String(lock.id), LOCK_PRIVATE_KEY: lock.privateKey }),
  };
  const fleet = await Fleet.start({ ...environment, ...database }, roles, folder);
  const sharing = mostOpen + mostOpenNextDoor;
  const slowness = statusWritesPerMinute < 600 ? (sharing * 60_000) / statusWritesPerMinute : 0;
  const steps: string[] = [];
  const violations: string[] = [];
  const asides = new Set<Promise<unknown>>();
  const stage: Stage = {
    github,
    repository,
    api: new ApiClient(fleet.webs, seed + 2),
    model: new Model(),
    instantHold: mode && { mode: 'off', isChanging: false, broken: null },
    neighbours: new Neighbours(),
    time,
    fleet,
    postgres,
    machine,
    trouble: new Trouble(github, fleet, time, machine, slowness),
    aside(work) {
      const kept = work
        .catch((error: unknown) => stage.violate('failed', String(error)))
        .finally(() => asides.delete(kept));
      asides.add(kept);
    },
    async quiet() {
      while (asides.size > 0) await Promise.race([Promise.all(asides), advance(stage)]);
    },
    log: (what) => void steps.push(`${new Date(time.now()).toISOString()} ${what}`),
    violate(kind, what) {
      stage.log(`VIOLATION ${kind}: ${what}`);
      violations.push(`${kind}: ${what}`);
    },
  };
  try {
    await populate(stage, seed, openAtFirst);
    if (mode) await setMode(stage, stage.instantHold!, mode);
    const deployments = await prepareDeployments(stage, seed);
    const merges = new MergeWatch(stage);
    const watches = [merges, ...stage.neighbours!.enforced.map((each) => new MergeWatch(each))];
    const posts = new PostWatch(stage);
    const watching = setInterval(() => {
      for (const watch of watches) watch.look();
      deployments.look();
    }, 100);
    const script = writeScript(seed, seconds);
    storm(stage, seed);
    let pressed = 0;
    for (const [index, step] of script.entries()) {
      await wait(step.pause);
      if (step.action !== 'calm') perform(stage, step, watches);
      else {
        pressed += await calm(stage, step.seed, watches);
        await deployments.calm();
        storm(stage, seed + index);
      }
    }
    await settle(stage);
    await lastCheck(stage);
    await deployments.lastCheck();
    clearInterval(watching);
    for (const { name, how } of fleet.crashes) stage.violate('a process ended', `${name} (${how})`);
    if (github.unknownRoutes.length > 0) stage.violate('unknown to the sandbox', github.unknownRoutes.join());
    const counts = {
      seed,
      database: server ? 'postgresql' : 'embedded',
      steps: script.length,
      webhooks: github.deliveries.length,
      requests: github.requests.length,
      faults: github.chaos.counts,
      apiAnswers: stage.api.statuses,
      kills: fleet.kills,
      wrongClocks: fleet.wrongClocks,
      databaseRestarts: stage.trouble.restarts.length,
      clockSteps: time.steps.length,
      instantHold: mode,
      rulesets: github.requests.filter(({ path, method }) => method !== 'GET' && path.includes('/rulesets'))
        .length,
      freezes: stage.model.freezes.filter(({ planId }) => !planId).length,
      plans: new Set(stage.model.freezes.flatMap(({ planId }) => planId ?? [])).size,
      exemptions: stage.model.exemptions.length,
      pullRequests: github.pullRequests(repository).length,
      merges: merges.merges,
      mergedByQueue: github.merges(repository).filter(({ how }) => how === 'queue').length,
      mergeGroups: github.deliveries.filter(
        ({ event, action }) => event === 'merge_group' && action === 'checks_requested',
      ).length,
      mergedWithExcuse: merges.excused,
      pressedInVain: pressed,
      neighbours: {
        pullRequests: stage.neighbours!.stages.map((each) => github.pullRequests(each.repository).length),
        freezes: stage.neighbours!.stages.map(({ model }) => model.freezes.length),
        merges: watches.slice(1).map((watch) => watch.merges),
      },
      posts: posts.posts,
      deployments: deployments.counts,
      duplicatesWithExcuse: posts.excuses,
      violations: Object.fromEntries(
        [...Map.groupBy(violations, (text) => text.split(':')[0]!)].map(([kind, of]) => [kind, of.length]),
      ),
    };
    return { counts, violations, steps, logFolder: folder };
  } finally {
    machine.stop();
    await writeFile(join(folder, 'steps.log'), timeline(stage, steps).join('\n'));
    await fleet.stop();
    await github.close();
  }
}

/** The world before the first fault: the App installed, some pull requests with their first statuses, a key. */
async function populate(stage: Stage, seed: number, openAtFirst: number): Promise<void> {
  const { github, fleet, api } = stage;
  const { token } = github.addUser('ada');
  github.addUser('bob');
  api.keys.writer = github.addUser('wes').token;
  github.addOrganization('acme', { admins: ['ada'], members: ['bob'] });
  const contexts = ['holdfast/freeze'];
  const protect = { main: contexts, release: contexts };
  github.addRepository(repository, { protect, private: true, roles: { wes: 'write' } });
  github.enableMergeQueue(repository, queuedBranch, {
    mergingStrategy: seed % 2 === 0 ? 'ALLGREEN' : 'HEADGREEN',
    checkResponseTimeoutMinutes: 10,
  });
  github.deliverTo(`${fleet.webs[0]}/api/github/webhooks`);
  stage.neighbours!.settle(stage);
  github.install('acme');
  if (stage.instantHold) github.install('acme', { second: true });
  const random = new Random(seed);
  for (let count = 0; count < openAtFirst; count += 1) pullRequestActions['open']!.act(stage, random);
  await github.waitForStatus(repository, 1, 'success', { timeoutMs: 120_000 });
  api.keys.admin = token;
  const key = async (scope: string) => {
    const { body } = await api.call('POST', '/v1/applications/acme', { name: 'script', scope });
    return body.secret as string;
  };
  api.keys.ci = await key('ci');
  api.keys.admin = await key('admin');
  await stage.neighbours!.moveIn(stage, seed);
}

function perform(stage: Stage, { action, seed }: Step, watches: MergeWatch[]): void {
  const { github, fleet } = stage;
  const random = new Random(seed);
  const web = fleet.webs[random.between(0, fleet.webs.length - 1)];
  github.deliverTo(`${web}/api/github/webhooks`);
  github.advanceQueues();
  const what = actions[action]!.act(stage, random);
  stage.log(`${action}: ${what ?? 'nothing to do'}`);
  for (const watch of watches) watch.look();
}

function storm(stage: Stage, seed: number): void {
  stage.github.chaos.start({ ...chaos, seed });
  for (const { api } of everybody(stage)) api.isFlaky = true;
}

function environmentOf(github: Sandbox): Record<string, string> {
  return {
    APP_ID: String(github.app.id),
    PRIVATE_KEY: github.app.privateKey,
    WEBHOOK_SECRET: github.app.webhookSecret,
    GITHUB_API_URL: github.url,
    // The same for all, as behind a load balancer: texts that GitHub shows have it.
    PUBLIC_URL: 'http://holdfast.example',
  };
}

/** Steps and faults together, by the service's time. */
function timeline({ github, time }: Stage, steps: string[]): string[] {
  const faults = github.chaos.events.map(({ at, kind, method, path, operationName }) => {
    return `${new Date(time.at(at)).toISOString()} FAULT ${kind}: ${method} ${operationName ?? path}`;
  });
  return [...steps, ...faults].sort();
}

async function newDatabase(server: string, seed: number): Promise<{ DATABASE_URL: string }> {
  const name = `holdfast_faults_${seed}_${Date.now()}`;
  await administer(server, `CREATE DATABASE ${name}`);
  return { DATABASE_URL: databaseUrl(server, name) };
}

const wait = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));
