import { randomUUID } from 'node:crypto';
import { jobs } from '../database/queue/jobs.ts';
import { conflict } from '../errors.ts';
import type { Actor } from '../events/actor.ts';
import { noticeTypeOf } from '../events/notice-type.ts';
import type { AuditEvent } from '../events/audit-event.ts';
import type { Account, OutgoingWebhook } from '../generated/prisma/client.ts';
import { lockAccount } from '../installations/find-account.ts';
import { nowOf } from '../time/clock.ts';
import { requireWebhook } from './manage-webhooks.ts';
import { messageOfNotice } from './message.ts';
import { loadNotices } from './notice.ts';
import type { Ground } from '../database/ground.ts';

/** What people are told of: all freezes of a plan, or one freeze. */
export type Told = { plan: string } | { freeze: string };

/** The most freezes that one message tells. */
const mostEvents = 500;

/** The events that made the freezes, the oldest first; none if the owner has no such plan or freeze. */
const eventsOf = ({ db }: Pick<Ground, 'db'>, { id }: Account, told: Told) =>
  db.auditEvent.findMany({
    where: {
      accountId: id,
      type: 'scheduled_freeze.create',
      metadata:
        'plan' in told
          ? { path: ['freeze_plan_id'], equals: told.plan }
          : { path: ['scheduled_freeze_id'], equals: told.freeze },
    },
    orderBy: { id: 'asc' },
    take: mostEvents,
  });

/**
 * What to tell people of freezes, as a text without private reasons; null if the log has forgotten them.
 * @param notes sentences to add.
 */
export async function announcementOf(
  deps: Ground,
  account: Account,
  told: Told,
  notes: string[],
): Promise<string | null> {
  const events = await eventsOf(deps, account, told);
  const [first, ...others] = await loadNotices(
    deps,
    events.map(({ id }) => id),
  );
  if (!first) return null;
  const { headline, lines, links } = messageOfNotice([first, ...others], { publicText: true });
  return [headline, ...lines, ...notes, links[0].url].join('\n');
}

/** The chats of an owner, the oldest first. */
export const chatsOf = (
  { db }: Pick<Ground, 'db'>,
  { id }: Pick<Account, 'id'>,
): Promise<OutgoingWebhook[]> =>
  db.outgoingWebhook.findMany({
    where: { accountId: id, isEnabled: true, kind: { notIn: ['standard', 'slack_people'] } },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  });

/**
 * Posts to a chat that freezes were made, though it may not be told of such by itself. It is told once. Whoever did it stands
 * in our log: no event of the audit log is for that.
 * @throws Refusal not-found; conflict if it is no chat, if it was told already, or if the log has forgotten the freezes.
 */
export async function announce(
  deps: Ground,
  actor: Actor,
  account: Account,
  webhookId: string,
  told: Told,
): Promise<void> {
  const now = nowOf(deps.clock);
  const events = await eventsOf(deps, account, told);
  const [first] = events;
  if (!first) throw conflict('The audit log has no such freeze any more.');
  const ids = events.map(({ id }) => id);
  const { kind, isEnabled } = await requireWebhook(deps.db, account, webhookId);
  if (kind === 'standard' || !isEnabled) throw conflict('This webhook is no chat that is told of freezes.');
  await deps.db.$transaction(async (tx) => {
    // Two people may press the button at once.
    await lockAccount(tx, account.id);
    const isTold = await tx.outgoingDelivery.count({ where: { webhookId, eventIds: { hasSome: ids } } });
    if (isTold > 0) throw conflict('This chat was told of it already.');
    const event = { type: first.type, metadata: first.metadata } as AuditEvent;
    await tx.outgoingDelivery.create({
      data: {
        ...{
          id: randomUUID(),
          webhookId,
          eventIds: ids,
          createdAt: now,
          state: 'waiting',
          nextAttemptAt: now,
        },
        type: noticeTypeOf(event, first.receivedAt) ?? 'freeze.started',
        subject: 'plan' in told ? told.plan : told.freeze,
      },
    });
    await deps.queue.send([jobs.sendNotices(webhookId)], tx);
  });
  deps.log.info(
    { account: account.login, webhook: webhookId, ...told, by: actor.name },
    'posted to a chat by hand',
  );
}
