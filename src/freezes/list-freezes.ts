import type { SqlTx } from '../database/sql.ts';
import { type Asked, type Place, readAlone, type RepositoryRead } from '../installations/repository-read.ts';
import { fromRow, isAheadOf, isNotEnded, type StoredFreeze } from './freeze-store.ts';

// Many freezes of a repository at once, for answers.

/** One column of JSON: a driver looks at each column of each row, and parses JSON at once. PostgreSQL pays for each key. */
const asJson = `
  json_agg(json_build_object(
    'id', id, 'reason', reason, 'publicReason', public_reason, 'hasPublicReason', has_public_reason,
    'start', start, 'end', "end", 'timezone', timezone, 'startsAt', starts_at, 'endsAt', ends_at,
    'matchingConditions', matching_conditions, 'excludeConditions', exclude_conditions, 'version', version,
    'rare', CASE WHEN holds <> '{}' OR environments <> '{}' OR is_pause OR plan_id IS NOT NULL
      OR deleted_at IS NOT NULL THEN json_build_object('holds', holds, 'environments', environments,
        'isPause', is_pause, 'planId', plan_id, 'deletedAt', deleted_at) END
  ) ORDER BY starts_at, created_at, id)`;

type Columns = Omit<Parameters<typeof fromRow>[0], 'repositoryId'>;
type Rare = Pick<Columns, 'holds' | 'environments' | 'isPause' | 'planId'> & { deletedAt: string | null };
type Listed = Omit<Columns, 'startsAt' | 'endsAt' | keyof Rare> & {
  startsAt: string;
  endsAt: string | null;
  rare: Rare | null;
};

const nothingRare: Rare = { holds: [], environments: [], isPause: false, planId: null, deletedAt: null };

type Kept = { freeze: StoredFreeze; deletedAt: Date | null };

const keptIn = (freezes: Listed[] | null, repositoryId: bigint): Kept[] => {
  const dateOf = (written: string | null) => (written === null ? null : new Date(written));
  return (freezes ?? []).map(({ startsAt, endsAt, rare, ...freeze }) => {
    const { deletedAt, ...others } = rare ?? nothingRare;
    const window = { startsAt: new Date(startsAt), endsAt: dateOf(endsAt) };
    return {
      freeze: fromRow({ ...freeze, ...others, ...window, repositoryId }),
      deletedAt: dateOf(deletedAt),
    };
  });
};

const listed: RepositoryRead<StoredFreeze[]> = {
  name: 'list-freezes',
  sql: `SELECT ${asJson} FROM freezes WHERE repository_id = named.repository_id AND ${isNotEnded('$1')}`,
  parameters: 1,
  valueOf: (json, { id }) => keptIn(json as Listed[] | null, id).map(({ freeze }) => freeze),
};

/** To read: the scheduled and ongoing freezes of a repository, the earliest first. */
export const listedFreezes = (now: Date): Asked<StoredFreeze[]> => ({ read: listed, values: [now] });

/** The scheduled and ongoing freezes of a repository, the earliest first. */
export const listFreezes = (sql: SqlTx, repository: Place, now: Date): Promise<StoredFreeze[]> =>
  readAlone(sql, listedFreezes(now), repository);

/** Freezes that had not ended at an instant. */
export type NotOver = {
  kept: Kept[];
  /** Whether a plan of the owner's repeats: what it makes later is not among them. */
  repeats: boolean;
};

const notOver: RepositoryRead<NotOver> = {
  name: 'freezes-not-over',
  sql: `
    SELECT json_build_object('freezes', ${asJson}, 'repeats', EXISTS (SELECT FROM freeze_plans
      WHERE account_id = named.owner_id AND rule IS NOT NULL AND deleted_at IS NULL AND ${isAheadOf('over_at', '$2')}))
    FROM freezes WHERE repository_id = named.repository_id AND ${isAheadOf('ends_at', '$1')}
      AND (deleted_at IS NULL OR deleted_at > $1)`,
  parameters: 2,
  valueOf(json, { id }) {
    const { freezes, repeats } = json as { freezes: Listed[] | null; repeats: boolean };
    return { kept: keptIn(freezes, id), repeats };
  },
};

/** To read: the freezes of a repository that had neither ended nor been deleted at an instant, the earliest first. */
export const freezesNotOver = (at: Date, now: Date): Asked<NotOver> => ({ read: notOver, values: [at, now] });
