import type { Row, SqlTx } from '../../database/sql.ts';
import type { Actor } from '../../events/actor.ts';
import type { JobPermission, OidcRule } from './oidc-rule.ts';

// A rule that a key made counts as long as that key. Otherwise a key could leave something behind after its end.
const counting = `
  SELECT r.id, r.name, r.repositories, r.refs, r.environments, r.may, r.created_at, r.created_by
  FROM oidc_rules r LEFT JOIN application_keys k ON k.id = r.key_id
  WHERE r.account_id = $1
    AND (r.key_id IS NULL OR (k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > $2::timestamptz)))
  ORDER BY r.created_at, r.id`;

/** The rules of an account that count, oldest first. */
export async function rulesOf(sql: SqlTx, accountId: bigint, now: Date): Promise<OidcRule[]> {
  return (await sql.query('oidc-rules', counting, [accountId, now])).map(ruleOfRow);
}

const ruleOfRow = (row: Row): OidcRule => ({
  id: row['id'] as string,
  name: row['name'] as string,
  repositories: unlessEmpty(row['repositories']),
  refs: unlessEmpty(row['refs']),
  environments: unlessEmpty(row['environments']),
  may: row['may'] as JobPermission[],
  createdAt: row['created_at'] as Date,
  createdBy: row['created_by'] as Actor,
});

/** A null list is saved as an empty one. */
function unlessEmpty(list: unknown): string[] | null {
  const globs = list as string[];
  return globs.length > 0 ? globs : null;
}
