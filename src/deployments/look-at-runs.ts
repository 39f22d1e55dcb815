import pLimit from 'p-limit';
import { nowOf } from '../time/clock.ts';
import { answersPerService } from '../github/cache.ts';
import { missingForDeployments } from '../github/app-manifest.ts';
import { holdsDeployments, type StoredFreeze } from '../freezes/freeze.ts';
import { freezesNotOver } from '../freezes/list-freezes.ts';
import { freezesAreOn } from '../installations/product.ts';
import { readAlone } from '../installations/find-repository.ts';
import { syncRepository } from '../installations/sync-installations.ts';
import { defineTask, NotNow } from '../database/queue/define-task.ts';
import { jobs } from '../database/queue/jobs.ts';
import { observe } from '../statuses/observe.ts';
import { isRuleEnabled, pendingEnvironments, readRun, type Run, waitingRuns } from './ask-github.ts';
import { type Review, type DeploymentState, environmentKey } from './deployment.ts';
import { deploymentsOfRun, markChecked, runsKnownToWait, saveRequest, watch } from './deployment-store.ts';
import { requestedByGitHub } from './run-progress.ts';
import { openSettling, saveSettlement, settleVanished, type Settling } from './settle.ts';
import type { StatusDeps } from '../statuses/status-deps.ts';

// Finds out which environments of a run wait for us: when an event names the run, and each minute, because events get
// lost.

/** What GitHub asked about: our rule is enabled on the environment. @property at when, if it said so. */
type Told = { environment: string; at: Date | null };

/**
 * Looks at one run, and has what waits in it decided.
 * @param through the installation of the event.
 */
async function lookAtRun(
  deps: StatusDeps,
  repositoryId: bigint,
  runId: bigint,
  told: Told | null,
  through: bigint | null,
): Promise<void> {
  if (through !== null) await learn(deps, repositoryId, through);
  // Now, so that the sweep goes on if we cannot.
  if (told !== null) await watch(deps.db, repositoryId, nowOf(deps.clock));
  let settling = await openSettling(deps, repositoryId);
  const read = () => observe(deps, settling.repository, () => readRun(settling.remote, runId));
  let run = await read();
  if (run === null && told !== null) {
    // Another repository may have the name that we know.
    await syncRepository(deps, repositoryId, through);
    settling = await openSettling(deps, repositoryId);
    run = await read();
  }
  const again = await noteRun(settling, runId, run, told);
  await deps.queue.send([jobs.reviewDeployments(repositoryId)]);
  if (again) throw new NotNow(new Date(deps.clock.now() + 2_000));
}

/** Milliseconds that reading a new installation takes. */
const untilKnown = 2_000;

/** Reads a repository that we do not know through the installation of the event: it is new, or was transferred. */
async function learn(deps: StatusDeps, repositoryId: bigint, through: bigint): Promise<void> {
  const where = { id: repositoryId, installationId: through };
  if ((await deps.db.repository.count({ where })) > 0) return;
  if ((await syncRepository(deps, repositoryId, through)) === 'later')
    throw new NotNow(new Date(deps.clock.now() + untilKnown));
}

/** Saves what waits in a run, and how that ended which no longer does. @returns whether to look again soon. */
async function noteRun(
  settling: Settling,
  runId: bigint,
  run: Run | null,
  told: Told | null,
): Promise<boolean> {
  const { deps, repository, remote } = settling;
  const known = await deploymentsOfRun(deps.db, repository.id, runId);
  const former = known.filter(({ state, attempt }) => state === 'waiting' && attempt !== run?.attempt);
  for (const each of former)
    await saveSettlement(settling, each, { state: decisionIn(each.attempted) ?? 'gone' }, null);
  if (!run) return false;
  const now = nowOf(deps.clock);
  const pending = await observe(deps, repository, () => pendingEnvironments(remote, runId));
  const keys = new Set(pending.map(environmentKey));
  const ofAttempt = new Map(
    known
      .filter(({ attempt }) => attempt === run.attempt)
      .map((each) => [environmentKey(each.environment), each]),
  );
  const isNew = (name: string) => ofAttempt.get(environmentKey(name))?.state !== 'waiting';
  // It can wait for another rule after we approved our part, so the sweep asks seldom whether it waits for us again.
  const isRecent = (name: string) => {
    const { state, decidedAt: at = null } = ofAttempt.get(environmentKey(name)) ?? {};
    return state !== 'gone' && at !== null && now.getTime() - at.getTime() < recently;
  };
  const toldKey = told && environmentKey(told.environment);
  const asking = toldKey !== null && (keys.has(toldKey) || !ofAttempt.has(toldKey));
  const wanted = new Set(asking ? [toldKey] : []);
  for (const name of pending)
    if (
      isNew(name) &&
      !isRecent(name) &&
      !wanted.has(environmentKey(name)) &&
      (await hasOurRule(settling, name))
    )
      wanted.add(environmentKey(name));
  const over = wanted.size > 0 ? await freezesOver(settling, run, now) : [];
  for (const name of new Set([...pending, ...(told ? [told.environment] : [])])) {
    const key = environmentKey(name);
    if (!wanted.has(key) || !isNew(name)) continue;
    wanted.delete(key);
    const at =
      (key === toldKey && told?.at) ||
      (await observe(deps, repository, () => requestedByGitHub(remote, run, name)));
    const before = decisionIn(ofAttempt.get(key)?.state ?? null);
    await saveRequest(
      deps.db,
      repository.id,
      run,
      name,
      at ?? now,
      now,
      before,
      missedFreezes(over, name, at),
    );
  }
  await markChecked(deps.db, repository.id, runId, now);
  let again = false;
  for (const [key, each] of ofAttempt)
    if (each.state === 'waiting' && !keys.has(key))
      again = (await observe(deps, repository, () => settleVanished(settling, each))) === 'again' || again;
  return again;
}

type Over = { freeze: StoredFreeze; at: Date };

/** The freezes that ended or were deleted since a run began. */
async function freezesOver({ deps, repository }: Settling, run: Run, now: Date): Promise<Over[]> {
  if (!freezesAreOn(repository.products)) return [];
  const { kept } = await readAlone(deps.sql, freezesNotOver(run.startedAt, now), repository);
  return kept
    .map(({ freeze, deletedAt }) => ({ freeze, at: deletedAt ?? freeze.endsAt ?? now }))
    .filter(({ at }) => at < now);
}

/** The ids of those that held a deployment before we knew of it: it has its turn with the others. */
const missedFreezes = (over: Over[], environment: string, since: Date | null): string[] =>
  over
    .filter(({ freeze, at }) => since !== null && at > since && holdsDeployments(freeze, environment))
    .map(({ freeze }) => freeze.id);

/** What we decided before: GitHub's answer that it still waits may be older than that. */
const decisionIn = (told: DeploymentState | Review | null) =>
  told === 'approved' || told === 'rejected' || told === 'superseded' ? told : null;

/** Milliseconds. */
const recently = 5 * 60_000;

/** Milliseconds to remember whether an environment has our rule. */
const ruleFor = 60_000;
const rules = answersPerService<boolean>(10_000, () => ruleFor);

function hasOurRule({ deps, repository, remote }: Settling, environment: string): Promise<boolean> {
  const { client, owner, repo } = remote;
  return rules(deps).get(`${repository.id} ${environmentKey(environment)}`, () =>
    observe(deps, repository, () => isRuleEnabled(client, { owner, repo }, deps.config.app.id, environment)),
  );
}

/** How many runs we look at in a minute: those that we do not know, and those that we know. */
const mostUnknown = 50;
const mostKnown = 5;
const runsAtOnce = 4;

/** Asks GitHub which runs of a repository wait, and has them decided: webhooks get lost, and people go past us. */
async function findDeployments(deps: StatusDeps, repositoryId: bigint): Promise<void> {
  const settling = await openSettling(deps, repositoryId);
  const { repository, remote } = settling;
  const permissions = repository.installation.permissions as Record<string, string>;
  // An App that was made without them is not asked.
  if (missingForDeployments({ permissions }).length > 0) throw new NotNow(null);
  const runs = await observe(deps, repository, () => waitingRuns(remote));
  const known = await runsKnownToWait(deps.db, repositoryId);
  const waiting = new Map(runs.map((run) => [run.id, run]));
  const unknown = runs.filter(({ id }) => !known.includes(id)).slice(0, mostUnknown);
  const vanished = known.filter((id) => !waiting.has(id));
  const checked = known.filter((id) => waiting.has(id)).slice(0, mostKnown);
  const limit = pLimit(runsAtOnce);
  const outcomes = await Promise.all([
    ...unknown.map((run) => limit(() => noteRun(settling, run.id, run, null))),
    ...checked.map((id) => limit(() => noteRun(settling, id, waiting.get(id)!, null))),
    ...vanished.map((id) =>
      limit(async () => {
        const run = await observe(deps, repository, () => readRun(remote, id));
        return noteRun(settling, id, run, null);
      }),
    ),
  ]);
  await deps.queue.send([jobs.reviewDeployments(repositoryId)]);
  if (outcomes.includes(true)) throw new NotNow(new Date(deps.clock.now() + 2_000));
}

export const lookAtRunTask = defineTask(
  jobs.lookAtRun,
  (deps: StatusDeps, { repositoryId, runId, environment, requestedAt = null, installationId }) =>
    lookAtRun(
      deps,
      BigInt(repositoryId),
      BigInt(runId),
      environment === null ? null : { environment, at: requestedAt === null ? null : new Date(requestedAt) },
      installationId ? BigInt(installationId) : null,
    ),
  { takers: 16 },
);

export const findDeploymentsTask = defineTask(jobs.findDeployments, (deps: StatusDeps, { repositoryId }) =>
  findDeployments(deps, BigInt(repositoryId)),
);
