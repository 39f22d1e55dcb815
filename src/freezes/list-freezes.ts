import type { SqlTx } from '../database/sql.ts';
import type { FoundRepository } from '../installations/repository-rows.ts';
import { fromRow, isAheadOf, isNotEnded, type StoredFreeze } from './freeze-store.ts';

// Lists the freezes of a repository for answers.

/** The repository to read. */
type RepositoryIds = Pick<FoundRepository, 'id' | 'accountId'>;

/** One JSON column, because drivers parse every column of every row. */
const asJson = `
  json_agg(json_build_object('id', id, 'reason', reason, 'publicReason', public_reason,
    'hasPublicReason', has_public_reason, 'start', start, 'end', "end", 'timezone', timezone, 'startsAt', starts_at,
    'endsAt', ends_at, 'matchingConditions', matching_conditions, 'excludeConditions', exclude_conditions,
    'holds', holds, 'environments', environments, 'isPause', is_pause, 'planId', plan_id, 'version', version,
    'deletedAt', deleted_at) ORDER BY starts_at, created_at, id) AS freezes`;

type FreezeRow = Parameters<typeof fromRow>[0];
type FreezeJson = Omit<FreezeRow, 'repositoryId' | 'startsAt' | 'endsAt'> & {
  startsAt: string;
  endsAt: string | null;
  deletedAt: string | null;
};

type ListedFreeze = { freeze: StoredFreeze; deletedAt: Date | null };

const dateOf = (written: string | null) => (written === null ? null : new Date(written));

const freezesIn = (freezes: FreezeJson[] | null, repositoryId: bigint): ListedFreeze[] =>
  (freezes ?? []).map(({ startsAt, endsAt, deletedAt, ...row }) => ({
    freeze: fromRow({ ...row, repositoryId, startsAt: new Date(startsAt), endsAt: dateOf(endsAt) }),
    deletedAt: dateOf(deletedAt),
  }));

/** The scheduled and ongoing freezes of a repository, the earliest first. */
export async function listFreezes(sql: SqlTx, { id }: RepositoryIds, now: Date): Promise<StoredFreeze[]> {
  const text = `SELECT ${asJson} FROM freezes WHERE repository_id = $1 AND ${isNotEnded('$2')}`;
  const [row] = await sql.query<{ freezes: FreezeJson[] | null }>('list-freezes', text, [id, now]);
  return freezesIn(row!.freezes, id).map(({ freeze }) => freeze);
}

/** Freezes that had not ended at an instant. */
export type NotOver = {
  kept: ListedFreeze[];
  /** Whether a plan of the owner repeats. Its later freezes are missing from the list. */
  repeats: boolean;
};

const notOver = `
  SELECT ${asJson}, EXISTS (SELECT FROM freeze_plans
    WHERE account_id = $2 AND rule IS NOT NULL AND deleted_at IS NULL AND ${isAheadOf('over_at', '$4')}) AS repeats
  FROM freezes WHERE repository_id = $1 AND ${isAheadOf('ends_at', '$3')}
    AND (deleted_at IS NULL OR deleted_at > $3)`;

/** The freezes of a repository that had neither ended nor been deleted at an instant, the earliest first. */
export async function freezesNotOver(
  sql: SqlTx,
  { id, accountId }: RepositoryIds,
  at: Date,
  now: Date,
): Promise<NotOver> {
  type Row = { freezes: FreezeJson[] | null; repeats: boolean };
  const [row] = await sql.query<Row>('freezes-not-over', notOver, [id, accountId, at, now]);
  return { kept: freezesIn(row!.freezes, id), repeats: row!.repeats };
}
