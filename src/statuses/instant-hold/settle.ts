import { setTimeout as sleep } from 'node:timers/promises';
import { nowOf } from '../../time/clock.ts';
import type { ParsedFreeze } from '../../freezes/judge-freeze.ts';
import { defineTask } from '../../database/queue/define-task.ts';
import { jobs } from '../../database/queue/jobs.ts';
import type { LoadedPullRequest } from '../../github/pull-requests/load-pull-requests.ts';
import { isHeldByStatuses } from '../held-pull-requests.ts';
import type { Observed } from '../observe.ts';
import { finishRevoked } from '../drain.ts';
import { changeHold, isSettled, type HoldPlan } from './change-hold.ts';
import { holdKeyOf, wantedNow } from './hold.ts';
import { type HoldState, readHold, saveJudged, takeTurn, type Turn } from './hold-store.ts';
import type { StatusDeps } from '../status-deps.ts';
import { type Selected, selectedAmong, selectedByBases, whyNoBridge, paceOf } from '../time-until-held.ts';

// Puts the ruleset of a repository in force and out of force. Level-triggered: it works out what should be in force now,
// says in the row what may be in force from here on, changes the ruleset, reads it back, and says so. A process that dies
// in between leaves a row that says too much, and the next one goes on.

/** What the caller knows. */
type HoldRequest = {
  /** An observation, whose verdicts know these freezes. */
  observed?: { freezes: ParsedFreeze[]; observation: bigint };
  /** How many pull requests freezes select, by their keys. */
  selected?: Map<string, Selected>;
  /** Whether to compare the ruleset with GitHub. */
  isCheck?: boolean;
  /** Whether somebody judges the pull requests later in any case. */
  isLookedAtLater?: boolean;
};

/** @property isUndecided whether somebody has to count what a freeze selects first. */
type Settled = { hasBegun: boolean; isUndecided: boolean };

/** Puts the ruleset of a repository in force or out of force, as the ongoing freezes want it. Never throws for GitHub. */
async function settleHold(deps: StatusDeps, repositoryId: bigint, given: HoldRequest = {}): Promise<Settled> {
  const seen = await readHold(deps.sql, repositoryId, nowOf(deps.clock));
  if (!seen) return { hasBegun: false, isUndecided: false };
  const first = await planFor(deps, seen, given);
  const { isUndecided } = first;
  if (!given.isCheck && isSettled(seen, first)) return { hasBegun: false, isUndecided };
  const turn = await waitForTurn(deps, repositoryId);
  if (turn instanceof Date) {
    const { isCheck } = given;
    await deps.queue.send([jobs.settleInstantHold(repositoryId, { at: turn, isCheck })]);
    return { hasBegun: false, isUndecided };
  }
  try {
    // Nobody else changes it from here on.
    const hold = (await readHold(deps.sql, repositoryId, nowOf(deps.clock)))!;
    const plan = await planFor(deps, hold, given);
    // The verdicts of an observation that is not the latest may not know these freezes.
    const observed = isLatest(hold, given) ? given.observed : undefined;
    const hasBegun = await changeHold(deps, hold, plan, turn, { ...given, observed });
    // Somebody has to judge the pull requests by these freezes.
    const mustLook = (!observed && hasBegun) || (!given.observed && plan.isUndecided);
    if (mustLook && !given.isLookedAtLater) await deps.queue.send([jobs.reconcileRepository(repositoryId)]);
    return { hasBegun, isUndecided: plan.isUndecided };
  } finally {
    await turn.end();
  }
}

/** Milliseconds between two looks while another process changes the hold, and how many looks. */
const betweenLooks = 50;
const mostLooks = 60;

/** @returns the instant to try again if another process does not finish. */
async function waitForTurn({ sql, clock, stopping }: StatusDeps, repositoryId: bigint): Promise<Turn | Date> {
  for (let looks = 1; ; looks++) {
    const turn = await takeTurn(sql, repositoryId, nowOf(clock));
    if (!(turn instanceof Date) || looks === mostLooks || stopping.aborted) return turn;
    await sleep(betweenLooks);
  }
}

/**
 * The ruleset comes before everything else that an observation does.
 * @param pullRequests if they were read: a bridge may depend on how many of them a freeze selects.
 */
export async function holdAtOnce(
  deps: StatusDeps,
  { repository, freezes, observation, observedAt }: Observed,
  pullRequests: LoadedPullRequest[] | null = null,
): Promise<Settled> {
  const facts = pullRequests?.map((each) => each.facts);
  const selected = facts && new Map<string, Selected>();
  for (const freeze of selected ? freezes : [])
    selected!.set(holdKeyOf(freeze), await selectedAmong(freeze, facts!, observedAt));
  return settleHold(deps, repository.id, { observed: { freezes, observation }, selected });
}

/** While GitHub limits the first App, nothing can be observed. The second one has limits of its own. */
export async function holdMeanwhile(deps: StatusDeps, repositoryId: bigint): Promise<void> {
  if ((await deps.github.lock.id()) !== null) await settleHold(deps, repositoryId, { isLookedAtLater: true });
}

/**
 * Has the context of a hold written where verdicts say that no freeze holds.
 * @param observation the number of the observation of every open pull request that was saved, if it was one.
 */
export async function followVerdicts(
  { sql, queue }: StatusDeps,
  { id, installation }: Observed['repository'],
  observation: bigint | null = null,
): Promise<void> {
  if (observation !== null) await saveJudged(sql, id, observation);
  await queue.send([jobs.drainOutbox(installation.id)]);
}

/** Whether nobody observed the repository later than the caller. */
const isLatest = ({ observations }: HoldState, { observed }: HoldRequest): boolean =>
  observed !== undefined && observed.observation >= observations;

/**
 * The freezes to hold. A caller that is not the latest may know freezes that were deleted since; those that have not begun
 * by our clock count, because the database's clock decides.
 */
function ongoingFor(
  { clock }: Pick<StatusDeps, 'clock'>,
  hold: HoldState,
  given: HoldRequest,
): ParsedFreeze[] {
  if (!given.observed) return hold.ongoing;
  if (isLatest(hold, given)) return given.observed.freezes;
  const now = nowOf(clock);
  const known = new Set(hold.ongoing.map(({ freeze }) => freeze.id));
  const ahead = given.observed.freezes.filter(({ freeze }) => freeze.startsAt > now && !known.has(freeze.id));
  return [...hold.ongoing, ...ahead];
}

async function planFor(deps: StatusDeps, hold: HoldState, given: HoldRequest): Promise<HoldPlan> {
  const { mode, bases } = hold;
  const ongoing = ongoingFor(deps, hold, given);
  const keys = new Set(ongoing.map(holdKeyOf));
  if (mode !== 'bridge')
    return { wanted: wantedNow(mode, ongoing, [], bases), settled: [], isUndecided: false };
  const settled = new Set(hold.settled.filter((key) => keys.has(key)));
  const undecided = new Set<string>();
  for (const freeze of ongoing) {
    const key = holdKeyOf(freeze);
    if (settled.has(key) || hold.freezes.includes(key)) continue;
    const selected = given.selected?.get(key) ?? selectedByBases(freeze, bases);
    if (!selected) undecided.add(key);
    else if (whyNoBridge(selected, paceOf(deps, hold))) settled.add(key);
  }
  const isJudged = hold.freezes.length > 0 && hold.judged >= hold.observation;
  if (isJudged && (await isHeldByStatuses(deps, hold.repositoryId)))
    for (const key of hold.freezes) if (keys.has(key)) settled.add(key);
  const decided = ongoing.filter((freeze) => !undecided.has(holdKeyOf(freeze)));
  const wanted = wantedNow(mode, decided, [...settled], bases);
  return { wanted, settled: [...settled].toSorted(), isUndecided: undecided.size > 0 };
}

export const settleInstantHoldTask = defineTask(
  jobs.settleInstantHold,
  async (deps: StatusDeps, { repositoryId, isCheck }) => {
    await settleHold(deps, BigInt(repositoryId), { isCheck });
    await finishRevoked(deps, BigInt(repositoryId));
  },
  { takers: 32 },
);
