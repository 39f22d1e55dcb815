import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { nowOf } from '../time/clock.ts';
import { giveBackWithTries, takeOrGiveBack } from '../database/give-back.ts';
import {
  afterAccepted,
  afterRefusal,
  burstOf,
  firstPace,
  isPressed,
  mostAtOnce,
  type Pace,
  paceAt,
  writePlacesIn,
  placesOfMany,
  tiers,
  waitFor,
  waitOfMany,
} from './plan-write.ts';
import { lastTierBefore, type Passes, passTurn } from './instant-hold/pass-store.ts';
import { goesOn, type WriteShare, turnsAfter, turnsAfterBatch } from './write-turns.ts';
import {
  firstTake,
  forgetText,
  keepText,
  manyTurn,
  releaseText,
  releaseUnlessDueText,
  takeUnderHolds,
  takeWithoutHolds,
} from './lease-statements.ts';
import { isAnyDue, mostTaken } from './take-writes.ts';
import type { Write } from './write-store.ts';
import type { StatusDeps } from './status-deps.ts';

/** Longer than two token requests and a call, 12 s each, so that no living holder loses its lease. */
const leaseLife = 40_000;

/**
 * The states of a writer, from its lease to the end of its turn. It holds and writes in turns. Then it gives the lease
 * back, and a later job goes on if anything is due, unless another writer does or nobody can.
 */
export type WriterState =
  /** Has the lease, and writes nothing: nothing is due, or its turn is over. */
  | { is: 'holding' }
  /** Writes these, in this order. Their attempts are counted. @param isAll no more were due. */
  | { is: 'writing'; writes: Write[]; isAll: boolean }
  /** Writes the context of instant holds. @param places how many it may write, at least one. */
  | { is: 'passing'; passes: Passes; turns: string[]; places: number }
  /** Waits for its pace. */
  | { is: 'pacing'; until: Date }
  /** Waits because GitHub limits the installation or is down. */
  | { is: 'paused'; until: Date }
  /** Gave the lease back when nothing was due. */
  | { is: 'released' }
  /** Lost the lease: another writer goes on. */
  | { is: 'lost' }
  /** The installation is suspended or gone: nobody writes. */
  | { is: 'off' };

export type Lease = NonNullable<Awaited<ReturnType<typeof takeLease>>>;

type PaceRow = {
  perMinute: number | null;
  tokens: number | null;
  countedAt: Date | null;
  refused: number | null;
  refusedAt: Date | null;
};

type TakenRow = PaceRow &
  Write & {
    urgency: number;
    isOff: boolean;
    pausedUntil: Date | null;
    turns: string[];
    hasHolds: boolean;
    passes: Passes | null;
  };

/**
 * The right to write the statuses of an installation, for one worker at a time across all replicas. The lease of a worker
 * that dies expires. `clearLeases` is quicker if no other process can exist.
 * @returns null while another worker has it.
 */
export async function takeLease(deps: Pick<StatusDeps, 'sql' | 'clock' | 'config'>, installationId: bigint) {
  const { sql, clock, config } = deps;
  const range = config.statusWritesPerMinute;
  const holder = randomUUID();
  // Only the holder changes the pace, so its value is correct while it holds the lease.
  let pace = firstPace(range, nowOf(clock));
  let wasPressed = false;
  /** How many writes it took that were tried, and the last tier among those that can wait. */
  let takenInAll = 0;
  let lastTier: number | null = null;
  let isReleased = false;
  let hasHolds = false;
  let passes: Passes | null = null;
  let turns: string[] = [];
  const itself = (): unknown[] => [
    ...[installationId, holder, pace.perMinute, pace.tokens, pace.countedAt],
    ...[pace.refused?.perMinute ?? null, pace.refused?.at ?? null, turns],
  ];
  const until = () => new Date(clock.now() + leaseLife);
  const takeBy = (name: string, text: string, ...places: number[]) =>
    sql.query<TakenRow>(name, text, [...itself(), until(), nowOf(clock), ...places]);
  const takeNext = (places: number, many: number) =>
    hasHolds
      ? takeBy('outbox-take-under-holds', takeUnderHolds, places, many)
      : takeBy('outbox-take', takeWithoutHolds, places, many);
  // Where most of the burst is there again, nobody takes all that there is.
  const areMany = (counted = pace) => turns.includes(manyTurn) && isPressed(counted);
  /** How many of the writes may be of those that can wait. */
  const manyIn = (counted: Pace) => (areMany(counted) ? placesOfMany(counted) : mostTaken);
  const stateOf = (rows: TakenRow[], places: number, many: number): WriterState => {
    const now = nowOf(clock);
    const { isOff, pausedUntil } = rows[0]!;
    ({ hasHolds, passes } = rows[0]!);
    if (isOff) return { is: 'off' };
    if (pausedUntil && pausedUntil > now) return { is: 'paused', until: pausedUntil };
    if (places === 0 && lastTier === tiers.closesHole && takenInAll >= burstOf(pace.perMinute) / 2)
      turns = [...turns.filter((turn) => turn !== manyTurn), manyTurn];
    if (places === 0) return { is: 'pacing', until: new Date(now.getTime() + waitFor(pace)) };
    const writes = rows.filter(({ sha }) => sha !== null);
    if (writes.length === 0) {
      if (!passes && areMany() && many === 0)
        return { is: 'pacing', until: new Date(now.getTime() + waitOfMany(pace)) };
      if (!passes) return { is: 'holding' };
      // Half of the pace, unless the statuses behind had their turn and none waits.
      const share = turns.includes(passTurn) ? places : Math.ceil(places / 2);
      return { is: 'passing', passes, turns, places: share };
    }
    wasPressed = isPressed(pace);
    pace = { ...pace, tokens: pace.tokens - writes.length };
    takenInAll += writes.length;
    const ofMany = writes.filter(({ tier }) => tier > tiers.cannotWait);
    const hadRoom = ofMany.length < Math.min(many, places - (writes.length - ofMany.length));
    const goesOnBehind = goesOn(turns);
    turns = turnsAfterBatch(turns, writes, hadRoom);
    // One that went on behind an earlier batch left those before it.
    noteMany(ofMany, hadRoom && !goesOnBehind);
    if (passes && writes.some(({ tier }) => tier > lastTierBefore[passes!])) endPassTurn();
    return { is: 'writing', writes, isAll: !passes && !goesOnBehind && !areMany() && hadRoom };
  };

  /**
   * Notes whether holes of large freezes take all that there is: not if this take had room for more. A writer that GitHub
   * answers slowly takes few in one turn, and the burst is used up all the same.
   * @param ofMany those of the writes that can wait.
   */
  const noteMany = (ofMany: Write[], hadRoom: boolean) => {
    const wereMany = wasPressed && turns.includes(manyTurn);
    lastTier = ofMany.at(-1)?.tier ?? (wereMany ? tiers.closesHole : null);
    turns = turns.filter((turn) => turn !== manyTurn);
    if (!hadRoom && lastTier === tiers.closesHole && wasPressed) turns = [...turns, manyTurn];
  };

  const endPassTurn = () => (turns = turns.filter((turn) => turn !== passTurn));

  const most = Math.min(mostTaken, mostAtOnce(range));
  const letGo = () => sql.query('outbox-release', releaseText, itself());
  const first = await takeOrGiveBack(
    leaseLife,
    () => takeBy('outbox-first-take', firstTake, most),
    () => sql.query('outbox-forget', forgetText, [installationId, holder]),
  );
  if (first.length === 0) return null;
  ({ turns } = first[0]!);
  const stored = paceIn(first[0]!) ?? pace;
  const storedPlaces = Math.min(most, Math.max(0, writePlacesIn(stored)));
  pace = paceAt(stored, range, nowOf(clock));
  let ahead: WriterState | null = stateOf(first, storedPlaces, manyIn(stored));
  // More places may have become free since the first take.
  if (ahead.is === 'holding' || ahead.is === 'pacing') ahead = null;
  return {
    /** Whether a ruleset of the installation is or may be in force. */
    get hasHolds() {
      return hasHolds;
    },
    /** Whether the context of an instant hold is to be written somewhere. */
    get hasPasses() {
      return passes !== null;
    },
    /** Counts contexts of instant holds that were written. The statuses behind them have the next turn. */
    spend(written: WriteShare[]) {
      wasPressed = isPressed(pace);
      pace = { ...pace, tokens: pace.tokens - written.length };
      endPassTurn();
      for (const pass of written) turns = turnsAfter(turns, passTurn, pass);
      turns = [...turns, passTurn];
    },
    /** Takes the next due writes: renews the lease and counts the writes in the database, for all replicas. */
    async take(): Promise<WriterState> {
      const turn = ahead;
      ahead = null;
      if (turn) return turn;
      pace = paceAt(pace, range, nowOf(clock));
      const places = Math.min(mostTaken, writePlacesIn(pace));
      const many = manyIn(pace);
      let rows = await takeNext(places, many);
      if (!hasHolds && rows[0]?.hasHolds) {
        hasHolds = true;
        rows = await takeNext(places, many);
      }
      if (places > 0 && many > 0 && goesOn(turns) && rows[0]?.sha === null) {
        turns = turnsAfterBatch(turns, [], true);
        rows = await takeNext(places, many);
      }
      return rows.length === 0 ? { is: 'lost' } : stateOf(rows, places, many);
    },
    /** Reports the result of the last writes. @param posted how many GitHub accepted. @param returned how many were not tried. */
    learn({ posted, returned, isRefused }: { posted: number; returned: number; isRefused: boolean }) {
      pace = { ...pace, tokens: pace.tokens + returned };
      takenInAll -= returned;
      if (wasPressed) pace = afterAccepted(pace, posted, range, nowOf(clock));
      if (isRefused) pace = afterRefusal(pace, range, nowOf(clock));
    },
    /** Renews the lease for another call. @returns false if it was lost. */
    async keep() {
      return (await sql.query('outbox-keep', keepText, [...itself(), until()])).length === 1;
    },
    /** Releases the lease, unless something is due by now. @returns whether the holder has nothing left to do. */
    async releaseUnlessDue() {
      const values = [...itself(), until(), nowOf(clock)];
      const [row] = await sql.query<{ holder: string | null }>('outbox-let-go', releaseUnlessDueText, values);
      isReleased = !row?.holder;
      return isReleased;
    },
    /** Releases the lease if it was not released. */
    async release() {
      if (!isReleased) await giveBackWithTries(leaseLife, letGo);
    },
  };
}

const freeLease = '(lease_until IS NULL OR lease_until <= $2::timestamptz)';

const readPaceText = `SELECT pace_per_minute AS "perMinute", pace_tokens AS tokens, pace_counted_at AS "countedAt",
    pace_refused AS refused, pace_refused_at AS "refusedAt",
    NOT ${freeLease} OR ${isAnyDue('$2')} AS "isBusy"
  FROM installations WHERE id = $1::int8`;

/** Changes nothing if somebody else counted the pace meanwhile. */
const takePlaceText = `UPDATE installations
  SET pace_per_minute = $3::float8, pace_tokens = $4::float8, pace_counted_at = $2::timestamptz
  WHERE id = $1::int8 AND ${freeLease} AND pace_counted_at IS NOT DISTINCT FROM $5::timestamptz RETURNING id`;

/** Milliseconds after which a write that is no status tries again. */
const behindStatuses = 1000;
/** Milliseconds between two looks while statuses that the pace allows are under way, and how many looks. */
const betweenLooks = 50;
const mostLooks = 200;

/**
 * Takes a place in the pace of an installation for a write that is no status. Every status that is due goes first: it
 * waits for those that the pace allows now.
 * @returns null if it has one, else when to try again.
 */
export async function takePlace(
  deps: Pick<StatusDeps, 'sql' | 'clock' | 'config' | 'stopping'>,
  installationId: bigint,
): Promise<Date | null> {
  for (let looks = 1; ; looks++) {
    const wait = await tryPlace(deps, installationId);
    if (wait === null) return null;
    if (wait > 0 || looks === mostLooks || deps.stopping.aborted)
      return new Date(deps.clock.now() + Math.max(behindStatuses, wait));
    await sleep(betweenLooks);
  }
}

/** @returns null if it took a place, else the milliseconds until the pace has one, which others may take. */
async function tryPlace(
  { sql, clock, config }: Pick<StatusDeps, 'sql' | 'clock' | 'config'>,
  installationId: bigint,
): Promise<number | null> {
  const now = nowOf(clock);
  const range = config.statusWritesPerMinute;
  const parameters = [installationId, now];
  const [row] = await sql.query<PaceRow & { isBusy: boolean }>('outbox-read-pace', readPaceText, parameters);
  const stored = row && paceIn(row);
  const pace = paceAt(stored ?? firstPace(range, now), range, now);
  if (row?.isBusy || writePlacesIn(pace) === 0) return waitFor(pace);
  const counted = [pace.perMinute, pace.tokens - 1, stored?.countedAt ?? null];
  const taken = await sql.query('outbox-take-place', takePlaceText, [...parameters, ...counted]);
  return taken.length === 1 ? null : 0;
}

const paceIn = ({ perMinute, tokens, countedAt, refused, refusedAt }: PaceRow): Pace | null =>
  perMinute !== null && tokens !== null && countedAt
    ? {
        perMinute,
        tokens,
        countedAt,
        refused: refused !== null && refusedAt ? { perMinute: refused, at: refusedAt } : null,
      }
    : null;

/** Ends the leases of a process that is gone. Only for the embedded database, which no other process can use. */
export async function clearLeases(deps: Pick<StatusDeps, 'db'>): Promise<void> {
  await deps.db.installation.updateMany({ data: { leaseHolder: null, leaseUntil: null } });
}
