import { nowOf } from '../clock.ts';
import { throughPrisma } from '../database/sql.ts';
import type { Deps } from '../deps.ts';
import { ourselves } from '../events/actor.ts';
import { appendEvent } from '../events/append-event.ts';
import type { OutgoingWebhook } from '../generated/prisma/client.ts';
import { giveUpOpen } from './delivery-store.ts';
import { attributesOfWebhook } from './manage-webhooks.ts';

/** Disables a webhook that takes no more messages, once, and tells the others of its owner. @param reason for people. */
export async function disableWebhook(deps: Deps, webhook: OutgoingWebhook, reason: string): Promise<void> {
  const { id, accountId, kind } = webhook;
  const now = nowOf(deps.clock);
  const isDisabled = await deps.db.$transaction(async (tx) => {
    const { count } = await tx.outgoingWebhook.updateMany({
      where: { id, isEnabled: true },
      data: { isEnabled: false, disabledWhy: reason, disabledAt: now },
    });
    if (count === 0) return false;
    await giveUpOpen(throughPrisma(tx), id);
    const metadata = {
      webhook_id: id,
      webhook_attributes: attributesOfWebhook({ ...webhook, isEnabled: false }),
      reason,
    };
    await appendEvent(tx, { accountId }, { type: 'webhook.disabled', metadata }, ourselves, now);
    return true;
  });
  if (isDisabled) deps.log.warn({ webhook: id, kind, reason }, 'an outgoing webhook is disabled');
}
