import { isDeepStrictEqual } from 'node:util';
import { nowOf, wasSetSince } from '../time/clock.ts';
import type { SqlTx } from '../database/sql.ts';
import type { LoadedPullRequest } from '../github/pull-requests/load-pull-requests.ts';
import { changedAtOf } from '../github/pull-requests/pull-request.ts';
import { stackedWith } from '../github/pull-requests/stacks.ts';
import { fullName } from '../installations/find-repository.ts';
import { NotNow } from '../database/queue/define-task.ts';
import { type Job, jobs, type PullRequestEvent } from '../database/queue/jobs.ts';
import {
  type Before,
  type Desired,
  forgetHeads,
  lockStored,
  readBefore,
  type StoredRepository,
  writeDesired,
} from './desired-store.ts';
import { againWhereOutdated, againWhereOvertaken, followUp, plannedChange } from './follow-up.ts';
import { judge, judgeClosed, type Judged, judgedBy, shasOf, type JudgedVerdict } from './judge.ts';
import type { Observed, PullRequestReading } from './observe.ts';
import { type LastSeen, shasThen, sizeIn, supersededBy } from './open-pull-request-store.ts';
import { changedIn, freezesOf } from './changed-pull-requests.ts';
import { foreignIn, mostOfFew, mustWrite, rankOf, shownNow, tiers } from './plan-write.ts';
import type { StatusDeps } from './status-deps.ts';
import { askSoonAt } from './ask-merge-states.ts';

/**
 * What was saved: how many statuses differ. Nothing is saved if a pull request with a shared SHA was not observed, or if
 * the stacks changed meanwhile (`isOutdated`): then the whole repository will be observed.
 */
export type Saved = { differing: number; unseen: LastSeen[]; isOutdated?: boolean };

/**
 * Judges the pull requests and saves the wanted statuses, in one transaction with the jobs that follow. If two pull
 * requests get the same SHA while two observations each see only one of them, the observation that saves later finds the
 * other pull request.
 */
export async function saveObservation(
  deps: StatusDeps,
  observed: Observed,
  reading: PullRequestReading,
): Promise<Saved> {
  const { observation, observedAt, from } = observed;
  const { pullRequests, events } = reading;
  const named = new Set(events?.map(({ number }) => number));
  const open = pullRequests.filter(({ isOpen }) => isOpen);
  const closed = pullRequests.filter(({ isOpen, facts }) => !isOpen && named.has(facts.number));
  const judgement = await judge(observed, open);
  const { judged } = judgement;
  const toHold = await judgeClosed(observed, closed);
  const closedShas = closed.map(({ facts }) => facts.headSha);
  const seenShas = new Set([...open.flatMap(shasOf), ...closedShas]);
  const openNumbers = new Set(open.map(({ facts }) => facts.number));
  const read = pullRequests.map(({ facts }) => facts.number);
  const asked = new Set([...named, ...read, ...(reading.sharers ?? [])]);
  const ofEvents = pullRequests.filter(({ facts }) => named.has(facts.number));
  const about = events && {
    // Those above it are held with it.
    numbers: [...asked, ...stackedWith(from.stacks, asked)],
    shas: [...seenShas],
    merged: ofEvents.flatMap(({ headMerges }) => headMerges ?? []),
  };
  const shas = [...judgement.verdicts, ...toHold].map(({ sha }) => sha);
  const saved = await inTurn(deps, observed, shas, about, async (tx, stored, { known, lastSeen }) => {
    if (events && isOutdated(stored, observed)) return outdated(observed);
    const later = lastSeen.filter(({ seenBy }) => seenBy > observation);
    const notAsked = (events ? lastSeen : later).filter(({ number }) => !asked.has(number));
    // Of every open one, what only an earlier observation saw is no longer open.
    const isShared = (seen: LastSeen) => shasThen(seen).some((sha) => seenShas.has(sha));
    const unseen = events ? notAsked : notAsked.filter(isShared);
    if (unseen.length > 0) return { differing: 0, unseen, jobs: [] };
    const gone = lastSeen
      .filter(({ number, seenBy }) => seenBy < observation && !openNumbers.has(number))
      .map(({ number }) => number)
      .filter((number) => !events || named.has(number));
    const replaced = new Set([...openNumbers, ...gone]);
    const others = lastSeen.filter(({ number, seenBy }) => seenBy > observation || !replaced.has(number));
    const openShas = new Set([...others.flatMap(shasThen), ...open.flatMap(shasOf)]);
    const nextChangeAt = plannedChange(judgement.nextChangeAt, stored, observed, !events);
    const writing = write(deps, tx, observed, known, {
      verdicts: [...judgement.verdicts, ...toHold.filter(({ sha }) => !openShas.has(sha))],
      judged,
      gone,
      // Of every open one, `forgetHeads` finds them.
      superseded: events ? supersededBy(lastSeen, others, openShas) : [],
      changed: changedIn(observed, lastSeen, judged, gone, !events),
      isOfEvent: events !== null,
      heard: heardOf(ofEvents, events ?? []),
      letGoAmong: closedShas,
      repository: {
        nextChangeAt,
        // Its pages require a sign-in from now on. Only a webhook makes them public again, because this may be older.
        isPrivate: reading.isPrivate,
        reconciledAt: events ? null : observedAt,
        stacks: reading.stacks,
        isChanged: !events || nextChangeAt?.getTime() !== stored.nextChangeAt?.getTime(),
      },
    });
    const forgetting = events ? null : forgetHeads(tx, observed);
    const [{ differing, jobs: writes }] = await Promise.all([writing, forgetting]);
    const following = [
      ...againWhereOutdated(observed, reading, judged, lastSeen, nowOf(deps.clock)),
      ...writes,
      ...followUp(observed, judgement, stored, gone, !events),
      ...againWhereOvertaken(observed, open, later),
    ];
    return { differing, unseen, jobs: following };
  });
  logUnjudged(deps, observed, judgement.verdicts);
  return saved;
}

/** When the first webhook came about each head. */
const heardOf = (pullRequests: LoadedPullRequest[], events: PullRequestEvent[]): Map<string, number> =>
  new Map(
    pullRequests.flatMap(({ facts }) => {
      const about = events
        .filter(({ number }) => number === facts.number)
        .flatMap(({ heardAt }) => heardAt ?? []);
      return about.length === 0 ? [] : [[facts.headSha, Math.min(...about.map(Date.parse))] as const];
    }),
  );

/** Holds the heads of closed pull requests that a freeze would hold, and releases all others. */
export async function saveClosed(
  deps: StatusDeps,
  observed: Observed,
  closed: LoadedPullRequest[],
): Promise<void> {
  const verdicts = await judgeClosed(observed, closed);
  const about = { numbers: [], shas: closed.map(({ facts }) => facts.headSha), merged: [] };
  const shas = verdicts.map(({ sha }) => sha);
  await inTurn(deps, observed, shas, about, async (tx, stored, { known, lastSeen }) => {
    if (isOutdated(stored, observed)) return outdated(observed);
    // The SHA of an open pull request is judged with that.
    const openShas = new Set(lastSeen.flatMap(shasThen));
    const { nextChangeAt } = stored;
    const closedJudgedBy = judgedBy(observed.freezes);
    return write(deps, tx, observed, known, {
      verdicts: verdicts.filter(({ sha }) => !openShas.has(sha)),
      letGoAmong: null,
      repository: { nextChangeAt, closedJudgedBy, isChanged: true },
    });
  });
}

/**
 * Saves the verdicts on merge groups.
 * @param saveGroups saves the groups themselves.
 * @param following the jobs that follow.
 */
export async function saveGroupVerdicts(
  deps: StatusDeps,
  observed: Observed,
  verdicts: JudgedVerdict[],
  saveGroups: (tx: SqlTx) => Promise<void>,
  following: Job[],
): Promise<{ differing: number }> {
  const shas = verdicts.map(({ sha }) => sha);
  const about = { numbers: [], shas: [], merged: [] };
  const save = async (tx: SqlTx, { nextChangeAt }: StoredRepository, { known }: Before) => {
    const wanted = { verdicts, letGoAmong: [], repository: { nextChangeAt }, isMergeGroup: true };
    const writing = write(deps, tx, observed, known, wanted);
    const [{ differing, jobs: writes }] = await Promise.all([writing, forgetHeads(tx, observed)]);
    return { differing, jobs: [...writes, ...following] };
  };
  const saved = await inTurn(deps, observed, shas, about, save, saveGroups);
  logUnjudged(deps, observed, verdicts);
  return saved;
}

/**
 * Saves an observation in one transaction with the jobs that follow from it. Those of a repository save one after another.
 * @param about whose earlier data to read: see `readBefore`.
 * @param first runs while the earlier data are read.
 * @throws NotNow if the clock was set or corrected meanwhile: at another time, other freezes hold.
 */
function inTurn<Result extends { jobs: Job[] }>(
  deps: StatusDeps,
  { repository: { id }, clockThen }: Observed,
  shas: string[],
  about: Parameters<typeof readBefore>[3],
  save: (tx: SqlTx, stored: StoredRepository, before: Before) => Promise<Result>,
  first?: (tx: SqlTx) => Promise<void>,
): Promise<Result> {
  if (wasSetSince(deps.clock, clockThen)) throw new NotNow(nowOf(deps.clock));
  return deps.sql.transaction(async (tx) => {
    // Statements of one turn run in order. The lock comes first: what is read before it may be old once it is there.
    const locking = lockStored(tx, id);
    const [stored, before] = await Promise.all([locking, readBefore(tx, id, shas, about), first?.(tx)]);
    const result = await save(tx, stored, before);
    tx.atCommit(deps.queue.send(result.jobs, tx));
    return result;
  });
}

/** Whether the stacks changed since we read the pull requests. Who is below whom decides what is held. */
const isOutdated = ({ stacks }: StoredRepository, { from }: Observed): boolean =>
  !isDeepStrictEqual(stacks, from.stacks);

const outdated = ({ repository }: Observed) => ({
  differing: 0,
  unseen: [],
  isOutdated: true,
  jobs: [jobs.reconcileRepository(repository.id)],
});

type Wanted = Pick<Desired, 'letGoAmong' | 'repository'> & {
  verdicts: JudgedVerdict[];
  /** The open pull requests. */
  judged?: Judged[];
  /** The numbers of those that are no longer open. */
  gone?: number[];
  /** The commits that they no longer have. */
  superseded?: string[];
  /** Which of them pages show differently from now on. */
  changed?: string[];
  /** Whether events named the pull requests. */
  isOfEvent?: boolean;
  /** When the webhooks about heads came. */
  heard?: Map<string, number>;
  isMergeGroup?: boolean;
};

/** Saves the wanted statuses, and queues those that GitHub does not show yet. */
async function write(
  deps: StatusDeps,
  tx: SqlTx,
  { repository, observation, ofFew }: Observed,
  known: Before['known'],
  { verdicts, judged = [], gone = [], superseded = [], changed = [], ...more }: Wanted,
): Promise<{ differing: number; jobs: Job[] }> {
  const { heard, isMergeGroup = false, isOfEvent = false, ...others } = more;
  const now = nowOf(deps.clock);
  const rows = verdicts.map((verdict) => {
    const { sha, status, present, headOwner, holds, closedNumber = null } = verdict;
    const before = known.get(sha) ?? null;
    const isWaiting = mustWrite(status, present, before, observation, now);
    const heardAt = isWaiting && heard?.get(sha);
    if (heardAt) deps.metrics.noteHeard(sha, heardAt);
    const shown = shownNow(present, before, observation, now);
    const foreign = foreignIn(present, before, observation, now);
    const isUnanswered = before !== null && before.attempts > 0;
    const row = {
      sha,
      ...status,
      ...rankOf(verdict, shown, { isUnanswered, isOfEvent }),
      head_owner: headOwner,
      is_waiting: isWaiting,
      closed_number: closedNumber,
      is_foreign: foreign !== null,
      foreign_state: foreign?.state ?? '',
      foreign_description: (foreign?.description ?? '').toWellFormed(),
      is_missing: shown === null && before !== null,
      is_prompt: false,
    };
    const isOfFew = holds.some(({ freeze }) => ofFew.has(freeze.id));
    const isHole = isWaiting && row.tier === tiers.closesHole && isOfFew;
    return { row, isHole, isHeldAgain: !isWaiting && shown !== null && shown.state !== 'success' };
  });
  const holes = rows.filter(({ isHole }) => isHole);
  if (!isOfEvent && holes.length <= mostOfFew) for (const { row } of holes) row.is_prompt = true;
  const askAt = askSoonAt(deps);
  const installationId = repository.installation.id;
  const written = await writeDesired(tx, {
    ...{ ...others, repositoryId: repository.id, installationId },
    observation,
    now,
    isMergeGroup,
    askAt,
    gone,
    superseded,
    changed,
    statuses: rows.map(({ row }) => row),
    heldAgain: rows.filter(({ isHeldAgain }) => isHeldAgain).map(({ row }) => row.sha),
    pullRequests: judged.map(({ pullRequest: { facts, testMerge, title, author, headBranch }, holds }) => ({
      number: facts.number,
      node_id: facts.nodeId,
      head_sha: facts.headSha,
      title: title.toWellFormed(),
      ...{ author, ...sizeIn(facts.values), check_counts: facts.checkCounts ?? [] },
      merge_sha: testMerge?.sha ?? null,
      held_by: freezesOf(holds),
      changed_at: changedAtOf(facts),
      base_ref: facts.stack?.base ?? facts.values.base ?? null,
      head_ref: headBranch ?? null,
    })),
  });
  const { differing, isReleased, isDue } = written;
  const toDrain = differing > 0 || isReleased ? [jobs.drainOutbox(installationId)] : [];
  return { differing, jobs: [...toDrain, ...(isDue ? [jobs.askMergeStates(repository.id, askAt)] : [])] };
}

/** Logs one line for each reason and freeze, because a missing team may affect a thousand pull requests. */
function logUnjudged({ log }: StatusDeps, { repository }: Observed, verdicts: JudgedVerdict[]): void {
  const unjudged = verdicts.flatMap(({ holds }) => holds.filter((hold) => hold.unjudged !== null));
  const groups = Map.groupBy(unjudged, (hold) => `${hold.freeze.id} ${hold.unjudged}`);
  for (const holds of groups.values()) {
    const { freeze, unjudged: why } = holds[0]!;
    const pullRequests = holds.slice(0, mostNumbersLogged).map(({ pullRequest }) => pullRequest);
    log.warn(
      { repository: fullName(repository), freeze: freeze.id, why, count: holds.length, pullRequests },
      'conditions could not be judged, so the freeze holds',
    );
  }
}

const mostNumbersLogged = 20;
