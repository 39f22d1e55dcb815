import type { Row } from '../database/sql.ts';
import { isNotEnded } from '../freezes/freeze-store.ts';
import type { Exemption as Stored } from '../generated/prisma/client.ts';
import type { Exemption } from './exemption.ts';

// How an observation reads exemptions, together with freezes in one statement.

/** SQL for how long we still read an ended exemption, so that its pull request is held first. */
export const lately = `interval '1 hour'`;

/** SQL for whether an exemption has freezes and all are over. @param of its table. @param now the parameter with the instant. */
export const isIdle = (of: string, now: string): string => `
  ${of}.ended_at IS NULL AND ${of}.freeze_ids <> '{}' AND NOT EXISTS (
    SELECT FROM freezes f WHERE f.id = ANY(${of}.freeze_ids) AND ${isNotEnded(now, 'f.')})`;

/** The columns of an `ExemptionRow`. @param table the name of the table in the statement. */
export const exemptionColumns = (table: string): string => `
  ${table}.id AS exemption_id, ${table}.number AS exempt_number, ${table}.head_sha, ${table}.head_seen_at,
  ${table}.base_ref, ${table}.any_head, ${table}.freeze_ids, ${table}.reason AS exemption_reason,
  ${table}.public_reason AS exemption_public_reason, ${table}.state::text AS exemption_state, ${table}.requested_at,
  ${table}.approved_at, ${table}.expires_at, ${table}.ended_at`;

/** An exemption among other columns. All are null if the row has none. */
export type ExemptionRow = Row & {
  exemption_id: string | null;
  exempt_number: number;
  head_sha: string;
  head_seen_at: Date;
  base_ref: string;
  any_head: boolean;
  freeze_ids: string[];
  exemption_reason: string;
  exemption_public_reason: string | null;
  exemption_state: Exemption['state'];
  requested_at: Date;
  approved_at: Date | null;
  expires_at: Date;
  ended_at: Date | null;
};

/** The exemption of a row; null if it has none. */
export const exemptionIn = (row: ExemptionRow): Exemption | null =>
  row.exemption_id === null
    ? null
    : {
        id: row.exemption_id,
        pullRequest: row.exempt_number,
        headSha: row.head_sha,
        headSeenAt: row.head_seen_at,
        baseRef: row.base_ref,
        anyHead: row.any_head,
        freezeIds: coveredBy(row.freeze_ids),
        reason: row.exemption_reason,
        publicReason: row.exemption_public_reason,
        state: row.exemption_state,
        requestedAt: row.requested_at,
        approvedAt: row.approved_at,
        expiresAt: row.expires_at,
        endedAt: row.ended_at,
      };

/** The row of an exemption as Prisma reads it. */
export const exemptionOf = ({ number, freezeIds, ...row }: Stored): Exemption => ({
  ...row,
  pullRequest: number,
  freezeIds: coveredBy(freezeIds),
});

/** The column has no nulls, so an empty list means every freeze. */
const coveredBy = (ids: string[]): string[] | null => (ids.length === 0 ? null : ids);
