import { nowOf } from '../time/clock.ts';
import type { Deps } from '../deps.ts';
import { unenforcedBranches } from './enforcement/recent-enforcement.ts';
import { freezesAreOn } from '../installations/product.ts';
import type { PullRequestFacts } from '../github/pull-requests/pull-request.ts';
import { openPullRequestsInTime } from '../github/pull-requests/open-pull-requests-in-time.ts';
import { type FoundRepository, fullName } from '../installations/find-repository.ts';
import type { Ahead } from '../freezes/create-freeze.ts';
import { type Freeze, holdsMerges } from '../freezes/freeze.ts';
import { phaseOf } from '../freezes/freeze-window.ts';
import {
  countsOf,
  type Seen,
  type Warning,
  warningOfBranches,
  warningsOf,
  warningsOfDeployments,
} from '../freezes/freeze-warnings.ts';
import {
  type Outlook,
  selectedAmong,
  selectedByBases,
  type TimeUntilHeld,
  timeUntilHeld,
  whyNoBridge,
} from '../statuses/instant-hold/hold.ts';
import { readHold, readModes } from '../statuses/instant-hold/hold-store.ts';
import { paceOf } from '../statuses/instant-hold/settle.ts';
import { readWaiting } from '../statuses/instant-hold/pass-store.ts';
import { judgeFreeze, needsOf, parseFreeze, type ParsedFreeze } from '../freezes/judge-freeze.ts';

/**
 * Checks what a freeze would do, before or while it is saved. Never throws and takes 2 s at most: asks GitHub both
 * questions in parallel, and gives no warning about what GitHub does not answer in time.
 */
export async function lookAhead(deps: Deps, repository: FoundRepository, freeze: Freeze): Promise<Ahead> {
  // There is nothing to say about a freeze that the change just ended.
  if (phaseOf(freeze, nowOf(deps.clock)) === 'ended') return { unenforced: [], warnings: [] };
  const { permissions } = repository.installation;
  const ofDeployments = warningsOfDeployments(freeze, [freeze], permissions).map(({ message }) => message);
  if (!holdsMerges(freeze)) return { unenforced: [], warnings: ofDeployments };
  const parsed = parseFreeze(freeze);
  const [unenforced, seen] = await Promise.all([
    unenforcedBranches(deps, repository, freeze),
    see(deps, repository, parsed),
  ]);
  const { publicUrl, statusContext } = deps.config;
  const url = `${publicUrl}/v1/repos/${fullName(repository)}/enforcement`;
  const isOn = freezesAreOn(repository.products);
  const warnings = [
    ...warningOfBranches(unenforced, statusContext, url),
    ...warningsToTell(parsed, seen, isOn),
  ];
  const messages = warnings.map(({ message }) => message);
  // Nobody waits for it if the freeze cannot be saved, and then the database may be down.
  const ofBridge = await warningOfBridge(deps, repository, parsed, seen).catch(() => []);
  return {
    unenforced,
    warnings: [...warningOfPause(deps, repository), ...messages, ...ofDeployments, ...ofBridge],
  };
}

/** Why an instant hold does nothing for a freeze, if it is a bridge that is not worth it. */
async function warningOfBridge(
  deps: Deps,
  { id }: FoundRepository,
  freeze: ParsedFreeze,
  seen: Seen | null,
): Promise<string[]> {
  if ((await deps.github.lock.id()) === null) return [];
  const hold = await readHold(deps.sql, id, nowOf(deps.clock));
  if (hold?.mode !== 'bridge') return [];
  const selected = selectedByBases(freeze, hold.bases) ?? (seen && selectedAmong(freeze, seen.open, seen.at));
  const why = selected && whyNoBridge(selected, paceOf(deps, hold));
  return why ? [why] : [];
}

/**
 * How long a freeze takes until it blocks everything in some repositories of an owner, with instant holds and without.
 * @returns null if it blocks nothing.
 */
export async function foreseeTime(
  deps: Deps,
  installationId: bigint,
  selected: (Omit<Outlook, 'mode' | 'error'> & { id: bigint })[],
): Promise<TimeUntilHeld | null> {
  const [modes, pace, lockApp] = await Promise.all([
    readModes(
      deps.sql,
      selected.map(({ id }) => id),
    ),
    readWaiting(deps.sql, installationId),
    deps.github.lock.id(),
  ]);
  const none = { mode: 'off', error: null } as const;
  const outlooks = selected.map((each) => ({
    ...each,
    ...((lockApp !== null && modes.get(each.id)) || none),
  }));
  return timeUntilHeld(outlooks, paceOf(deps, pace));
}

/** While GitHub limits the installation, nobody can know what a freeze holds. */
function warningOfPause({ clock }: Deps, { installation: { pausedUntil } }: FoundRepository): string[] {
  if (!pausedUntil || pausedUntil <= nowOf(clock)) return [];
  return [
    `GitHub’s rate limit is used up until ${pausedUntil.toISOString()}. What this freeze holds is not judged before then.`,
  ];
}

/** The warnings for the creator of a freeze. @param seen null if it is unknown or says nothing about the conditions. */
export const warningsToTell = (freeze: ParsedFreeze, seen: Seen | null, isOn: boolean): Warning[] =>
  warningsOf(freeze, seen, isOn).filter(({ type }) => !forPreviews.has(type));

/** Leaves out two warnings: most freezes hold everything on purpose, and statuses say what could not be evaluated. */
const forPreviews = new Set(['matches_everything', 'not_judged']);

/** The verdicts of the freeze on the open pull requests; null if unknown, or if it says nothing about the conditions. */
async function see(deps: Deps, repository: FoundRepository, freeze: ParsedFreeze): Promise<Seen | null> {
  if (!hasConditions(freeze)) return null;
  const loaded = await openPullRequestsInTime(deps, repository, needsOf([freeze]));
  if (!loaded) return null;
  const { startsAt } = freeze.freeze;
  const now = nowOf(deps.clock);
  const open = loaded.map(({ facts }) => facts);
  return seenOf(freeze, open, startsAt > now ? startsAt : now);
}

const hasConditions = ({ freeze }: ParsedFreeze): boolean =>
  freeze.matchingConditions.length + freeze.excludeConditions.length > 0;

/** The verdicts of a freeze on some open pull requests at an instant; null if that says nothing about the conditions. */
export function seenOf(freeze: ParsedFreeze, open: PullRequestFacts[], at: Date): Seen | null {
  if (!hasConditions(freeze) || open.length === 0) return null;
  return { open, at, counts: countsOf(open.map((facts) => judgeFreeze(freeze, facts, at.getTime()))) };
}
