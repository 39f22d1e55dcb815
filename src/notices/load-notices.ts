import type { Deps } from '../deps.ts';
import { ownerSettingsPath } from '../installations/page-paths.ts';
import { type Notice, noticeOf, type TellingEvent } from './notice.ts';

const events = `
  SELECT e.id, e.type, e.received_at AS "receivedAt", a.login AS owner, e.repository, e.pull_request::int8 AS "pullRequest",
    e.metadata
  FROM audit_events e JOIN accounts a ON a.id = e.account_id WHERE e.id = ANY ($1::int8[]) ORDER BY e.id`;

type EventRow = Omit<TellingEvent, 'pullRequest'> & { pullRequest: bigint | null };

/** What people are told of some events, in the order in which they happened. */
export async function loadNotices(
  { sql, config }: Pick<Deps, 'sql' | 'config'>,
  eventIds: bigint[],
): Promise<Notice[]> {
  const rows = await sql.read<EventRow>('notices', events, [eventIds]);
  return rows.flatMap(({ pullRequest, ...row }) => {
    const event = { ...row, pullRequest: pullRequest === null ? null : Number(pullRequest) };
    return noticeOf(event, config.publicUrl) ?? [];
  });
}

/** What a webhook of an owner is told if somebody tests it. @param delivery the message itself: nothing happened. */
export const testNotice = (
  { config }: Pick<Deps, 'config'>,
  owner: string,
  delivery: { id: string; createdAt: Date },
): Notice => ({
  id: `evt_${delivery.id}`,
  type: 'webhook.test',
  at: delivery.createdAt,
  late: false,
  owner,
  repository: null,
  pullRequest: null,
  actor: null,
  url: config.publicUrl + ownerSettingsPath(owner),
  planId: null,
  freeze: null,
  exemption: null,
  details: {},
});
