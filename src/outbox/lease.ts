import { randomUUID } from 'node:crypto';
import { nowOf } from '../clock.ts';
import type { Deps } from '../deps.ts';
import type { HeadStatus } from '../generated/prisma/client.ts';
import {
  afterAccepted,
  afterRefusal,
  firstPace,
  isPressed,
  type Pace,
  paceAt,
  placesIn,
  waitFor,
} from './pace.ts';

/** Longer than a token, another one where GitHub has dropped that, and a call, 12 s each: no living holder loses it. */
const leaseLife = 40_000;
/** So many writes are taken at once. */
const mostTaken = 25;

/** A status that is due, and what the write needs to know. */
export type Write = Pick<
  HeadStatus,
  | ('repositoryId' | 'sha' | 'state' | 'description' | 'observation' | 'isFinal' | 'isMergeGroup')
  | ('closedNumber' | 'attempts' | 'writes' | 'overwrites' | 'countedId' | 'contradictedBy')
  | ('writtenState' | 'writtenDescription' | 'writtenId' | 'timesWritten' | 'repeatAfter' | 'notHeld')
> & {
  owner: string;
  repo: string;
  /** Of the open pull requests that have the SHA, the lowest number of those held, else the lowest. */
  openNumber: number | null;
  /** The pull request whose own entry a merge group is. */
  groupNumber: number | null;
};

/** What the holder may do now. */
export type Turn =
  /** Write these, the most urgent first; none where none is due. Their attempts are counted. */
  | { may: 'write'; writes: Write[] }
  /** Somebody else holds the installation by now, who goes on with it; or it is suspended or gone. */
  | { may: 'stop' }
  /** The pace, or GitHub, asks to wait. */
  | { may: 'wait'; until: Date };

export type Lease = {
  /** Takes the next due writes: keeps the lease and counts them, in the database, so that it holds for all replicas. */
  take(): Promise<Turn>;
  /** Tells what became of the writes taken last. @param posted how many statuses GitHub took; @param returned how many were not tried. */
  learn(outcome: { posted: number; returned: number; isRefused: boolean }): void;
  /** Keeps it for another call; false when it was lost. */
  keep(): Promise<boolean>;
  release(): Promise<void>;
};

type PaceRow = {
  perMinute: number | null;
  tokens: number | null;
  countedAt: Date | null;
  refused: number | null;
  refusedAt: Date | null;
};

const paceColumns = `pace_per_minute AS "perMinute", pace_tokens AS "tokens", pace_counted_at AS "countedAt",
  pace_refused AS "refused", pace_refused_at AS "refusedAt"`;

/** Parameters 3 to 8 of every statement of the holder; the tokens are less what it takes. */
const keepsLease = (tokens = '$5::float8') => `lease_until = $3::timestamptz, pace_per_minute = $4::float8,
  pace_tokens = ${tokens}, pace_counted_at = $6::timestamptz, pace_refused = $7::float8,
  pace_refused_at = $8::timestamptz`;

/** Rows that a saving transaction has are left out: it may be changing them, and sends a job of its own. */
const takeSql = `
  WITH installation AS (
    SELECT paused_until FROM installations
    WHERE id = $1::int8 AND lease_holder = $2::uuid AND suspended_at IS NULL AND deleted_at IS NULL
  ), due AS (
    SELECT repository_id, sha FROM head_statuses
    WHERE installation_id = $1::int8 AND is_waiting AND not_before <= $9::timestamptz
      AND EXISTS (SELECT FROM installation WHERE paused_until IS NULL OR paused_until <= $9::timestamptz)
    ORDER BY urgency, repository_id, sha LIMIT $10::int FOR UPDATE SKIP LOCKED
  ), taken AS (
    UPDATE head_statuses head SET attempts = head.attempts + 1 FROM due
    WHERE head.repository_id = due.repository_id AND head.sha = due.sha
    RETURNING head.*
  ), kept AS (
    UPDATE installations SET ${keepsLease('$5::float8 - (SELECT count(*) FROM taken)')}
    WHERE id = $1::int8 AND lease_holder = $2::uuid AND EXISTS (SELECT FROM installation)
    RETURNING paused_until
  )
  SELECT kept.paused_until AS "pausedUntil", taken.repository_id AS "repositoryId", taken.sha, taken.state,
    taken.description, taken.observation, taken.is_final AS "isFinal", taken.is_merge_group AS "isMergeGroup",
    taken.closed_number AS "closedNumber", taken.attempts - 1 AS attempts, taken.writes, taken.overwrites,
    taken.counted_id AS "countedId", taken.contradicted_by AS "contradictedBy", taken.written_state AS "writtenState",
    taken.written_description AS "writtenDescription", taken.written_id AS "writtenId",
    taken.times_written AS "timesWritten", taken.repeat_after AS "repeatAfter", taken.not_held AS "notHeld",
    account.login AS owner, repository.name AS repo, (
      SELECT open.number FROM open_pull_requests open
      WHERE open.repository_id = taken.repository_id AND (open.head_sha = taken.sha OR open.merge_sha = taken.sha)
      ORDER BY cardinality(open.held_by) = 0, open.number LIMIT 1
    ) AS "openNumber", CASE WHEN taken.is_merge_group THEN (
      SELECT merging.pull_requests[array_upper(merging.pull_requests, 1)] FROM merge_groups merging
      WHERE merging.repository_id = taken.repository_id AND merging.head_sha = taken.sha
    ) END AS "groupNumber"
  FROM kept LEFT JOIN taken ON true LEFT JOIN repositories repository ON repository.id = taken.repository_id
    LEFT JOIN accounts account ON account.id = repository.account_id
  ORDER BY taken.urgency, taken.repository_id, taken.sha`;

/**
 * The right to write the statuses of an installation, for one worker at a time over all replicas. A worker that
 * dies leaves its lease to run out; `clearLeases` is quicker where no other process can exist.
 * @returns null while another worker has it.
 */
export async function takeLease(
  deps: Pick<Deps, 'sql' | 'clock' | 'config'>,
  installationId: bigint,
): Promise<Lease | null> {
  const { sql, clock, config } = deps;
  const range = config.statusWritesPerMinute;
  const holder = randomUUID();
  const leaseUntil = () => new Date(clock.now() + leaseLife);
  const [row] = await sql.query<PaceRow>(
    'outbox-lease',
    `UPDATE installations SET lease_holder = $2::uuid, lease_until = $3::timestamptz
    WHERE id = $1::int8 AND (lease_until IS NULL OR lease_until <= $4::timestamptz) RETURNING ${paceColumns}`,
    [installationId, holder, leaseUntil(), nowOf(clock)],
  );
  if (!row) return null;
  // Only the holder changes the pace, so what it knows is true while it holds the lease.
  let pace = paceIn(row) ?? firstPace(range, nowOf(clock));
  let wasPressed = false;
  const kept = (until: Date | null) => [
    ...[installationId, holder, until, pace.perMinute, pace.tokens, pace.countedAt],
    ...[pace.refused?.perMinute ?? null, pace.refused?.at ?? null],
  ];
  return {
    async take() {
      const now = nowOf(clock);
      pace = paceAt(pace, range, now);
      wasPressed = isPressed(pace);
      const places = Math.min(mostTaken, placesIn(pace));
      const values = [...kept(leaseUntil()), now, places];
      const rows = await sql.query<Write & { pausedUntil: Date | null }>('outbox-take', takeSql, values);
      const [first] = rows;
      if (!first) return { may: 'stop' };
      if (first.pausedUntil && first.pausedUntil > now) return { may: 'wait', until: first.pausedUntil };
      if (places === 0) return { may: 'wait', until: new Date(now.getTime() + waitFor(pace)) };
      const writes = rows.filter(({ sha }) => sha !== null);
      pace = { ...pace, tokens: pace.tokens - writes.length };
      return { may: 'write', writes };
    },
    learn({ posted, returned, isRefused }) {
      pace = { ...pace, tokens: pace.tokens + returned };
      if (wasPressed) pace = afterAccepted(pace, posted, range, nowOf(clock));
      if (isRefused) pace = afterRefusal(pace, range, nowOf(clock));
    },
    async keep() {
      const text = `UPDATE installations SET ${keepsLease()} WHERE id = $1::int8 AND lease_holder = $2::uuid RETURNING id`;
      return (await sql.query('outbox-keep', text, kept(leaseUntil()))).length === 1;
    },
    async release() {
      const text = `UPDATE installations SET ${keepsLease()}, lease_holder = NULL
        WHERE id = $1::int8 AND lease_holder = $2::uuid`;
      await sql.query('outbox-release', text, kept(null));
    },
  };
}

const paceIn = ({ perMinute, tokens, countedAt, refused, refusedAt }: PaceRow): Pace | null =>
  perMinute !== null && tokens !== null && countedAt
    ? {
        ...{ perMinute, tokens, countedAt },
        refused: refused !== null && refusedAt ? { perMinute: refused, at: refusedAt } : null,
      }
    : null;

/** Ends the leases of a process that is gone. Only for the embedded database, which one process has to itself. */
export async function clearLeases(deps: Pick<Deps, 'db'>): Promise<void> {
  await deps.db.installation.updateMany({ data: { leaseHolder: null, leaseUntil: null } });
}
