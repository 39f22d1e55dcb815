import { LRUCache } from 'lru-cache';
import { nowOf } from '../time/clock.ts';
import type { Config } from '../config.ts';
import type { Deps } from '../deps.ts';
import type { OutgoingWebhook } from '../generated/prisma/client.ts';
import { defineTask } from '../database/queue/define-task.ts';
import { jobs } from '../database/queue/jobs.ts';
import {
  claimDue,
  type Claimed,
  giveUpOpen,
  nextAttempt,
  pauseWebhook,
  settleAll,
} from './delivery-store.ts';
import { type Attempt, describeFailure, judgeAttempt, lost, type Verdict } from './judge-attempt.ts';
import { type peopleKind, type WebhookKind, attributesOfWebhook } from './manage-webhooks.ts';
import { loadNotices, type Notice, noticesOf } from './notice.ts';
import { postStandard, postToChat, type Sender, type Target } from './post.ts';
import { AddressRefused } from './public-address.ts';
import { postToChannel, tellPeople } from './slack/tell-slack.ts';
import { openWebhook } from './webhook-secrets.ts';
import { throughPrisma } from '../database/sql.ts';
import { ourselves } from '../events/actor.ts';
import { appendEvent } from '../events/append-event.ts';

type Kind = WebhookKind | 'slack_channel' | typeof peopleKind;

const senders: Record<Kind, Sender> = {
  standard: postStandard,
  slack: postToChat,
  teams: postToChat,
  discord: postToChat,
  google_chat: postToChat,
  slack_channel: postToChannel,
  slack_people: tellPeople,
};

/** How many deliveries to one webhook are under way at once: at first, and at most. A chat gets one after another. */
const width = { first: 4, most: 32 };
/** Milliseconds for which an address that did not answer is left in peace. */
const rest = 5000;
/** Milliseconds after which others have their turn. */
const longestTurn = 30_000;
/** Jobs for later come in steps of so many milliseconds, so that deliveries that failed together share one. */
const step = 250;

/**
 * What this process sends now: a job for a webhook that has its turn ends at once, so one that hangs takes one worker. An
 * address that did not answer is left in peace for a while. Each service of this process has its own.
 */
const turnsOf = new WeakMap<Config, Map<string, Turn>>();
type Turn = { again: boolean; restsUntil: number | null };

/** Sends the due deliveries of a webhook, until none is due. */
async function sendTo(deps: Deps, webhookId: string): Promise<void> {
  const turns = turnsOf.get(deps.config) ?? new Map<string, Turn>();
  turnsOf.set(deps.config, turns);
  const before = turns.get(webhookId);
  if (before && before.restsUntil === null) {
    before.again = true;
    return;
  }
  if (before && before.restsUntil! > deps.clock.now())
    return deps.queue.send([jobs.sendNotices(webhookId, new Date(before.restsUntil!))]);
  const turn: Turn = { again: false, restsUntil: null };
  turns.set(webhookId, turn);
  let end: TurnEnd | null = null;
  try {
    end = await takeTurn(deps, webhookId, turn);
  } finally {
    if (end === 'silent') turn.restsUntil = deps.clock.now() + rest;
    else turns.delete(webhookId);
  }
  const now = deps.clock.now();
  const isMore = turn.again || end === 'more';
  const next = isMore ? now : (await nextAttempt(deps.sql, webhookId, new Date(now)))?.getTime();
  if (next === undefined) return;
  // What is due although the turn is over is claimed or locked by others.
  const at = Math.max(next, turn.restsUntil ?? (isMore ? now : now + step));
  await deps.queue.send([jobs.sendNotices(webhookId, new Date(Math.ceil(at / step) * step))]);
}

/** How a turn ends: nothing more is due, others have their turn, or the address did not answer. */
type TurnEnd = 'idle' | 'more' | 'silent';

async function takeTurn(deps: Deps, webhookId: string, turn: Turn): Promise<TurnEnd> {
  const ends = performance.now() + longestTurn;
  let most = width.first;
  let webhook: Owned | null = null;
  let revision: string | null = null;
  while (!deps.stopping.aborted && performance.now() < ends) {
    turn.again = false;
    const claim = await claimDue(deps.sql, webhookId, nowOf(deps.clock), most);
    if (claim && !claim.isEnabled) await giveUpOpen(deps.sql, webhookId);
    if (!claim || claim.claimed.length === 0) {
      if (turn.again) continue;
      return 'idle';
    }
    // Read after the claim: it may have changed since the last one.
    if (revision !== claim.revision) webhook = await findOwned(deps, webhookId);
    if (!webhook) return 'idle';
    revision = claim.revision;
    const verdicts = await sendAll(deps, webhook, claim.claimed);
    if (verdicts.some(({ outcome, status }) => outcome === 'retried' && status === null)) return 'silent';
    const isWell = verdicts.every(({ outcome }) => outcome === 'delivered');
    most = isWell ? Math.min(width.most, most * 2) : width.first;
  }
  return 'more';
}

type Owned = OutgoingWebhook & { account: { login: string } };

const findOwned = (deps: Deps, id: string): Promise<Owned | null> =>
  deps.db.outgoingWebhook.findUnique({
    where: { id },
    include: { account: { select: { login: true } } },
    relationLoadStrategy: 'join',
  });

/** Sends what was claimed, all at once, and saves what became of it. */
async function sendAll(deps: Deps, webhook: Owned, claimed: Claimed[]): Promise<Verdict[]> {
  const events = claimed.flatMap(({ eventIds }) => eventIds);
  const notices = await loadNotices(deps, events);
  const open = opening(deps, webhook);
  const judged = await Promise.all(
    claimed.map(async (delivery) => {
      const its = noticesOf(deps, webhook.account.login, delivery, notices);
      if (!its) return { delivery, verdict: lost };
      const attempt = await tryOnce(deps, open, its, delivery);
      return { delivery, verdict: judgeAttempt(attempt, delivery, deps.clock.now()) };
    }),
  );
  await settleAll(deps.sql, judged);
  for (const { delivery, verdict } of judged) report(deps, webhook, delivery, verdict);
  const verdicts = judged.map(({ verdict }) => verdict);
  const pauses = verdicts.flatMap(({ pausedUntil }) => pausedUntil ?? []);
  if (pauses.length > 0) await pauseWebhook(deps.sql, webhook.id, new Date(Math.max(...pauses.map(Number))));
  const final = verdicts.find(({ disables }) => disables);
  if (final) await disableWebhook(deps, webhook, final.error!);
  return verdicts;
}

/** Decrypts a webhook once for many deliveries. What it gives throws if it cannot. */
function opening(deps: Deps, webhook: Owned): () => Target {
  let target: Target | null = null;
  return () => (target ??= { ...webhook, ...openWebhook(deps.config, webhook, nowOf(deps.clock)) });
}

async function tryOnce(
  deps: Deps,
  open: () => Target,
  notices: [Notice, ...Notice[]],
  delivery: Claimed,
): Promise<Attempt> {
  try {
    const target = open();
    return await senders[target.kind as Kind](deps, target, notices, delivery);
  } catch (error) {
    return { status: null, error: error instanceof AddressRefused ? error.message : describeFailure(error) };
  }
}

/** Counts and logs what became of an attempt. Never the address: that of a chat is a secret. */
function report(
  deps: Deps,
  { id, kind }: Owned,
  delivery: Claimed,
  { outcome, status, error }: Verdict,
): void {
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

/** How many takers the webhooks of one owner keep. What is more joins the work of one of them. */
const mostTakers = 4;

/** What this process sends for an owner. @property joined work of other jobs that one of the takers waits for. */
type Work = { takers: number; joined: Promise<PromiseSettledResult<void>[]>[] };
const worksOf = new WeakMap<Config, Map<bigint, Work>>();

/** The owner of each webhook that this process sent to. It never changes. */
const ownersOf = new WeakMap<Config, LRUCache<string, bigint>>();

/** The owners of some webhooks, and which are theirs. Those that are deleted are nobody's. */
async function byOwner({ config, db }: Deps, webhookIds: string[]): Promise<Map<bigint, string[]>> {
  const known = ownersOf.get(config) ?? new LRUCache<string, bigint>({ max: 10_000 });
  ownersOf.set(config, known);
  const unknown = webhookIds.filter((id) => !known.has(id));
  if (unknown.length > 0) {
    const select = { id: true, accountId: true };
    const found = await db.outgoingWebhook.findMany({ where: { id: { in: unknown } }, select });
    for (const { id, accountId } of found) known.set(id, accountId);
  }
  const owned = webhookIds.flatMap((id) => (known.has(id) ? { id, owner: known.get(id)! } : []));
  return new Map(
    [...Map.groupBy(owned, ({ owner }) => owner)].map(([owner, all]) => [owner, all.map(({ id }) => id)]),
  );
}

/**
 * Sends what is due to webhooks of an owner. If they keep their share of the takers already, one of those waits for this
 * too: addresses that do not answer cost other owners no taker.
 */
async function sendToOwner(deps: Deps, owner: bigint, webhookIds: string[]): Promise<void> {
  const works = worksOf.get(deps.config) ?? new Map<bigint, Work>();
  worksOf.set(deps.config, works);
  const work = works.get(owner) ?? { takers: 0, joined: [] };
  works.set(owner, work);
  work.joined.push(Promise.allSettled(webhookIds.map((id) => sendTo(deps, id))));
  if (work.takers === mostTakers) return;
  work.takers++;
  const ends = performance.now() + longestTurn;
  const results: PromiseSettledResult<void>[] = [];
  while (work.joined.length > 0 && performance.now() < ends) results.push(...(await work.joined.shift()!));
  if (--work.takers === 0) works.delete(owner);
  const failed = results.find(({ status }) => status === 'rejected') as PromiseRejectedResult | undefined;
  if (failed) throw failed.reason;
}

export const sendNoticesTask = defineTask(
  jobs.sendNotices,
  async (deps, { webhookIds }) => {
    const owners = await byOwner(deps, webhookIds);
    await Promise.all([...owners].map(([owner, ids]) => sendToOwner(deps, owner, ids)));
  },
  // They wait for the network, and hold a few messages each.
  { takers: 256 },
);

/** Disables a webhook that takes no more messages, once, and tells the others of its owner. @param reason for people. */
async function disableWebhook(deps: Deps, webhook: OutgoingWebhook, reason: string): Promise<void> {
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
