import type { SqlTx } from '../database/sql.ts';
import { type Asked, type Place, readAlone, type RepositoryRead } from '../installations/repository-read.ts';
import { type FreezeJson, freezeJson, fromJson, type StoredFreeze } from './freeze-columns.ts';
import { isAheadOf, isNotEnded } from './freeze-store.ts';

// Lists the freezes of a repository for answers.

const inOrder = 'ORDER BY starts_at, created_at, id';

const listed: RepositoryRead<StoredFreeze[]> = {
  name: 'list-freezes',
  sql: `SELECT json_agg(${freezeJson('freezes')} ${inOrder}) FROM freezes WHERE repository_id = named.repository_id AND ${isNotEnded('$1')}`,
  parameters: 1,
  valueOf: (json, { id }) => ((json as FreezeJson[] | null) ?? []).map((freeze) => fromJson(freeze, id)),
};

/** To read: the scheduled and ongoing freezes of a repository, the earliest first. */
export const listedFreezes = (now: Date): Asked<StoredFreeze[]> => ({ read: listed, values: [now] });

/** The scheduled and ongoing freezes of a repository, the earliest first. */
export const listFreezes = (sql: SqlTx, repository: Place, now: Date): Promise<StoredFreeze[]> =>
  readAlone(sql, listedFreezes(now), repository);

/** Freezes that had not ended at an instant. */
export type NotOver = {
  kept: { freeze: StoredFreeze; deletedAt: Date | null }[];
  /** Whether a plan of the owner repeats. Its later freezes are missing from the list. */
  repeats: boolean;
};

type NotOverJson = {
  freezes: { freeze: FreezeJson; deletedAt: string | null }[] | null;
  repeats: boolean;
};

const notOver: RepositoryRead<NotOver> = {
  name: 'freezes-not-over',
  sql: `
    SELECT json_build_object(
      'freezes', json_agg(json_build_object('freeze', ${freezeJson('freezes')}, 'deletedAt', deleted_at) ${inOrder}),
      'repeats', EXISTS (SELECT FROM freeze_plans
        WHERE account_id = named.owner_id AND rule IS NOT NULL AND deleted_at IS NULL AND ${isAheadOf('over_at', '$2')}))
    FROM freezes WHERE repository_id = named.repository_id AND ${isAheadOf('ends_at', '$1')}
      AND (deleted_at IS NULL OR deleted_at > $1)`,
  parameters: 2,
  valueOf(json, { id }) {
    const { freezes, repeats } = json as NotOverJson;
    const kept = (freezes ?? []).map(({ freeze, deletedAt }) => ({
      freeze: fromJson(freeze, id),
      deletedAt: deletedAt === null ? null : new Date(deletedAt),
    }));
    return { kept, repeats };
  },
};

/** To read: the freezes of a repository that had neither ended nor been deleted at an instant, the earliest first. */
export const freezesNotOver = (at: Date, now: Date): Asked<NotOver> => ({ read: notOver, values: [at, now] });
