import { randomUUID } from 'node:crypto';
import type { Tx } from '../../database/database.ts';
import type { Deps } from '../../deps.ts';
import type { Actor } from '../../events/actor.ts';
import type { Account } from '../../generated/prisma/client.ts';
import { columnsOf, saveNewWebhook, type WebhookDeps, type WebhookFields } from '../manage-webhooks.ts';

/**
 * Creates a webhook for a channel of the Slack app, in the place of an earlier one.
 * @param beforeAnswering runs last in the same transaction.
 * @throws Refusal conflict if the owner has as many webhooks as it may.
 */
export async function createChannelWebhook(
  deps: WebhookDeps,
  actor: Actor,
  account: Account,
  { slackTeam, slackChannel, repositories }: SlackChannel & Pick<WebhookFields, 'repositories'>,
  beforeAnswering: (tx: Tx) => Promise<void>,
): Promise<void> {
  const wanted = { repositories, events: null, publicText: false, description: null };
  const columns = {
    ...{ id: randomUUID(), kind: 'slack_channel', slackTeam, slackChannel },
    ...{ sealedUrl: '', shownUrl: `slack channel ${slackChannel}`, ...columnsOf(wanted), sealedSecret: null },
  };
  await saveNewWebhook(deps, actor, account, columns, null, async (tx, { webhook: { id } }) => {
    await tx.outgoingWebhook.deleteMany({
      where: { accountId: account.id, slackTeam, slackChannel, id: { not: id } },
    });
    await beforeAnswering(tx);
  });
}

/** A channel of a workspace, by Slack's ids. */
type SlackChannel = { slackTeam: string; slackChannel: string };

export const webhooksOfChannel = ({ db }: Pick<Deps, 'db'>, channel: SlackChannel) =>
  db.outgoingWebhook.findMany({ where: { ...channel, kind: 'slack_channel' }, include: { account: true } });
