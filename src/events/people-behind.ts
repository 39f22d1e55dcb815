import type { Row, SqlTx } from '../database/sql.ts';

// Keys, jobs and plans act for people: the person who created the key, the rule that lets the job in, or the plan.

/** What acted, and the person who created it, directly or through other keys; null if that is not known. */
export type Behind = {
  kind: 'key' | 'job' | 'plan';
  id: string;
  name: string;
  person: { type: 'user'; id: number; name: string } | null;
};

/** SQL for everything that can act for a person. */
const makers = `(
  SELECT id, account_id, name, created_by, 'key' AS kind FROM application_keys
  UNION ALL SELECT id, account_id, name, created_by, 'job' FROM oidc_rules
  UNION ALL SELECT id, account_id, name, created_by, 'plan' FROM freeze_plans
) AS maker`;

const behind = `
  WITH RECURSIVE line AS (
    SELECT maker.id, maker.kind, maker.name, maker.created_by FROM ${makers} WHERE maker.id = ANY ($1::uuid[])
    UNION
    SELECT line.id, line.kind, line.name, maker.created_by FROM line JOIN ${makers}
      ON maker.id = CASE WHEN line.created_by->>'type' = 'application' THEN (line.created_by->>'id')::uuid END
  )
  SELECT DISTINCT ON (id) id::text, kind, name, CASE WHEN created_by->>'type' = 'user' THEN created_by END AS person
  FROM line ORDER BY id, created_by->>'type' = 'user' DESC`;

const isUuid = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/;

/**
 * The keys, jobs and plans that acted, by their keys in the log. Asks nothing if only people did.
 * @param actorKeys of events; those of people count for nothing.
 */
export async function actedFor(
  read: SqlTx['query'],
  actorKeys: (string | null)[],
): Promise<Map<string, Behind>> {
  const ids = [...new Set(actorKeys)].filter((key) => key !== null && isUuid.test(key));
  const rows = ids.length === 0 ? [] : await read<Behind & Row>('people-behind', behind, [ids]);
  return new Map(rows.map((row) => [row.id, row]));
}

const ofPerson = `
  WITH RECURSIVE line AS (
    SELECT maker.id FROM ${makers} WHERE maker.account_id = $1 AND (lower(maker.name) = $2
      OR maker.created_by->>'type' = 'user' AND lower(maker.created_by->>'name') = $2)
    UNION
    SELECT maker.id FROM line JOIN ${makers} ON maker.account_id = $1 AND maker.created_by->>'id' = line.id::text
  )
  SELECT id::text FROM line`;

/**
 * Who acts under a name, by their keys in the log: the person with this login, and the keys, rules and plans that they
 * created or that have this name.
 */
export async function actorKeysOf(read: SqlTx['query'], accountId: bigint, name: string): Promise<string[]> {
  const login = name.trim().replace(/^@/, '').toLowerCase();
  const rows = await read<{ id: string }>('actors-of-person', ofPerson, [accountId, login]);
  return [`@${login}`, ...rows.map(({ id }) => id)];
}
