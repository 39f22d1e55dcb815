import { randomUUID } from 'node:crypto';
import { nowOf } from '../time/clock.ts';
import { nameExpression } from '../conditions/patterns/compile-name-glob.ts';
import type { Tx } from '../database/database.ts';
import { throughPrisma } from '../database/sql.ts';
import { conflict, invalid, notFound } from '../errors.ts';
import type { Actor } from '../events/actor.ts';
import { appendEvent } from '../events/append-event.ts';
import type { NoticeType } from '../events/notice-type.ts';
import type { Account, OutgoingWebhook } from '../generated/prisma/client.ts';
import { lockAccount } from '../installations/find-account.ts';
import { giveUpOpen } from './delivery-store.ts';
import { AddressRefused, checkReachable } from './public-address.ts';
import { newSecret, sealOf } from './webhook-secrets.ts';
import type { Ground } from '../database/ground.ts';
import { hour } from '../time/units.ts';

/** The kinds that people create. */
export const webhookKinds = ['standard', 'slack', 'teams', 'discord', 'google_chat'] as const;
export type WebhookKind = (typeof webhookKinds)[number];

/** Tells people of Slack about their own pull requests. Nobody creates or sees it. */
export const peopleKind = 'slack_people';

/** What people set. Null: all repositories, or all types. */
type WebhookFields = {
  url: string;
  repositories: string[] | null;
  events: NoticeType[] | null;
  publicText: boolean;
  description: string | null;
  enabled: boolean;
};

/** A webhook, and its secret if this made one. */
export type SavedWebhook = { webhook: OutgoingWebhook; secret: string | null };

export type WebhookDeps = Pick<Ground, 'db' | 'clock' | 'config' | 'log'>;

/** The most webhooks of an owner: each event is compared with all. */
const mostWebhooks = 100;
/** How long a secret that was rotated still signs. */
const bothSign = 24 * hour;

/** The webhooks of an owner, the oldest first. */
export const listWebhooks = ({ db }: Pick<Ground, 'db'>, accountId: bigint): Promise<OutgoingWebhook[]> =>
  db.outgoingWebhook.findMany({
    where: { accountId, kind: { not: peopleKind } },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  });

/** Those that Holdfast disabled, of some owners, the oldest first. */
export const disabledWebhooks = async (db: Tx, accountIds: bigint[]): Promise<OutgoingWebhook[]> =>
  accountIds.length === 0
    ? []
    : db.outgoingWebhook.findMany({
        where: { accountId: { in: accountIds }, isEnabled: false, disabledWhy: { not: null } },
        orderBy: { createdAt: 'asc' },
      });

/** @throws Refusal not-found if the owner has no such webhook. */
export async function requireWebhook(db: Tx, account: Account, id: string): Promise<OutgoingWebhook> {
  const where = { id, accountId: account.id, kind: { not: peopleKind } };
  const webhook = await db.outgoingWebhook.findFirst({ where });
  if (webhook) return webhook;
  throw notFound(`${account.login} has no webhook ${id}. GET /v1/webhooks/${account.login} lists them.`);
}

/**
 * Creates a webhook of an owner. It is told what happens from now on.
 * @param beforeAnswering runs last in the same transaction.
 * @throws Refusal invalid if the address is not public; conflict if the owner has as many webhooks as it may, or if there
 *   is no SECRET_KEY.
 */
export async function createWebhook(
  deps: WebhookDeps,
  actor: Actor,
  account: Account,
  { kind, url, ...wanted }: Omit<WebhookFields, 'enabled'> & { kind: WebhookKind },
  beforeAnswering: (tx: Tx, saved: SavedWebhook) => Promise<void> = async () => {},
): Promise<SavedWebhook> {
  const id = randomUUID();
  const secret = kind === 'standard' ? newSecret() : null;
  const address = await addressColumns(deps, { id, kind }, url);
  const sealedSecret = secret && sealOf(deps.config, id, 'secret', secret);
  const columns = { id, kind, ...address, ...columnsOf(wanted), sealedSecret };
  const webhook = await saveNew(deps, actor, account, columns, (tx, saved) =>
    beforeAnswering(tx, { webhook: saved, secret }),
  );
  return { webhook, secret };
}

/** A channel of a workspace, by Slack's ids. */
type SlackChannel = { slackTeam: string; slackChannel: string };

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
  const columns = {
    ...{ id: randomUUID(), kind: 'slack_channel', slackTeam, slackChannel },
    ...{
      sealedUrl: '',
      shownUrl: `slack channel ${slackChannel}`,
      ...columnsOf({ repositories, events: null }),
    },
  };
  await saveNew(deps, actor, account, columns, async (tx, { id }) => {
    await tx.outgoingWebhook.deleteMany({
      where: { accountId: account.id, slackTeam, slackChannel, id: { not: id } },
    });
    await beforeAnswering(tx);
  });
}

export const webhooksOfChannel = ({ db }: Pick<Ground, 'db'>, channel: SlackChannel) =>
  db.outgoingWebhook.findMany({ where: { ...channel, kind: 'slack_channel' } });

/** Saves a new webhook, as long as the owner has room for it. @param columns what it has of its own. */
async function saveNew(
  deps: WebhookDeps,
  actor: Actor,
  account: Account,
  columns: Pick<OutgoingWebhook, 'id' | 'kind' | 'sealedUrl' | 'shownUrl'> & Partial<OutgoingWebhook>,
  beforeAnswering: (tx: Tx, webhook: OutgoingWebhook) => Promise<void>,
): Promise<OutgoingWebhook> {
  const { id, kind } = columns;
  const data = { ...columns, accountId: account.id, createdAt: nowOf(deps.clock), createdBy: actor };
  const saved = await deps.db.$transaction(async (tx) => {
    await lockAccount(tx, account.id);
    const others = { accountId: account.id, kind: { not: peopleKind } };
    if ((await tx.outgoingWebhook.count({ where: others })) >= mostWebhooks)
      throw conflict(
        `${account.login} has ${mostWebhooks} webhooks, the most there can be. Delete one first: GET /v1/webhooks/${account.login} lists them.`,
      );
    const webhook = await tx.outgoingWebhook.create({ data });
    await append(deps, tx, actor, 'webhook.create', webhook);
    await beforeAnswering(tx, webhook);
    return webhook;
  });
  deps.log.info({ account: account.login, webhook: id, kind, by: actor.name }, 'outgoing webhook created');
  return saved;
}

/**
 * Changes a webhook. `undefined` keeps a field. One that is disabled is told nothing, also nothing that waits.
 * @throws Refusal not-found; invalid like `createWebhook`.
 */
export async function updateWebhook(
  deps: WebhookDeps,
  actor: Actor,
  account: Account,
  id: string,
  { url, enabled, ...change }: Partial<WebhookFields>,
): Promise<OutgoingWebhook> {
  const found = await requireWebhook(deps.db, account, id);
  // Clients send back what they were shown.
  const isMoved = url !== undefined && url !== found.shownUrl;
  if (isMoved && found.kind === 'slack_channel')
    throw conflict('The Slack app made this webhook, and it has no address. Create another webhook.');
  const address = isMoved ? await addressColumns(deps, found, url) : {};
  return deps.db.$transaction(async (tx) => {
    const before = await lockWebhook(tx, account, id);
    const toggled =
      enabled === undefined || enabled === before.isEnabled ? {} : toggledBy(enabled, nowOf(deps.clock));
    const data = { ...address, ...columnsOf(change), ...toggled };
    const webhook = await tx.outgoingWebhook.update({ where: { id }, data });
    if (enabled === false) await giveUpOpen(throughPrisma(tx), id);
    const [one, other] = [attributesOfWebhook(before), attributesOfWebhook(webhook)];
    if (!isMoved && JSON.stringify(one) === JSON.stringify(other)) return webhook;
    const metadata = { webhook_id: id, webhook_attributes_before: one, webhook_attributes_after: other };
    const event = { type: 'webhook.update', metadata } as const;
    await appendEvent(tx, { accountId: account.id }, event, actor, nowOf(deps.clock));
    deps.log.info({ account: account.login, webhook: id, by: actor.name }, 'outgoing webhook changed');
    return webhook;
  });
}

const toggledBy = (isEnabled: boolean, now: Date) => ({
  isEnabled,
  disabledWhy: null,
  disabledAt: isEnabled ? null : now,
});

/** @throws Refusal not-found. */
export async function deleteWebhook(
  deps: WebhookDeps,
  actor: Actor,
  account: Account,
  id: string,
): Promise<void> {
  await deps.db.$transaction(async (tx) => {
    const webhook = await lockWebhook(tx, account, id);
    await tx.outgoingWebhook.delete({ where: { id } });
    await append(deps, tx, actor, 'webhook.delete', webhook);
  });
  deps.log.info({ account: account.login, webhook: id, by: actor.name }, 'outgoing webhook deleted');
}

/**
 * Gives a webhook another secret. Both sign for 24 hours.
 * @param beforeAnswering runs last in the same transaction.
 * @throws Refusal not-found; conflict for a chat.
 */
export async function rotateSecret(
  deps: WebhookDeps,
  actor: Actor,
  account: Account,
  id: string,
  beforeAnswering: (tx: Tx, saved: SavedWebhook) => Promise<void> = async () => {},
): Promise<SavedWebhook> {
  const now = nowOf(deps.clock);
  const secret = newSecret();
  return deps.db.$transaction(async (tx) => {
    const { kind, sealedSecret } = await lockWebhook(tx, account, id);
    if (kind !== 'standard')
      throw conflict(
        `A webhook of the kind ${kind} has no secret. Only those of the kind standard are signed.`,
      );
    const data = {
      sealedSecret: sealOf(deps.config, id, 'secret', secret),
      sealedPreviousSecret: sealedSecret,
      previousSecretUntil: new Date(now.getTime() + bothSign),
    };
    const webhook = await tx.outgoingWebhook.update({ where: { id }, data });
    await append(deps, tx, actor, 'webhook.rotate_secret', webhook);
    await beforeAnswering(tx, { webhook, secret });
    return { webhook, secret };
  });
}

/** Changes of the webhooks of an owner come one after another. @throws Refusal not-found. */
async function lockWebhook(tx: Tx, account: Account, id: string): Promise<OutgoingWebhook> {
  await lockAccount(tx, account.id);
  return requireWebhook(tx, account, id);
}

const append = (
  { clock }: WebhookDeps,
  tx: Tx,
  actor: Actor,
  type: 'webhook.create' | 'webhook.delete' | 'webhook.rotate_secret',
  webhook: OutgoingWebhook,
) => {
  const metadata = { webhook_id: webhook.id, webhook_attributes: attributesOfWebhook(webhook) };
  return appendEvent(tx, { accountId: webhook.accountId }, { type, metadata }, actor, nowOf(clock));
};

/** A webhook for clients and the audit log, without its id and its secrets. */
export const attributesOfWebhook = (webhook: OutgoingWebhook) => ({
  url: webhook.shownUrl,
  kind: webhook.kind,
  repositories: nullIfEmpty(webhook.repositories),
  events: nullIfEmpty(webhook.events),
  public_text: webhook.publicText,
  description: webhook.description,
  enabled: webhook.isEnabled,
});

const nullIfEmpty = (list: string[]): string[] | null => (list.length === 0 ? null : list);

/** The columns of what people set. What is undefined stays. */
const columnsOf = (fields: Partial<Omit<WebhookFields, 'url' | 'enabled'>>) => ({
  ...(fields.repositories !== undefined && {
    repositories: fields.repositories ?? [],
    repositoryPattern: fields.repositories && nameExpression(fields.repositories),
  }),
  ...(fields.events !== undefined && { events: fields.events ?? [] }),
  publicText: fields.publicText,
  description: fields.description,
});

/** @throws Refusal invalid if Holdfast does not connect to the address. */
async function addressColumns(
  { config }: Pick<Ground, 'config'>,
  { id, kind }: Pick<OutgoingWebhook, 'id' | 'kind'>,
  text: string,
) {
  try {
    const { href, host } = await checkReachable(text, config.webhookAllowedHosts);
    // The address of a chat is all that it takes to write there.
    const shownUrl = kind === 'standard' ? href : `${host}/…${href.slice(-4)}`;
    return { sealedUrl: sealOf(config, id, 'url', href), shownUrl };
  } catch (error) {
    if (!(error instanceof AddressRefused)) throw error;
    throw invalid([{ path: ['body', 'url'], message: error.message, type: 'value_error' }]);
  }
}
