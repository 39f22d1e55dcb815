import { z } from '@hono/zod-openapi';
import { nearNames } from '../../conditions/suggest-names.ts';
import { noticeTypes } from '../../events/notice-type.ts';
import type { OutgoingDelivery, OutgoingWebhook } from '../../generated/prisma/client.ts';
import { listDeliveries, replayDelivery, testWebhook } from '../../notices/manage-deliveries.ts';
import {
  attributesOfWebhook,
  createWebhook,
  deleteWebhook,
  listWebhooks,
  requireWebhook,
  rotateSecret,
  type SavedWebhook,
  updateWebhook,
  webhookKinds,
} from '../../notices/manage-webhooks.ts';
import { fieldsOfSchema, pageAnswer, pagingHeaders, pagesAreLinked, pagingQuery } from '../answers.ts';
import { deletionOf, endpoint, ofOwner } from '../endpoint.ts';
import { globs, owner, textSchema, uuid, who } from '../fields.ts';
import { cutText } from '../../cut-text.ts';

const event = z.enum(noticeTypes, {
  error({ input }) {
    const word = cutText(String(input), 100);
    const near = nearNames(word, noticeTypes).slice(0, 3);
    const advice =
      near.length > 0 ? `Did you mean ${near.join(' or ')}?` : `The types are ${noticeTypes.join(', ')}.`;
    return `\`${word}\` is no type of event. ${advice}`;
  },
});

const webhookFields = {
  url: textSchema(2000, 'An address').min(1, 'An address has at least 1 character.').openapi({
    description:
      'Where Holdfast sends. `https` and public, unless WEBHOOK_ALLOWED_HOSTS has the host. The address of a chat is a secret: answers have its host and its last four characters',
  }),
  repositories: globs(
    "Globs (`*`, `?`, `[abc]`, `{a,b}`) over the names of the owner's repositories, in any case of letters; null: all",
    'all',
  ),
  events: z
    .array(event)
    .min(1, 'Name at least one, or send null for all.')
    .nullish()
    .openapi({ description: 'The types of events that it is told; null: all' }),
  public_text: z.boolean().nullish().openapi({
    description:
      'Whether public reasons replace reasons, and reasons of deletions and decisions are left out. false by default',
  }),
  description: textSchema(255, 'A description').nullish(),
};

export const newWebhook = z.object({ kind: z.enum(webhookKinds), ...webhookFields }).openapi('NewWebhook');

/** What a request asks for. */
export const readNewWebhook = (body: z.output<typeof newWebhook>): Parameters<typeof createWebhook>[3] => ({
  kind: body.kind,
  url: body.url,
  repositories: body.repositories ?? null,
  events: body.events ?? null,
  publicText: body.public_text ?? false,
  description: body.description ?? null,
});

export const webhookChange = z
  .object({ ...webhookFields, url: webhookFields.url.optional(), enabled: z.boolean().optional() })
  .openapi('WebhookChange');

const textOrNull = z.string().nullable();

const webhookSchema = z
  .object({
    id: z.uuid(),
    url: z.string(),
    kind: z
      .enum([...webhookKinds, 'slack_channel'])
      .openapi({ description: '`slack_channel`: `/holdfast subscribe` in Slack made it' }),
    repositories: z.array(z.string()).nullable(),
    events: z.array(z.enum(noticeTypes)).nullable(),
    public_text: z.boolean(),
    description: textOrNull,
    enabled: z.boolean(),
    disabled_reason: textOrNull.openapi({ description: 'Why Holdfast disabled it. null if it did not' }),
    created_by: who,
    created_at: z.iso.datetime(),
  })
  .openapi('Webhook');

const withSecret = webhookSchema
  .extend({
    secret: z
      .string()
      .optional()
      .openapi({ description: 'Signs the messages. Only of the kind `standard`, and only in this answer' }),
  })
  .openapi('WebhookWithSecret');

const deliverySchema = z
  .object({
    id: z.uuid(),
    type: z.enum([...noticeTypes, 'webhook.test']),
    state: z.enum(['waiting', 'delivered', 'failed']),
    attempts: z.number().int(),
    status: z.number().int().nullable().openapi({ description: 'The last status of HTTP' }),
    last_attempt_at: z.iso.datetime().nullable(),
    next_attempt_at: z.iso.datetime().nullable(),
    error: textOrNull.openapi({ description: 'Why the last attempt failed' }),
  })
  .openapi('WebhookDelivery');

const exampleWebhook = {
  kind: 'standard',
  url: 'https://ops.example/holdfast',
  repositories: ['web', 'api-*'],
  events: ['freeze.started', 'freeze.ended'],
};
const exampleAnswer = {
  ...{ id: '6f1c2f0a-5c1b-4a52-9d0e-0c8a1c1d2e3f', url: exampleWebhook.url },
  ...exampleWebhook,
  public_text: false,
  description: null,
  enabled: true,
  disabled_reason: null,
  created_by: { type: 'user', id: 1, name: 'ada' },
  created_at: '2026-03-01T09:00:00.000Z',
};
const exampleDelivery = {
  id: '0b9d1e5e-7a3f-4f0e-9f49-2f2f9a2b8c11',
  type: 'freeze.started',
  state: 'waiting',
  attempts: 1,
  status: 503,
  last_attempt_at: '2026-03-01T09:00:00.000Z',
  next_attempt_at: '2026-03-01T09:00:05.000Z',
  error: 'It answered 503.',
};

const presentWebhook = (webhook: OutgoingWebhook) => ({
  id: webhook.id,
  ...attributesOfWebhook(webhook),
  disabled_reason: webhook.disabledWhy,
  created_by: webhook.createdBy,
  created_at: webhook.createdAt.toISOString(),
});

const presentSaved = ({ webhook, secret }: SavedWebhook) => ({
  ...presentWebhook(webhook),
  ...(secret !== null && { secret }),
});

const answerWithSecret = {
  schema: withSecret,
  example: { ...exampleAnswer, secret: 'whsec_…' },
  hasSecret: true,
} as const;

const presentDelivery = (delivery: OutgoingDelivery) => fieldsOfSchema(deliverySchema, delivery);
const webhooksOf = ofOwner('Webhooks', '/webhooks/{owner}');
const ofWebhook = {
  ...webhooksOf,
  path: '/webhooks/{owner}/{webhook_id}',
  params: z.object({ owner, webhook_id: uuid('webhook_id') }),
} as const;

export const listWebhooksEndpoint = endpoint({
  ...webhooksOf,
  method: 'get',
  summary: "List an owner's outgoing webhooks, the oldest first",
  success: {
    status: 200,
    description: 'Every webhook, without secrets',
    schema: z.object({ webhooks: z.array(webhookSchema) }).openapi('Webhooks'),
    example: { webhooks: [exampleAnswer] },
  },
  handle: async ({ deps, account }) => ({
    webhooks: (await listWebhooks(deps, account.id)).map(presentWebhook),
  }),
});

export const createWebhookEndpoint = endpoint({
  ...webhooksOf,
  method: 'post',
  summary: 'Create an outgoing webhook',
  description:
    'Tells an address what happens to freezes: one that verifies Standard Webhooks, or the incoming webhook of a chat.',
  body: { schema: newWebhook, example: exampleWebhook },
  success: {
    status: 201,
    description: 'The new webhook, and its secret if it is of the kind `standard`',
    ...answerWithSecret,
  },
  handle: ({ deps, actor, account, body, remember }) =>
    createWebhook(deps, actor, account, readNewWebhook(body), remember),
  present: presentSaved,
});

export const updateWebhookEndpoint = endpoint({
  ...ofWebhook,
  method: 'patch',
  summary: 'Change, disable or enable a webhook',
  description: 'Fields that are absent stay. What waits for a webhook that you disable is not sent.',
  body: { schema: webhookChange, example: { events: null, enabled: true } },
  success: { status: 200, description: 'The changed webhook', schema: webhookSchema, example: exampleAnswer },
  exists: ({ deps, account, path }) => requireWebhook(deps.db, account, path.webhook_id),
  async handle({ deps, actor, account, path, body }) {
    const { public_text: publicText, ...others } = body;
    const change = { ...others, publicText: publicText ?? undefined };
    return updateWebhook(deps, actor, account, path.webhook_id, change);
  },
  present: presentWebhook,
});

export const deleteWebhookEndpoint = deletionOf({
  ...webhooksOf,
  id: 'webhook_id',
  summary: 'Delete a webhook and its deliveries',
  remove: deleteWebhook,
});

export const rotateSecretEndpoint = endpoint({
  ...ofWebhook,
  method: 'post',
  path: `${ofWebhook.path}/rotate_secret`,
  summary: 'Give a webhook another secret',
  description: 'Both secrets sign for 24 hours. Only for the kind `standard`.',
  success: {
    status: 200,
    description: 'The webhook and its new secret',
    ...answerWithSecret,
  },
  handle: ({ deps, actor, account, path, remember }) =>
    rotateSecret(deps, actor, account, path.webhook_id, remember),
  present: presentSaved,
});

export const testWebhookEndpoint = endpoint({
  ...ofWebhook,
  method: 'post',
  path: `${ofWebhook.path}/test`,
  summary: 'Send a test message',
  success: {
    status: 202,
    description: 'The delivery, of the type `webhook.test`',
    schema: deliverySchema,
    example: { ...exampleDelivery, type: 'webhook.test' },
  },
  handle: ({ deps, account, path, remember }) => testWebhook(deps, account, path.webhook_id, remember),
  present: presentDelivery,
});

export const listDeliveriesEndpoint = endpoint({
  ...ofWebhook,
  method: 'get',
  path: `${ofWebhook.path}/deliveries`,
  summary: "List a webhook's deliveries of the last 30 days, newest first",
  description: pagesAreLinked,
  query: z.object(pagingQuery(30)),
  success: {
    status: 200,
    description: 'A page of deliveries',
    schema: z.object({ deliveries: z.array(deliverySchema) }).openapi('WebhookDeliveries'),
    example: { deliveries: [exampleDelivery] },
    headers: pagingHeaders,
  },
  async handle({ deps, account, path, query, url }) {
    const page = { size: query.per_page, cursor: query.cursor };
    const { rows, older, newer } = await listDeliveries(deps, account, path.webhook_id, page);
    return pageAnswer(url, { deliveries: rows.map(presentDelivery) }, { next: older, prev: newer });
  },
});

export const replayDeliveryEndpoint = endpoint({
  ...ofWebhook,
  method: 'post',
  path: `${ofWebhook.path}/deliveries/{delivery_id}/replay`,
  summary: 'Send a delivery again',
  description: 'The message has the same `webhook-id`.',
  params: ofWebhook.params.extend({ delivery_id: uuid('delivery_id') }),
  success: { status: 202, description: 'The delivery', schema: deliverySchema, example: exampleDelivery },
  handle: ({ deps, account, path, remember }) =>
    replayDelivery(deps, account, path.webhook_id, path.delivery_id, remember),
  present: presentDelivery,
});
