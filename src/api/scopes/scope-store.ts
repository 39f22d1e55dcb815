import { greatestNumber } from '../../github/greatest-number.ts';
import type { SqlTx } from '../../database/sql.ts';
import type { Actor } from '../../events/actor.ts';
import { isReadBy } from '../../freezes/freeze-store.ts';

// Saves pushed scopes. Most pushes repeat the last one, and most come while no freeze reads scopes.

/** The pushed scopes of a pull request, without duplicates. Its number is exact, also beyond an int8. */
export type PushedScopes = { number: bigint; scopes: string[]; allScopes: boolean };

export type Push = PushedScopes & { repositoryId: bigint; by: Actor; at: Date };

const before = `
  SELECT
    EXISTS (SELECT FROM open_pull_requests WHERE repository_id = $1 AND number = $2::int) AS "isOpen",
    EXISTS (SELECT FROM pull_request_scopes WHERE repository_id = $1 AND number = $3::numeric
      AND scopes = $4::text[] AND all_scopes = $5::boolean) AS "isSame"`;

/**
 * Reads what is known about a pull request before a push.
 * @returns whether it is known to be open, and whether the same scopes were pushed before.
 */
export async function beforePush(
  sql: SqlTx,
  repositoryId: bigint,
  { number, scopes, allScopes }: PushedScopes,
): Promise<{ isOpen: boolean; isSame: boolean }> {
  const known = number <= greatestNumber ? Number(number) : null;
  const values = [repositoryId, known, String(number), scopes, allScopes];
  const [row] = await sql.query<{ isOpen: boolean; isSame: boolean }>('scopes-before', before, values);
  return row!;
}

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

// A statement sees what was committed when it began, and a locked row as it is when it has the lock. A commit of a
// freeze in between changes the repository's row, so the two differ in `xmin`. Then the statement saves nothing, and
// the push uses the transaction, whose second statement sees the freeze.
const saveUnread = `
  WITH place AS MATERIALIZED (SELECT id, xmin AS version FROM repositories WHERE id = $1 FOR SHARE)
  INSERT INTO pull_request_scopes AS known (${columns})
  SELECT ${pushed} FROM place
  WHERE place.version = (SELECT xmin FROM repositories WHERE id = $1) AND NOT ${isReadBy('scopes', '$1', '$5')}
  ${replacing}
  RETURNING true`;

/** Saves a push with one statement, unless a current freeze reads scopes. @returns whether it was saved. */
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
 * Saves a push in a transaction. If somebody creates a freeze at the same time, either its look sees these scopes, or
 * this sees the freeze.
 * @returns whether it changed what a current freeze reads.
 */
export async function saveAndSee(tx: SqlTx, push: Push): Promise<boolean> {
  await tx.query('share-repository', 'SELECT FROM repositories WHERE id = $1 FOR SHARE', [push.repositoryId]);
  const [row] = await tx.query<{ isRead: boolean }>('save-scopes', save, valuesOf(push));
  return row?.isRead ?? false;
}
