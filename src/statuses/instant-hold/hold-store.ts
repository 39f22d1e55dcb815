import { randomUUID } from 'node:crypto';
import { giveBackWithTries, takeOrGiveBack } from '../../database/give-back.ts';
import type { Tx } from '../../database/database.ts';
import { believed, type SqlTx } from '../../database/sql.ts';
import { type FreezeJson, freezeJson, fromJson } from '../../freezes/freeze-columns.ts';
import { holdsMerges } from '../../freezes/freeze.ts';
import { isNotEnded } from '../../freezes/freeze-store.ts';
import { type ParsedFreeze, parseStoredFreezes } from '../../freezes/judge-freeze.ts';
import { settingSql } from '../../installations/setting-fields.ts';
import { freezesAreOn, type Product } from '../../installations/product.ts';
import type { Base, Mode } from './hold.ts';

/** The name of our ruleset in each repository. Who makes one with this name by hand hands it to us. */
export const rulesetName = 'Holdfast instant hold';

// The table `instant_holds`.

/** What the row of a repository says. */
export type Stored = {
  rulesetId: bigint | null;
  context: string | null;
  since: Date | null;
  freezes: string[];
  branches: string[];
  settled: string[];
  observation: bigint;
  judged: bigint;
  bypass: unknown[];
  error: string | null;
};

/** A repository with its hold, and what decides about it. */
export type HoldState = Stored & {
  repositoryId: bigint;
  accountId: bigint;
  name: string;
  account: { login: string };
  /** The installation of the first App; null if it cannot write there. */
  installationId: bigint | null;
  mode: Mode;
  /** The ongoing freezes that hold merges. */
  ongoing: ParsedFreeze[];
  /** Every later observation knows these freezes. */
  observations: bigint;
  bases: Base[];
  pacePerMinute: number | null;
};

const holdColumns = (row: string) => `${row}.ruleset_id AS "rulesetId", ${row}.context, ${row}.since,
  coalesce(${row}.freezes, '{}') AS freezes, coalesce(${row}.branches, '{}') AS branches,
  coalesce(${row}.settled, '{}') AS settled, coalesce(${row}.observation, 0) AS observation,
  coalesce(${row}.judged, 0) AS judged, coalesce(${row}.bypass, '[]') AS bypass, ${row}.error`;

type StateRow = Omit<HoldState, 'account' | 'mode' | 'ongoing' | 'bases'> & {
  login: string;
  mode: Mode | null;
  products: Product[];
  ongoing: FreezeJson[] | null;
  bases: Base[] | null;
};

/** As observations have it: not behind a replica whose clock is a little ahead. */
const presentSql = `greatest($2::timestamptz, ${believed('r.reconciled_at', '$2')})`;

/** Reads a hold and what decides about it, with one statement. @returns null if there is no such repository. */
export async function readHold(sql: SqlTx, repositoryId: bigint, now: Date): Promise<HoldState | null> {
  const [row] = await sql.query<StateRow>(
    'read-hold',
    `SELECT r.id AS "repositoryId", r.account_id AS "accountId", r.name, a.login, r.products::text[] AS products,
      r.observations, ${settingSql('instantHold')} AS mode, i.pace_per_minute AS "pacePerMinute",
      CASE WHEN i.suspended_at IS NULL AND i.deleted_at IS NULL AND NOT r.archived THEN i.id END AS "installationId",
      ${holdColumns('hold')}, (
        SELECT json_agg(${freezeJson('f')} ORDER BY f.starts_at, f.created_at, f.id) FROM freezes f
        WHERE f.repository_id = r.id AND ${isNotEnded(presentSql, 'f.')} AND f.starts_at <= ${presentSql}
      ) AS ongoing, (
        SELECT json_agg(json_build_object('name', base_ref, 'open', open, 'isHead', base_ref IN (
          SELECT head_ref FROM open_pull_requests WHERE repository_id = r.id AND head_ref IS NOT NULL)))
        FROM (SELECT base_ref, count(*)::int AS open FROM open_pull_requests WHERE repository_id = r.id GROUP BY 1) based
      ) AS bases
    FROM repositories r JOIN accounts a ON a.id = r.account_id LEFT JOIN installations i ON i.id = r.installation_id
      LEFT JOIN instant_holds hold ON hold.repository_id = r.id
    WHERE r.id = $1`,
    [repositoryId, now],
  );
  if (!row) return null;
  const { login, mode, products, ongoing, bases, ...rest } = row;
  const isOn = freezesAreOn(products) && rest.installationId !== null;
  const freezes = (ongoing ?? []).map((json) => fromJson(json, repositoryId)).filter(holdsMerges);
  return {
    ...rest,
    account: { login },
    mode: mode ?? 'off',
    ongoing: isOn ? await parseStoredFreezes(freezes) : [],
    bases: (bases ?? []).map(({ isHead, ...base }) => ({ ...base, isHead: isHead ?? false })),
  };
}

/** Milliseconds for which one process may change a hold before it asks again. Longer than a request takes. */
const leaseLife = 20_000;
/** Until then, nobody else can have taken it. */
const renewAfter = leaseLife / 4;

/**
 * The right to change the hold of a repository, for one process at a time. It is kept before each request, and expires if
 * the process dies.
 */
export type Turn = { holder: string; keep(now: Date): Promise<boolean>; end(): Promise<void> };

/** @returns the turn; the instant to try again if another process has it. */
export async function takeTurn(sql: SqlTx, repositoryId: bigint, now: Date): Promise<Turn | Date> {
  const holder = randomUUID();
  const until = (from: Date) => new Date(from.getTime() + leaseLife);
  const end = () =>
    sql.query(
      'hold-end-turn',
      'UPDATE instant_holds SET lease_until = NULL, lease_holder = NULL WHERE repository_id = $1 AND lease_holder = $2::uuid',
      [repositoryId, holder],
    );
  const take = () =>
    sql.query<{ holder: string; until: Date }>(
      'hold-take-turn',
      `INSERT INTO instant_holds AS hold (repository_id, lease_holder, lease_until) VALUES ($1, $2::uuid, $4)
     ON CONFLICT (repository_id) DO UPDATE SET
       lease_holder = CASE WHEN coalesce(hold.lease_until, $3) <= $3 THEN excluded.lease_holder ELSE hold.lease_holder END,
       lease_until = CASE WHEN coalesce(hold.lease_until, $3) <= $3 THEN excluded.lease_until ELSE hold.lease_until END
     RETURNING lease_holder::text AS holder, lease_until AS until`,
      [repositoryId, holder, now, until(now)],
    );
  const [row] = await takeOrGiveBack(leaseLife, take, end);
  if (row!.holder !== holder) return row!.until;
  const keep = (at: Date) =>
    sql.query(
      'hold-keep-turn',
      'UPDATE instant_holds SET lease_until = $3 WHERE repository_id = $1 AND lease_holder = $2::uuid RETURNING repository_id',
      [repositoryId, holder, until(at)],
    );
  let renewedAt = now.getTime();
  return {
    holder,
    async keep(at) {
      if (at.getTime() < renewedAt + renewAfter) return true;
      renewedAt = at.getTime();
      return (await keep(at)).length === 1;
    },
    end: () => giveBackWithTries(leaseLife, end),
  };
}

/** Saves a change of the one whose turn it is. @returns whether it was still its turn. */
export async function saveHold(
  tx: Tx,
  repositoryId: bigint,
  { holder }: Turn,
  change: Partial<Stored> & { installationId?: bigint | null; checkedAt?: Date },
): Promise<boolean> {
  const { bypass, ...others } = change;
  const { count } = await tx.instantHold.updateMany({
    where: { repositoryId, leaseHolder: holder },
    data: { ...others, ...(bypass && { bypass: bypass as object[] }) },
  });
  return count === 1;
}

/** Notes that an observation of every open pull request was saved. */
export async function saveJudged(sql: SqlTx, repositoryId: bigint, observation: bigint): Promise<void> {
  await sql.query(
    'hold-judged',
    'UPDATE instant_holds SET judged = greatest(judged, $2) WHERE repository_id = $1',
    [repositoryId, observation],
  );
}

/** Ends the turns of a process that is gone, like `clearLeases`. */
export async function clearTurns(db: Tx): Promise<void> {
  await db.instantHold.updateMany({ data: { leaseHolder: null, leaseUntil: null } });
}

/** The repositories of an installation whose ruleset is or may be in force. */
export async function heldAtOnce(sql: SqlTx, installationId: bigint): Promise<bigint[]> {
  const rows = await sql.query<{ id: bigint }>(
    'held-at-once',
    'SELECT repository_id AS id FROM instant_holds WHERE installation_id = $1 AND context IS NOT NULL',
    [installationId],
  );
  return rows.map(({ id }) => id);
}

/**
 * Repositories whose rulesets to compare with GitHub now: those in force, and of the others those where something is wrong
 * or unfinished, then those that were compared longest ago, so many of each account. Also those that a process changes now:
 * it does not see what is wrong beside its own ruleset, and the check waits for its turn.
 */
export async function holdsToCheck(db: Tx): Promise<bigint[]> {
  const rows = await db.$queryRaw<{ id: bigint }[]>`
    SELECT id FROM (
      SELECT hold.repository_id AS id, hold.context IS NOT NULL AS is_in_force, row_number() OVER (
        PARTITION BY r.account_id, hold.context IS NOT NULL ORDER BY hold.error IS NULL AND NOT EXISTS (
          SELECT FROM instant_passes pass WHERE pass.repository_id = hold.repository_id), hold.checked_at NULLS FIRST
      ) AS place
      FROM instant_holds hold JOIN repositories r ON r.id = hold.repository_id
    ) holds WHERE place <= CASE WHEN is_in_force THEN ${mostInForce}::int ELSE ${mostChecks}::int END`;
  return rows.map(({ id }) => id);
}

/** Installations with a ruleset that is or may be in force: its context may be owed on some commits. */
export async function installationsWithHold(db: Tx): Promise<bigint[]> {
  const holds = await db.instantHold.findMany({
    where: { context: { not: null }, installationId: { not: null } },
    distinct: ['installationId'],
    select: { installationId: true },
  });
  return holds.map(({ installationId }) => installationId!);
}

/**
 * How many are compared in a minute. While nothing changes, a look costs nothing of the 5,000 requests an hour or more that
 * the second App has for each account, but GitHub takes only 900 requests a minute.
 */
const mostInForce = 600;
const mostChecks = 60;

/** The instant hold of a repository, for people. @property error what is wrong, and what to do. */
export type Instant = {
  mode: Mode;
  state: 'off' | 'on' | 'unavailable';
  since: Date | null;
  error: string | null;
};

/** Reads the instant hold of a repository, from our tables alone. @param freezeId one of its freezes: only that counts. */
export async function readInstant(
  sql: SqlTx,
  repositoryId: bigint,
  freezeId: string | null = null,
): Promise<Instant> {
  const [row] = await sql.query<{ mode: Mode | null; since: Date | null; error: string | null }>(
    'read-instant',
    `SELECT ${settingSql('instantHold')} AS mode,
      CASE WHEN context IS NOT NULL AND ($2::text IS NULL OR EXISTS (
        SELECT FROM unnest(freezes) AS held_for WHERE split_part(held_for, ' ', 1) = $2)) THEN since END AS since, error
    FROM repositories r JOIN accounts a ON a.id = r.account_id
      LEFT JOIN instant_holds hold ON hold.repository_id = r.id
    WHERE r.id = $1`,
    [repositoryId, freezeId],
  );
  const { mode = null, since = null, error = null } = row ?? {};
  const state = error !== null ? 'unavailable' : since ? 'on' : 'off';
  return { mode: mode ?? 'off', state, since, error };
}

/** How repositories are held at once, and what is wrong with it, by their ids. */
export async function readModes(
  sql: SqlTx,
  ids: bigint[],
): Promise<Map<bigint, { mode: Mode; error: string | null }>> {
  const rows = await sql.query<{ id: bigint; mode: Mode | null; error: string | null }>(
    'read-hold-modes',
    `SELECT r.id, ${settingSql('instantHold')} AS mode, hold.error
    FROM repositories r JOIN accounts a ON a.id = r.account_id
      LEFT JOIN instant_holds hold ON hold.repository_id = r.id
    WHERE r.id = ANY ($1)`,
    [ids],
  );
  return new Map(rows.map(({ id, mode, error }) => [id, { mode: mode ?? 'off', error }]));
}
