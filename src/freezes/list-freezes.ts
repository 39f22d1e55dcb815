import type { SqlTx } from '../database/sql.ts';
import type { FoundRepository } from '../installations/repository-rows.ts';
import { fromRow, isAheadOf, isNotEnded, type StoredFreeze } from './freeze-store.ts';

// Lists the freezes of a repository for answers.

/** The repository to read. */
type Place = Pick<FoundRepository, 'id' | 'accountId'>;

/** One JSON column, because drivers parse every column of every row. Arrays, because PostgreSQL pays for each name. */
const asJson = `
  json_agg(json_build_array(id, reason, public_reason, has_public_reason, start, "end", timezone, starts_at, ends_at,
    matching_conditions, exclude_conditions, version,
    CASE WHEN holds <> '{}' OR environments <> '{}' OR is_pause OR plan_id IS NOT NULL OR deleted_at IS NOT NULL
      THEN json_build_array(holds, environments, is_pause, plan_id, deleted_at) END
  ) ORDER BY starts_at, created_at, id)`;

type Columns = Omit<Parameters<typeof fromRow>[0], 'repositoryId'>;
type Rare = [Columns['holds'], Columns['environments'], Columns['isPause'], Columns['planId'], string | null];
type Listed = [
  ...[Columns['id'], Columns['reason'], Columns['publicReason'], Columns['hasPublicReason']],
  ...[Columns['start'], Columns['end'], Columns['timezone'], startsAt: string, endsAt: string | null],
  ...[Columns['matchingConditions'], Columns['excludeConditions'], Columns['version'], Rare | null],
];

const nothingRare: Rare = [[], [], false, null, null];

type Kept = { freeze: StoredFreeze; deletedAt: Date | null };

const dateOf = (written: string | null) => (written === null ? null : new Date(written));

function kept(
  // prettier-ignore
  [id, reason, publicReason, hasPublicReason, start, end, timezone, startsAt, endsAt, matchingConditions, excludeConditions, version, rare]: Listed,
  repositoryId: bigint,
): Kept {
  const [holds, environments, isPause, planId, deletedAt] = rare ?? nothingRare;
  const window = { start, end, timezone, startsAt: new Date(startsAt), endsAt: dateOf(endsAt) };
  const conditions = { matchingConditions, excludeConditions };
  const reasons = { reason, publicReason, hasPublicReason };
  const others = { version, holds, environments, isPause, planId };
  return {
    freeze: fromRow({ id, repositoryId, ...reasons, ...window, ...conditions, ...others }),
    deletedAt: dateOf(deletedAt),
  };
}

const keptIn = (freezes: Listed[] | null, repositoryId: bigint): Kept[] =>
  (freezes ?? []).map((freeze) => kept(freeze, repositoryId));

/** The scheduled and ongoing freezes of a repository, the earliest first. */
export async function listFreezes(sql: SqlTx, { id }: Place, now: Date): Promise<StoredFreeze[]> {
  const text = `SELECT ${asJson} AS freezes FROM freezes WHERE repository_id = $1 AND ${isNotEnded('$2')}`;
  const [row] = await sql.query<{ freezes: Listed[] | null }>('list-freezes', text, [id, now]);
  return keptIn(row!.freezes, id).map(({ freeze }) => freeze);
}

/** Freezes that had not ended at an instant. */
export type NotOver = {
  kept: Kept[];
  /** Whether a plan of the owner repeats. Its later freezes are missing from the list. */
  repeats: boolean;
};

const notOver = `
  SELECT ${asJson} AS freezes, EXISTS (SELECT FROM freeze_plans
    WHERE account_id = $2 AND rule IS NOT NULL AND deleted_at IS NULL AND ${isAheadOf('over_at', '$4')}) AS repeats
  FROM freezes WHERE repository_id = $1 AND ${isAheadOf('ends_at', '$3')}
    AND (deleted_at IS NULL OR deleted_at > $3)`;

/** The freezes of a repository that had neither ended nor been deleted at an instant, the earliest first. */
export async function freezesNotOver(
  sql: SqlTx,
  { id, accountId }: Place,
  at: Date,
  now: Date,
): Promise<NotOver> {
  type Row = { freezes: Listed[] | null; repeats: boolean };
  const [row] = await sql.query<Row>('freezes-not-over', notOver, [id, accountId, at, now]);
  return { kept: keptIn(row!.freezes, id), repeats: row!.repeats };
}
