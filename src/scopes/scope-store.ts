import { greatestNumber } from '../github/greatest-number.ts';
import type { SqlTx } from '../database/sql.ts';
import type { Actor } from '../events/actor.ts';
import { isReadBy } from '../freezes/freeze-store.ts';
import type { Asked, RepositoryRead } from '../installations/repository-read.ts';

// The writing of pushed scopes. Most pushes come again unchanged, and most come while no freeze reads scopes.

/** What is pushed for a pull request: scopes without duplicates. Its number is exact over a wider range than an int8. */
export type PushedScopes = { number: bigint; scopes: string[]; allScopes: boolean };

export type Push = PushedScopes & { repositoryId: bigint; by: Actor; at: Date };

export type Before = {
  /** The pull request is known to be open. */
  isOpen: boolean;
  /** The same scopes were pushed before. */
  isSame: boolean;
};

const before: RepositoryRead<Before> = {
  name: 'scopes-before',
  sql: `SELECT json_build_object(
    'isOpen', EXISTS (SELECT FROM open_pull_requests
      WHERE repository_id = named.repository_id AND number = $2::int),
    'isSame', EXISTS (SELECT FROM pull_request_scopes
      WHERE repository_id = named.repository_id AND number = $1::numeric
        AND scopes = $3::text[] AND all_scopes = $4::boolean))`,
  parameters: 4,
  valueOf: (json) => json as Before,
};

/** To read: what is known of a pull request before a push. */
export const beforePush = ({ number, scopes, allScopes }: PushedScopes): Asked<Before> => ({
  read: before,
  values: [String(number), number <= greatestNumber ? Number(number) : null, scopes, allScopes],
});

const columns = 'repository_id, number, scopes, all_scopes, pushed_at, pushed_by';
const pushed = '$1::int8, $2::numeric, $3::text[], $4::boolean, $5::timestamptz, $6::jsonb';
const replacing = `ON CONFLICT (repository_id, number) DO UPDATE SET scopes = excluded.scopes,
  all_scopes = excluded.all_scopes, pushed_at = excluded.pushed_at, pushed_by = excluded.pushed_by`;

const valuesOf = ({ repositoryId, number, scopes, allScopes, at, by }: Push): unknown[] => [
  repositoryId,
  String(number),
  scopes,
  allScopes,
  at,
  JSON.stringify(by),
];

// A statement sees what was committed when it began, and the row that it locks as it is when it has the lock. So where
// a freeze was committed in between, which changes the repository's row, the two differ in `xmin`: nothing is saved,
// and the push goes the long way, whose second statement sees the freeze.
const saveUnread = `
  WITH place AS MATERIALIZED (SELECT id, xmin AS version FROM repositories WHERE id = $1 FOR SHARE)
  INSERT INTO pull_request_scopes AS known (${columns})
  SELECT ${pushed} FROM place
  WHERE place.version = (SELECT xmin FROM repositories WHERE id = $1) AND NOT ${isReadBy('scopes', '$1', '$5')}
  ${replacing}
  RETURNING true`;

/** Saves a push, in one statement, unless a freeze of now reads scopes. @returns whether it was saved. */
export async function saveWhereUnread(sql: SqlTx, push: Push): Promise<boolean> {
  return (await sql.query('save-scopes-unread', saveUnread, valuesOf(push))).length > 0;
}

const save = `
  WITH saved AS (
    INSERT INTO pull_request_scopes AS known (${columns}) VALUES (${pushed}) ${replacing}
    WHERE (known.scopes, known.all_scopes) IS DISTINCT FROM (excluded.scopes, excluded.all_scopes)
    RETURNING true)
  SELECT ${isReadBy('scopes', '$1', '$5')} AS "isRead" FROM saved`;

/**
 * Saves a push in a transaction. A freeze that is being created either sees these scopes in its look, or is seen here.
 * @returns whether it changed what a freeze of now reads.
 */
export async function saveAndSee(tx: SqlTx, push: Push): Promise<boolean> {
  await tx.query('share-repository', 'SELECT FROM repositories WHERE id = $1 FOR SHARE', [push.repositoryId]);
  const [row] = await tx.query<{ isRead: boolean }>('save-scopes', save, valuesOf(push));
  return row?.isRead ?? false;
}
