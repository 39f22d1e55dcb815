import type { LoadedPullRequest } from '../github/pull-requests/load-pull-requests.ts';
import type { PresentStatus } from '../github/pull-requests/pull-request.ts';
import { inSeconds } from '../time/local-time.ts';
import { type Status, wantedOn } from './status.ts';
import type { PaceRange } from '../config-values.ts';
import { hour } from '../time/units.ts';

// Which statuses to write, how often, in which order, and how fast.

/** What we know about the statuses on a SHA. `writtenState` and `writtenDescription` are the current status, ours or not. */
export type KnownStatus = StatusCount & {
  writtenState: string | null;
  writtenDescription: string | null;
  writtenAt: Date | null;
  writtenDuring: bigint | null;
  /** Writes without an answer. One of them may have arrived, so the next write checks first. */
  attempts: number;
  /** Whether the last status that GitHub accepts was written or refused, so that we want no other status there. */
  isFinal: boolean;
  isMergeGroup: boolean;
  notHeld: string | null;
};

/** GitHub's answers lag for seconds. This limit is generous. */
export const longestLag = 5 * 60_000;

const never = new Date(0);

/** Whether a verdict must be written. */
export function mustWrite(
  verdict: Status,
  present: PresentStatus,
  known: KnownStatus | null,
  observation: bigint,
  now: Date,
): boolean {
  if (known && known.attempts > 0) return true;
  const shown = shownNow(present, known, observation, now);
  // GitHub accepts no more statuses there. We try once when a freeze begins, so that the refusal is reported.
  if (known?.isFinal && isFull(known))
    return verdict.state !== 'success' && shown?.state === 'success' && known.notHeld !== 'refused';
  const wanted = known ? wantedOn({ ...known, ...verdict }) : verdict;
  if (shown?.state !== wanted.state) return true;
  if (shown.description === wanted.description) return false;
  return !known || takesTexts(known);
}

/** A status with our context that somebody else wrote, according to the observation; null if there is none. */
export function foreignIn(
  present: PresentStatus,
  known: KnownStatus | null,
  observation: bigint,
  now: Date,
): PresentStatus {
  // One of our writes may have arrived without its answer.
  if (known && known.attempts > 0) return null;
  if (!present || !known || known.writtenState === null) return present;
  if (shownNow(present, known, observation, now) !== present) return null;
  const isNewer = inSeconds(present.at) > inSeconds(known.writtenAt ?? never);
  const isOther =
    present.state !== known.writtenState || present.description !== (known.writtenDescription ?? '');
  return isNewer || isOther ? present : null;
}

/**
 * The status that GitHub shows: the observed one, or ours if it is newer. An observation may overlap with a write, and
 * GitHub may return a status from some seconds ago. GitHub's times are whole seconds: within the same second, ours
 * counts. If GitHub shows no status at all, we treat that as an old answer, but only for some minutes. After that,
 * somebody may have overwritten ours in that second, or the name of our context has changed.
 */
export function shownNow(
  present: PresentStatus,
  known: KnownStatus | null,
  observation: bigint,
  now: Date,
): PresentStatus {
  if (!known || known.writtenState === null) return present;
  const writtenAt = known.writtenAt ?? never;
  const written = { state: known.writtenState, description: known.writtenDescription ?? '', at: writtenAt };
  const isOverlapping = known.writtenDuring !== null && known.writtenDuring >= observation;
  const isRecent = now.getTime() - writtenAt.getTime() < longestLag;
  const behind = Math.sign(inSeconds(writtenAt) - inSeconds(present?.at ?? never));
  const isStale = present && behind !== 0 ? behind > 0 : isRecent;
  return isOverlapping || isStale ? written : present;
}

// GitHub accepts 1,000 statuses per commit and context, from all sources together. We save the last ones for what
// matters.

/** How many statuses of a commit with our context are ours, and how many are from others. */
export type StatusCount = { writes: number; overwrites: number };

const inAll = ({ writes, overwrites }: StatusCount): number => writes + overwrites;

const mostStatuses = 1000;
/** From this number on, we only write changes of the state. */
const mostTexts = 900;
/** From this number on, we write one last `pending` if most statuses are not ours: somebody is using them up. */
const lastAmongForeign = 900;
/** From this number on, we write it in any case. */
const lastOfAll = 990;

const takesTexts = (count: StatusCount): boolean => inAll(count) < mostTexts;

/** Whether the next status must be the last one. */
export const isUsedUp = (count: StatusCount): boolean =>
  inAll(count) >= lastOfAll || (inAll(count) >= lastAmongForeign && count.overwrites > count.writes);

/** Whether GitHub accepts no more statuses. */
export const isFull = (count: StatusCount): boolean => inAll(count) >= mostStatuses;

/** How often we repeat the same text in an hour. */
const mostRepeats = 20;
const longestWritePause = 5 * 60_000;

/**
 * How long to wait before we repeat a text, in milliseconds. The first repeat comes at once, the others after 1 s to
 * 5 min: twenty in the first hour, and twelve in each later hour.
 * @param timesWritten how often it was written so far.
 */
export const pauseAfter = (timesWritten: number): number =>
  timesWritten < 2 ? 0 : Math.min(longestWritePause, 1000 * 2 ** (timesWritten - 2));

/** How often the current text was written, and when we may repeat it. */
type Repeats = { timesWritten: number; repeatAfter: Date | null };

/** The number of repeats. Starts again at one after the text stood for an hour. */
export const writeTimesOf = ({ timesWritten, repeatAfter }: Repeats, now: Date): number =>
  repeatAfter && repeatAfter.getTime() < now.getTime() - hour ? Math.min(1, timesWritten) : timesWritten;

/** Whether all repeats are used up, because somebody keeps overwriting the status. */
export const isContested = (repeats: Repeats, now: Date): boolean => writeTimesOf(repeats, now) > mostRepeats;

// The order of writes. The tier of a write says what it changes, and the smallest goes first. Within a tier, `write-turns.ts`
// shares the pace. Within a share, the smallest urgency goes first.

/**
 * What a write changes. So an emergency freeze never waits behind the first statuses of a new installation, or behind
 * those of somebody who pushes without end. Strangers cannot fill a tier for long: each hole that they open needs a
 * success that we wrote before, in a later tier.
 */
export const tiers = {
  /**
   * A merge group, because GitHub merges it as soon as it sees its status, a hold after an exemption ended, and the few
   * holes of a freeze that begins in few repositories.
   */
  cannotWait: 0,
  /** GitHub shows success, and a freeze holds the commit. */
  closesHole: 1,
  letsGo: 2,
  /** The commit cannot be merged anyway: without a success, the required check is missing. */
  holdsAlready: 3,
  isFirst: 4,
  changesText: 5,
  /** The head of a closed pull request. */
  isClosed: 6,
} as const;

/** What a verdict is about. `returning`: an exemption let it pass the freezes that hold it now. */
export type WriteSubject = 'open' | 'returning' | 'group' | 'closed';

/** Where a write comes among those that wait. */
export type Rank = { tier: number; urgency: number };

/** The ranks of a share, by how close a pull request is to merging. */
const ranks = 4;

/** The facts that say how close a pull request is to merging. */
type Close = Pick<LoadedPullRequest, 'isAutoMerging' | 'queueBranch' | 'isMergeable' | 'isDraft'>;

/** The closest to merging comes first: queued or auto-merge, then mergeable, then the rest, and drafts last. */
export function closenessOf({ isAutoMerging, queueBranch, isMergeable, isDraft }: Close): number {
  if (isAutoMerging || queueBranch !== null) return 0;
  if (isDraft) return 3;
  return isMergeable ? 1 : 2;
}

/**
 * The rank of a verdict. Merge groups at the front of a queue come first: a failure at the front rebuilds the groups
 * behind it, while a failure further back could remove a pull request that is not frozen. A hold after an exemption comes
 * before them, because somebody was about to merge, and groups do not merge while they wait.
 * @param shown what GitHub shows. @param isUnanswered whether it may show a status whose answer was lost.
 * @param isOfEvent whether an event opened the hole. It comes before those of a freeze that begins: it takes one write.
 */
export function rankOf(
  { subject, status, urgency }: { subject: WriteSubject; status: Status; urgency: number },
  shown: { state: string } | null,
  { isUnanswered, isOfEvent }: { isUnanswered: boolean; isOfEvent: boolean },
): Rank {
  if (subject === 'group') return { tier: tiers.cannotWait, urgency };
  if (subject === 'closed') return { tier: tiers.isClosed, urgency };
  const tier = isUnanswered && status.state !== 'success' ? tiers.closesHole : tierOf(status, shown);
  if (tier !== tiers.closesHole) return { tier, urgency };
  if (subject === 'returning') return { tier: tiers.cannotWait, urgency: -1 };
  return { tier, urgency: isOfEvent ? urgency - ranks : urgency };
}

// A freeze of one repository is held within seconds, also while a freeze of everything waits for hours: its few holes go
// before the many of that one. What makes it few is what somebody with write access did, so strangers cannot make any.

/** A freeze of few pull requests: so many holes of a repository at once, at most. With more, it takes turns. */
export const mostOfFew = 30;
/** While so many cannot wait, the next ones take turns: somebody may freeze a thousand repositories one by one. */
export const mostPrompt = 100;
/** Behind merge groups and holds after an exemption. */
export const promptUrgency = 1_000;

/** A plan that names so many repositories, none by a glob, begins in few. */
export const mostNamedInFew = 10;

/** What writing a status changes. */
export function tierOf(wanted: Status, shown: { state: string } | null): number {
  if (wanted.state === shown?.state) return tiers.changesText;
  if (wanted.state === 'success') return shown ? tiers.letsGo : tiers.isFirst;
  return shown?.state === 'success' ? tiers.closesHole : tiers.holdsAlready;
}

// How fast we write the statuses of an installation. GitHub does not say how much it accepts, so the pace learns: it
// rises while GitHub accepts writes, and halves when GitHub refuses one. `lease.ts` stores the pace.

export type Pace = {
  /** The maximum number of writes in a minute. */
  perMinute: number;
  /** How many writes may go at once, counted at an instant. */
  tokens: number;
  countedAt: Date;
  /** The pace that GitHub accepted when it last refused a write; null if it never did. */
  refused: { perMinute: number; at: Date } | null;
};

/** The starting pace of an installation, just below the 80 that GitHub allows "in general". */
const startingPace = 75;

/** A full minute of writes raises the pace by 5 %. */
const rise = 0.05;
/** Up to the pace that GitHub is known to accept, it rises by 20 %. */
const knownRise = 0.2;
/** How far the pace stays below the refused one. */
const justBelow = 0.95;
/** How long it stays there, before we try whether GitHub accepts more. */
const restBetweenTries = 3_600_000;
/** The share of a minute's writes that may go at once, for a freeze that must hold now. The rest is spread evenly. */
const shareAtOnce = 1 / 4;

const within = ({ least, most }: PaceRange, perMinute: number): number =>
  Math.min(most, Math.max(least, perMinute));

/** How many writes may go at once at a pace. */
export const burstOf = (perMinute: number): number => Math.max(1, Math.floor(perMinute * shareAtOnce));

/** How many writes may go at once at the highest pace. */
export const mostAtOnce = ({ most }: PaceRange): number => burstOf(most);

/** Evenly spread writes per millisecond. Together with the burst, no minute exceeds the pace. */
const evenlyOf = (perMinute: number): number => Math.max(1, perMinute - burstOf(perMinute)) / 60_000;

/** The pace of an installation without writes. */
export function firstPace(range: PaceRange, now: Date): Pace {
  const perMinute = within(range, startingPace);
  return { perMinute, tokens: burstOf(perMinute), countedAt: now, refused: null };
}

/** The pace now, with the places that became free since it was counted. It stays within the range, which may be new. */
export function paceAt(last: Pace, range: PaceRange, now: Date): Pace {
  const perMinute = within(range, last.perMinute);
  const passed = Math.max(0, now.getTime() - last.countedAt.getTime());
  const tokens = Math.min(burstOf(perMinute), last.tokens + passed * evenlyOf(perMinute));
  // The clock of another replica may be behind. We do not count the time until it catches up twice.
  const countedAt = last.countedAt > now ? last.countedAt : now;
  return { ...last, perMinute, tokens, countedAt };
}

/** How many writes may go now. */
export const writePlacesIn = ({ tokens }: Pace): number => Math.floor(tokens);

/** Milliseconds until a write may go. */
export const waitFor = ({ tokens, perMinute }: Pace): number =>
  tokens >= 1 ? 0 : Math.ceil((1 - tokens) / evenlyOf(perMinute));

/** The part of a minute's writes that holes of large freezes leave for what cannot wait: a third of the burst. */
export const leftForPrompt = 1 / 12;

/** How many writes may go now while holes of large freezes take all that there is. */
export const placesOfMany = ({ tokens, perMinute }: Pace): number =>
  Math.max(0, Math.floor(tokens - Math.floor(perMinute * leftForPrompt)));

/** Milliseconds until such a write may go. */
export const waitOfMany = (pace: Pace): number =>
  waitFor({ ...pace, tokens: pace.tokens - Math.floor(pace.perMinute * leftForPrompt) });

/** Whether most of the burst is used up. Only then do accepted writes say anything about GitHub's limit. */
export const isPressed = ({ tokens, perMinute }: Pace): boolean => tokens < burstOf(perMinute) / 2 + 1;

/** The pace after GitHub accepted writes under pressure. */
export function afterAccepted(pace: Pace, writes: number, range: PaceRange, now: Date): Pace {
  const { perMinute, refused } = pace;
  const known = refused ? justBelow * refused.perMinute : 0;
  const isResting = refused !== null && now.getTime() < refused.at.getTime() + restBetweenTries;
  const raised =
    perMinute < known
      ? Math.min(known, perMinute + knownRise * writes)
      : isResting
        ? perMinute
        : perMinute + rise * writes;
  return { ...pace, perMinute: within(range, raised) };
}

/**
 * The pace after GitHub refused a write. By then the burst is long used up, so GitHub accepted the evenly spread part.
 */
export function afterRefusal(pace: Pace, range: PaceRange, now: Date): Pace {
  const bore = evenlyOf(pace.perMinute) * 60_000;
  return { ...pace, perMinute: within(range, pace.perMinute / 2), refused: { perMinute: bore, at: now } };
}
