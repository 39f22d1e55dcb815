import { randomUUID } from 'node:crypto';
import { nowOf } from '../time/clock.ts';
import type { Tx } from '../database/database.ts';
import { besideOf, type NewestPage, newestPageOf, rowsBeside } from '../database/newest-first.ts';
import { conflict, notFound } from '../errors.ts';
import type { Account, OutgoingDelivery } from '../generated/prisma/client.ts';
import { jobs } from '../database/queue/jobs.ts';
import { requireWebhook, type WebhookDeps } from './manage-webhooks.ts';
import type { Ground } from '../database/ground.ts';

/**
 * Sends a webhook a message that says nothing but that it arrives.
 * @param beforeAnswering runs last in the same transaction.
 * @throws Refusal not-found; conflict if it is disabled.
 */
export async function testWebhook(
  deps: WebhookDeps & Pick<Ground, 'queue'>,
  account: Account,
  id: string,
  beforeAnswering: (tx: Tx, delivery: OutgoingDelivery) => Promise<void> = async () => {},
): Promise<OutgoingDelivery> {
  const createdAt = nowOf(deps.clock);
  const data = {
    id: randomUUID(),
    webhookId: id,
    type: 'webhook.test',
    createdAt,
    ...waitingFrom(createdAt),
  };
  return sendSoon(deps, account, id, beforeAnswering, (tx) => tx.outgoingDelivery.create({ data }));
}

/**
 * A page of the deliveries to a webhook, newest first.
 * @param cursor opaque, from an earlier page.
 * @throws Refusal not-found; invalid if the cursor is not ours.
 */
export async function listDeliveries(
  { db }: Pick<Ground, 'db'>,
  account: Account,
  webhookId: string,
  { size, cursor }: { size: number; cursor?: string },
): Promise<NewestPage<OutgoingDelivery>> {
  await requireWebhook(db, account, webhookId);
  const beside = besideOf(cursor, 'delivery');
  const asked = rowsBeside(beside, size);
  const where = { webhookId, serial: asked.number };
  const found = await db.outgoingDelivery.findMany({
    where,
    orderBy: { serial: asked.order },
    take: asked.take,
  });
  return newestPageOf(found, size, beside, ({ serial }) => serial);
}

/**
 * Sends a delivery again, as if for the first time. The message has the same id.
 * @param beforeAnswering runs last in the same transaction.
 * @throws Refusal not-found; conflict if it still waits, or if the webhook is disabled.
 */
export async function replayDelivery(
  deps: WebhookDeps & Pick<Ground, 'queue'>,
  account: Account,
  webhookId: string,
  id: string,
  beforeAnswering: (tx: Tx, delivery: OutgoingDelivery) => Promise<void> = async () => {},
): Promise<OutgoingDelivery> {
  return sendSoon(deps, account, webhookId, beforeAnswering, async (tx) => {
    const data = { ...waitingFrom(nowOf(deps.clock)), attempts: 0, groupKey: null };
    const { count } = await tx.outgoingDelivery.updateMany({
      where: { id, webhookId, state: { not: 'waiting' } },
      data,
    });
    const delivery = await tx.outgoingDelivery.findFirst({ where: { id, webhookId } });
    if (!delivery)
      throw notFound(
        `The webhook has no delivery ${id}. GET /v1/webhooks/${account.login}/${webhookId}/deliveries lists those of the last 30 days.`,
      );
    if (count === 0) throw conflict('This delivery still waits: Holdfast sends it by itself.');
    return delivery;
  });
}

const waitingFrom = (now: Date) => ({ state: 'waiting', nextAttemptAt: now });

/** Saves a delivery with the job that sends it. @throws Refusal not-found; conflict if the webhook is disabled. */
const sendSoon = (
  { db, queue }: Pick<Ground, 'db' | 'queue'>,
  account: Account,
  webhookId: string,
  beforeAnswering: (tx: Tx, delivery: OutgoingDelivery) => Promise<void>,
  save: (tx: Tx) => Promise<OutgoingDelivery>,
): Promise<OutgoingDelivery> =>
  db.$transaction(async (tx) => {
    const { isEnabled } = await requireWebhook(tx, account, webhookId);
    if (!isEnabled)
      throw conflict('This webhook is disabled. Enable it first: PATCH it with {"enabled": true}.');
    const delivery = await save(tx);
    await beforeAnswering(tx, delivery);
    await queue.send([jobs.sendNotices(webhookId)], tx);
    return delivery;
  });
