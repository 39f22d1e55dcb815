import { nowOf } from '../time/clock.ts';
import type { OutgoingWebhook } from '../generated/prisma/client.ts';
import { defineTask } from '../database/queue/define-task.ts';
import { jobs } from '../database/queue/jobs.ts';
import type { Effect, Outcome } from '../outside/effect.ts';
import { defineLane } from '../outside/work-lane.ts';
import { giveUpOpen, settleAll, takeDue, type TakenDelivery } from './delivery-store.ts';
import {
  type DeliveryAttempt,
  describeFailure,
  judgeAttempt,
  lost,
  type AttemptVerdict,
} from './judge-attempt.ts';
import { type peopleKind, type WebhookKind, attributesOfWebhook } from './manage-webhooks.ts';
import { loadNotices, type Notice, noticesOf } from './notice.ts';
import { postStandard, postToChat, type Sender, type PostTarget } from './post.ts';
import { AddressRefused } from './public-address.ts';
import { postToChannel, tellPeople } from './slack/tell-slack.ts';
import { openWebhook } from './webhook-secrets.ts';
import { throughPrisma } from '../database/sql.ts';
import { ourselves } from '../events/actor.ts';
import { appendEvent } from '../events/append-event.ts';
import type { Ground } from '../database/ground.ts';

type NoticeKind = WebhookKind | 'slack_channel' | typeof peopleKind;

const senders: Record<NoticeKind, Sender> = {
  standard: postStandard,
  slack: postToChat,
  teams: postToChat,
  discord: postToChat,
  google_chat: postToChat,
  slack_channel: postToChannel,
  slack_people: tellPeople,
};

/** How many deliveries to one webhook are under way at once: at first, and at most. A chat gets one after another. */
const room = { first: 4, most: 32 };
/** Milliseconds for which an address that did not answer is left in peace. */
const rest = 5000;
/** Attempts come in steps of so many milliseconds, so that deliveries that failed together are tried together. */
const laterStep = 250;

type Owned = OutgoingWebhook & { account: { login: string } };

/** A delivery with all that sending it needs. @property notices null if the audit log no longer has what it tells. */
type Message = TakenDelivery & {
  webhook: Owned;
  notices: [Notice, ...Notice[]] | null;
  open: () => PostTarget;
};
type Told = Outcome & { verdict: AttemptVerdict };

/**
 * The messages to a webhook. Nobody can find out whether one arrived: its receiver knows by its id that it came before. A
 * process that dies leaves it due, with its attempt counted.
 */
function messagesTo(deps: Ground, webhookId: string, turn: bigint): Effect<Message, Told> {
  let webhook: Owned | null = null;
  let revision: string | null = null;
  let open: () => PostTarget;
  return {
    room,
    async take(most) {
      const now = deps.clock.now();
      const taken = await takeDue(deps.sql, webhookId, turn, new Date(now), most);
      if (taken && !taken.isEnabled) await giveUpOpen(deps.sql, webhookId);
      if (!taken?.isEnabled) return { items: [], then: null };
      const { deliveries, next } = taken;
      if (deliveries.length === 0)
        return { items: [], then: next && inStep(Math.max(+next, now + laterStep)) };
      // Read after the take: it may have changed since the last one.
      if (revision !== taken.revision) {
        webhook = await findOwned(deps, webhookId);
        revision = taken.revision;
        if (webhook) open = opening(deps, webhook);
      }
      if (!webhook) return { items: [], then: null };
      const about = { webhook, open };
      const tells = await noticesFor(deps, webhook, deliveries);
      return {
        items: deliveries.map((each) => ({ ...each, ...about, notices: tells(each) })),
        then: 'more',
      };
    },
    async act(message) {
      const { notices } = message;
      if (!notices) return { kind: 'refused', verdict: lost };
      const target = message.open();
      const send = senders[target.kind as NoticeKind];
      return judged(deps, message, await send(deps, target, notices, message));
    },
    failureOf: (error, message) =>
      judged(deps, message, {
        status: null,
        error: error instanceof AddressRefused ? error.message : describeFailure(error),
      }),
    async settle(results) {
      await settleAll(
        deps.sql,
        turn,
        results.map(({ item, result }) => ({ delivery: item, verdict: result.verdict })),
      );
      for (const { item, result } of results) report(deps, item, result.verdict);
      const final = results.find(({ result }) => result.verdict.disables);
      if (final) await disableWebhook(deps, final.item.webhook, final.result.verdict.error!);
    },
  };
}

const inStep = (at: number) => new Date(Math.ceil(at / laterStep) * laterStep);

function judged(deps: Ground, message: Message, attempt: DeliveryAttempt): Told {
  const now = deps.clock.now();
  const verdict = judgeAttempt(attempt, message, now);
  const { outcome, pausedUntil, status } = verdict;
  if (outcome === 'delivered') return { kind: 'done', verdict };
  if (outcome === 'failed') return { kind: 'refused', verdict };
  if (pausedUntil) return { kind: 'limited', until: pausedUntil, verdict };
  return { kind: 'down', verdict, ...(status === null && { until: new Date(now + rest) }) };
}

const findOwned = (deps: Ground, id: string): Promise<Owned | null> =>
  deps.db.outgoingWebhook.findUnique({
    where: { id },
    include: { account: { select: { login: true } } },
    relationLoadStrategy: 'join',
  });

/** What each of some deliveries tells; null if the audit log has forgotten it. */
async function noticesFor(deps: Ground, webhook: Owned, deliveries: TakenDelivery[]) {
  const loaded = await loadNotices(
    deps,
    deliveries.flatMap(({ eventIds }) => eventIds),
  );
  return (delivery: TakenDelivery) => noticesOf(deps, webhook.account.login, delivery, loaded);
}

/** Decrypts a webhook once for many deliveries. What it gives throws if it cannot. */
function opening(deps: Ground, webhook: Owned): () => PostTarget {
  let target: PostTarget | null = null;
  return () => (target ??= { ...webhook, ...openWebhook(deps.config, webhook, nowOf(deps.clock)) });
}

/** Counts and logs what became of an attempt. Never the address: that of a chat is a secret. */
function report(deps: Ground, delivery: Message, { outcome, status, error }: AttemptVerdict): void {
  const { id, kind } = delivery.webhook;
  const waited = deps.clock.now() - delivery.createdAt.getTime();
  deps.metrics.countDelivery(outcome, outcome === 'delivered' ? waited : null);
  const about = {
    webhook: id,
    kind,
    delivery: delivery.id,
    type: delivery.type,
    attempts: delivery.attempts,
  };
  if (outcome === 'delivered') deps.log.debug(about, 'notice delivered');
  else deps.log.info({ ...about, status, error }, 'a notice could not be delivered');
}

/** They wait for the network, and hold a few messages each. An owner has 100 webhooks at most, so none waits for another. */
const takers = { takers: 1024, ofOwner: 100 };

export const sendMessagesTask = defineLane(
  jobs.sendMessages,
  (deps, { webhookId }, turn) => messagesTo(deps, webhookId, turn),
  takers,
);

/** Saving an event names the webhooks in one job of its own, so it waits for nobody's lane. */
export const sendNoticesTask = defineTask(jobs.sendNotices, async (deps: Ground, { webhookIds }) => {
  const select = { id: true, accountId: true };
  const found = await deps.db.outgoingWebhook.findMany({ where: { id: { in: webhookIds } }, select });
  await deps.queue.send(found.map(({ id, accountId }) => jobs.sendMessages(accountId, id)));
});

/** Disables a webhook that takes no more messages, once, and tells the others of its owner. @param reason for people. */
async function disableWebhook(deps: Ground, webhook: OutgoingWebhook, reason: string): Promise<void> {
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
