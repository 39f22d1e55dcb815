import { nowOf } from '../../time/clock.ts';
import type { Deps } from '../../deps.ts';
import { jobs } from '../../database/queue/jobs.ts';
import type { Sender } from '../post.ts';

// Authors of blocked pull requests hear of freezes by direct messages. Each owner with people who linked their accounts
// has one webhook of its own for that, which nobody sees: so the change that begins a freeze saves what to tell, like
// for every other receiver, and waits for nothing.

/** Milliseconds in which the pull requests of a freeze are usually looked at. */
const untilLookedAt = 5_000;

/** Whom to tell is known when the pull requests were looked at: that is a job of its own. */
export const tellPeople: Sender = async (deps, _target, _notices, { id, eventIds }) => {
  await deps.queue.send([jobs.tellAuthors(id, eventIds, new Date(deps.clock.now() + untilLookedAt))]);
  return { status: 200 };
};

/** Gives each owner whose people want messages its webhook. Called by the sweep, and when somebody links an account. */
export async function hearForPeople({
  db,
  config,
  clock,
}: Pick<Deps, 'db' | 'config' | 'clock'>): Promise<void> {
  const everybody = config.slack.app !== null;
  await db.$executeRaw`
    INSERT INTO outgoing_webhooks (id, account_id, kind, sealed_url, shown_url, repositories, events, created_at, created_by)
    SELECT gen_random_uuid(), a.id, 'slack_people', '', 'direct messages in Slack', '{}',
      '{freeze.started,freeze.ended,freeze.deleted}', ${nowOf(clock)}, '{"type": "application", "id": "", "name": "Holdfast"}'
    FROM accounts a
    WHERE EXISTS (SELECT FROM installations i WHERE i.account_id = a.id AND i.deleted_at IS NULL)
      AND EXISTS (
        SELECT FROM slack_links l LEFT JOIN slack_apps s ON s.id::text = l.app
        WHERE l.wants_messages AND (s.account_id = a.id OR (l.app = 'environment' AND ${everybody})))
    ON CONFLICT DO NOTHING`;
}
