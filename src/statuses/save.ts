import { isDeepStrictEqual } from 'node:util';
import { nowOf } from '../clock.ts';
import type { SqlTx } from '../database/sql.ts';
import type { Deps } from '../deps.ts';
import type { LoadedPullRequest } from '../github/pull-requests/load-pull-requests.ts';
import { type Stack, stackedWith } from '../github/pull-requests/stacks.ts';
import { changedAtOf } from '../github/pull-requests/pull-request.ts';
import { fullName } from '../installations/find-repository.ts';
import { foreignIn, mustWrite, shownNow } from './plan-write.ts';
import { beforeTheRest } from './urgency.ts';
import { type Job, jobs, type Told } from '../queue/jobs.ts';
import { judge, judgeClosed, type Judged, judgedBy, type Judgement, shasOf, type Verdict } from './judge.ts';
import { askSoonAt } from './merge-states/ask-merge-states.ts';
import { againWhereUnknown, plannedChange } from './next-change.ts';
import type { Observed } from './observe.ts';
import type { LastSeen } from './open-pull-request-store.ts';
import { againWhereOutdated, goneIn, overtakenIn, takenIn, unseenIn } from './seen-before.ts';
import {
  type Before,
  type Desired,
  forgetHeads,
  lockStored,
  readBefore,
  type StoredRepository,
  writeDesired,
} from './desired-store.ts';

/** The pull requests that an observation found. */
export type Found = {
  pullRequests: LoadedPullRequest[];
  /** The scope: all open ones, all closed ones, or those of events with all that share a SHA. */
  of: 'open' | 'closed' | Told[];
  /** Other numbers that we asked for. */
  asked?: ReadonlySet<number>;
  isPrivate?: boolean;
  /** The stacks, if they were read again. */
  stacks?: Stack[];
};

/**
 * What was saved: how many statuses differ. Nothing is saved if a pull request with a shared SHA was not observed, or if
 * the stacks changed meanwhile (`isOutdated`): then the whole repository will be observed.
 */
export type Saved = { differing: number; unseen: LastSeen[]; isOutdated?: boolean };

/**
 * Judges the pull requests and saves the wanted statuses, in one transaction with the jobs that follow. Observations of
 * a repository save one after another. If two pull requests get the same SHA while two observations each see only one of
 * them, the observation that saves later finds the other pull request.
 */
export async function save(deps: Deps, observed: Observed, found: Found): Promise<Saved> {
  const { id } = observed.repository;
  const told = Array.isArray(found.of) ? found.of : null;
  const open = found.pullRequests.filter(({ isOpen }) => isOpen);
  const judgement = judge(observed, open);
  const closed = closedIn(found);
  const closedShas = closed.map(({ facts }) => facts.headSha);
  const toHold = judgeClosed(observed, closed);
  const numbers = new Set([
    ...(told ?? []).map(({ number }) => number),
    ...found.pullRequests.map(({ facts }) => facts.number),
    ...(found.asked ?? []),
  ]);
  const isTold = ({ facts }: LoadedPullRequest) => told?.some(({ number }) => number === facts.number);
  const asked = {
    // Those above it are held with it.
    numbers: told ? [...numbers, ...stackedWith(observed.from.stacks, numbers)] : [],
    shas: [...open.flatMap(shasOf), ...closedShas],
    merged: found.pullRequests.filter(isTold).flatMap(({ headMerges }) => headMerges ?? []),
  };
  const shas = [...judgement.verdicts, ...toHold].map(({ sha }) => sha);
  const saved = await deps.sql.transaction(async (tx): Promise<Saved> => {
    const [stored, before] = await Promise.all([
      lockStored(tx, id),
      readBefore(tx, id, shas, found.of === 'open' ? null : asked),
    ]);
    if (found.of !== 'open' && !isDeepStrictEqual(stored.stacks, observed.from.stacks)) {
      tx.atCommit(deps.queue.send([jobs.reconcileRepository(id)], tx));
      return { differing: 0, unseen: [], isOutdated: true };
    }
    const unseen = unseenIn(observed, found, before.lastSeen, numbers, new Set(asked.shas));
    if (unseen.length > 0) return { differing: 0, unseen };
    const gone = goneIn(observed, found, before.lastSeen, open);
    const taken = takenIn(observed, before.lastSeen, open, gone);
    const held = toHold.filter(({ sha }) => !taken.has(sha));
    const writing = write(deps, tx, observed, before, {
      verdicts: [...(told ? judgement.verdicts.map(beforeTheRest) : judgement.verdicts), ...held],
      judged: judgement.judged,
      gone,
      letGoAmong: found.of === 'closed' ? null : closedShas,
      repository: changesOf(observed, found, judgement, stored),
    });
    const forgetting = found.of === 'open' ? forgetHeads(tx, observed) : null;
    const [{ differing, jobs: toDrain }] = await Promise.all([writing, forgetting]);
    const answer = { told, shown: found.pullRequests, judged: judgement.judged, lastSeen: before.lastSeen };
    const outdated = found.of === 'closed' ? [] : againWhereOutdated(observed, answer, nowOf(deps.clock));
    const following = found.of === 'closed' ? [] : whatFollows(observed, found, judgement, stored, gone);
    const again = overtakenIn(observed, before.lastSeen, open).map(({ facts: { number, nodeId } }) =>
      jobs.reconcilePullRequest(id, { number, nodeId, installationId: null }),
    );
    tx.atCommit(deps.queue.send([...outdated, ...toDrain, ...following, ...again], tx));
    return { differing, unseen };
  });
  logUnjudged(deps, observed, judgement.verdicts);
  return saved;
}

/** The closed pull requests whose heads we judge. */
const closedIn = ({ pullRequests, of }: Found): LoadedPullRequest[] =>
  pullRequests.filter(
    ({ isOpen, facts }) =>
      !isOpen && (of === 'closed' || (of !== 'open' && of.some(({ number }) => number === facts.number))),
  );

/** What we save in the repository's row. */
function changesOf(
  observed: Observed,
  { of, stacks, isPrivate = false }: Found,
  { nextChangeAt }: Judgement,
  stored: StoredRepository,
): Desired['repository'] {
  const isWhole = of === 'open';
  const planned =
    of === 'closed' ? stored.nextChangeAt : plannedChange(nextChangeAt, stored, observed, isWhole);
  return {
    nextChangeAt: planned,
    // Its pages require a sign-in from now on. Only a webhook makes them public again, because this answer may be older.
    isPrivate,
    reconciledAt: isWhole ? observed.observedAt : null,
    closedJudgedBy: of === 'closed' ? judgedBy(observed.freezes) : null,
    stacks: stacks ?? null,
    isChanged: isWhole || of === 'closed' || planned?.getTime() !== stored.nextChangeAt?.getTime(),
  };
}

/** The jobs that follow from an observation of open pull requests. */
function whatFollows(
  observed: Observed,
  found: Found,
  judgement: Judgement,
  stored: StoredRepository,
  gone: number[],
): Job[] {
  const { repository, freezes } = observed;
  const isWhole = found.of === 'open';
  const next = judgement.nextChangeAt;
  const isPlanned = next && plannedChange(next, stored, observed, isWhole) === next;
  // Pull requests that closed without a webhook are judged with the other closed ones.
  const areClosedOwed =
    judgedBy(freezes) !== stored.closedJudgedBy || (gone.length > 0 && freezes.length > 0);
  const branches = new Set(judgement.judged.flatMap(({ pullRequest }) => pullRequest.queueBranch ?? []));
  return [
    ...gone.map((number) => jobs.findBypass(repository.id, number)),
    ...(isWhole && areClosedOwed ? [jobs.reconcileClosedHeads(repository.id)] : []),
    ...(isPlanned ? [jobs.reconcileRepository(repository.id, next)] : []),
    ...againWhereUnknown(observed, judgement),
    ...(isWhole ? [] : [...branches].map((branch) => jobs.reconcileMergeQueue(repository.id, branch))),
  ];
}

/**
 * Saves the verdicts on merge groups, like `save`.
 * @param keepGroups saves the groups themselves.
 */
export async function saveGroupVerdicts(
  deps: Deps,
  observed: Observed,
  verdicts: Verdict[],
  keepGroups: (tx: SqlTx) => Promise<void>,
  following: Job[],
): Promise<Saved> {
  const { id } = observed.repository;
  const shas = verdicts.map(({ sha }) => sha);
  const saved = await deps.sql.transaction(async (tx) => {
    const [{ nextChangeAt }, before] = await Promise.all([
      lockStored(tx, id),
      readBefore(tx, id, shas, { numbers: [], shas: [], merged: [] }),
      keepGroups(tx),
    ]);
    const repository = {
      nextChangeAt,
      isPrivate: false,
      reconciledAt: null,
      closedJudgedBy: null,
      stacks: null,
      isChanged: false,
    };
    const wanted = { verdicts, judged: [], gone: [], letGoAmong: [], repository };
    const [{ differing, jobs: toDrain }] = await Promise.all([
      write(deps, tx, observed, before, wanted, true),
      forgetHeads(tx, observed),
    ]);
    tx.atCommit(deps.queue.send([...toDrain, ...following], tx));
    return { differing, unseen: [] };
  });
  logUnjudged(deps, observed, verdicts);
  return saved;
}

type Wanted = Pick<Desired, 'gone' | 'letGoAmong' | 'repository'> & { verdicts: Verdict[]; judged: Judged[] };

/** Saves the wanted statuses, and queues those that GitHub does not show yet. */
async function write(
  deps: Deps,
  tx: SqlTx,
  { repository, observation }: Observed,
  { known }: Before,
  { verdicts, judged, ...others }: Wanted,
  isMergeGroup = false,
): Promise<{ differing: number; jobs: Job[] }> {
  const now = nowOf(deps.clock);
  const rows = verdicts.map(({ sha, status, present, urgency, closedNumber = null }) => {
    const before = known.get(sha) ?? null;
    const isWaiting = mustWrite(status, present, before, observation, now);
    const shown = shownNow(present, before, observation, now);
    const foreign = foreignIn(present, before, observation, now);
    const row = {
      sha,
      ...status,
      urgency,
      is_waiting: isWaiting,
      closed_number: closedNumber,
      is_foreign: foreign !== null,
      foreign_state: foreign?.state ?? '',
      foreign_description: (foreign?.description ?? '').toWellFormed(),
      is_missing: shown === null && before !== null,
    };
    return { row, isHeldAgain: !isWaiting && shown !== null && shown.state !== 'success' };
  });
  const askAt = askSoonAt(deps);
  const { id: installationId } = repository.installation;
  const written = await writeDesired(tx, {
    ...others,
    repositoryId: repository.id,
    installationId,
    observation,
    now,
    isMergeGroup,
    askAt,
    statuses: rows.map(({ row }) => row),
    heldAgain: rows.filter(({ isHeldAgain }) => isHeldAgain).map(({ row }) => row.sha),
    pullRequests: judged.map(({ pullRequest: { facts, testMerge, title }, holds }) => ({
      number: facts.number,
      node_id: facts.nodeId,
      head_sha: facts.headSha,
      title: title.toWellFormed(),
      merge_sha: testMerge?.sha ?? null,
      held_by: [...new Set(holds.map(({ freeze }) => freeze.id))],
      changed_at: changedAtOf(facts),
    })),
  });
  const { differing, isReleased, isDue } = written;
  const toDrain = differing > 0 || isReleased ? [jobs.drainOutbox(installationId)] : [];
  return { differing, jobs: [...toDrain, ...(isDue ? [jobs.askMergeStates(repository.id, askAt)] : [])] };
}

/** Logs one line for each reason and freeze, because a missing team may affect a thousand pull requests. */
function logUnjudged({ log }: Deps, { repository }: Observed, verdicts: Verdict[]): void {
  const unjudged = verdicts.flatMap(({ holds }) => holds.filter((hold) => hold.unjudged !== null));
  const groups = Map.groupBy(unjudged, (hold) => `${hold.freeze.id} ${hold.unjudged}`);
  for (const holds of groups.values()) {
    const { freeze, unjudged: why } = holds[0]!;
    const pullRequests = holds.slice(0, mostNamed).map(({ pullRequest }) => pullRequest);
    log.warn(
      { repository: fullName(repository), freeze: freeze.id, why, count: holds.length, pullRequests },
      'conditions could not be judged, so the freeze holds',
    );
  }
}

const mostNamed = 20;
