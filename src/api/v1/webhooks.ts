import { z } from '@hono/zod-openapi';
import {
  createWebhook,
  deleteWebhook,
  listWebhooks,
  requireWebhook,
  rotateSecret,
  updateWebhook,
} from '../../notices/manage-webhooks.ts';
import { listDeliveries, replayDelivery, testWebhook } from '../../notices/manage-deliveries.ts';
import { endpoint, HandlerAnswer } from '../endpoint.ts';
import { owner, ownerPath, uuid } from '../fields.ts';
import { linkHeader, linkHeaderDescription, pagingQuery } from '../paging.ts';
import {
  deliverySchema,
  exampleAnswer,
  exampleDelivery,
  exampleWebhook,
  newWebhook,
  readNewWebhook,
  present,
  presentDelivery,
  presentSaved,
  webhookChange,
  webhookSchema,
  withSecret,
} from './webhook-schemas.ts';

const tag = 'Webhooks';
const access = { to: 'owner' } as const;
const webhookPath = z.object({ owner, webhook_id: uuid('webhook_id') });
const deliveryPath = webhookPath.extend({ delivery_id: uuid('delivery_id') });

export const listWebhooksEndpoint = endpoint({
  method: 'get',
  path: '/webhooks/{owner}',
  tag,
  summary: "List an owner's outgoing webhooks, the oldest first",
  access,
  params: ownerPath,
  success: {
    status: 200,
    description: 'Every webhook, without secrets',
    schema: z.object({ webhooks: z.array(webhookSchema) }).openapi('Webhooks'),
    example: { webhooks: [exampleAnswer] },
  },
  async handle({ deps, account }) {
    return { webhooks: (await listWebhooks(deps, account.id)).map(present) };
  },
});

export const createWebhookEndpoint = endpoint({
  method: 'post',
  path: '/webhooks/{owner}',
  tag,
  summary: 'Create an outgoing webhook',
  description:
    'Tells an address what happens to freezes: one that verifies Standard Webhooks, or the incoming webhook of a chat.',
  access,
  params: ownerPath,
  body: { schema: newWebhook, example: exampleWebhook },
  success: {
    status: 201,
    description: 'The new webhook, and its secret if it is of the kind `standard`',
    schema: withSecret,
    example: { ...exampleAnswer, secret: 'whsec_…' },
  },
  async handle({ deps, actor, account, body, remember }) {
    const saved = await createWebhook(deps, actor, account, readNewWebhook(body), (tx, made) =>
      remember(tx, { status: 201, body: presentSaved(made), hasSecret: true }),
    );
    return presentSaved(saved);
  },
});

export const updateWebhookEndpoint = endpoint({
  method: 'patch',
  path: '/webhooks/{owner}/{webhook_id}',
  tag,
  summary: 'Change, disable or enable a webhook',
  description: 'Fields that are absent stay. What waits for a webhook that you disable is not sent.',
  access,
  params: webhookPath,
  body: { schema: webhookChange, example: { events: null, enabled: true } },
  success: { status: 200, description: 'The changed webhook', schema: webhookSchema, example: exampleAnswer },
  exists: ({ deps, account, path }) => requireWebhook(deps.db, account, path.webhook_id),
  async handle({ deps, actor, account, path, body }) {
    const { public_text: publicText, ...change } = body;
    return present(
      await updateWebhook(deps, actor, account, path.webhook_id, {
        ...change,
        publicText: publicText ?? undefined,
      }),
    );
  },
});

export const deleteWebhookEndpoint = endpoint({
  method: 'delete',
  path: '/webhooks/{owner}/{webhook_id}',
  tag,
  summary: 'Delete a webhook and its deliveries',
  access,
  params: webhookPath,
  success: { status: 204, description: 'Deleted' },
  async handle({ deps, actor, account, path }) {
    await deleteWebhook(deps, actor, account, path.webhook_id);
  },
});

export const rotateSecretEndpoint = endpoint({
  method: 'post',
  path: '/webhooks/{owner}/{webhook_id}/rotate_secret',
  tag,
  summary: 'Give a webhook another secret',
  description: 'Both secrets sign for 24 hours. Only for the kind `standard`.',
  access,
  params: webhookPath,
  success: {
    status: 200,
    description: 'The webhook and its new secret',
    schema: withSecret,
    example: { ...exampleAnswer, secret: 'whsec_…' },
  },
  async handle({ deps, actor, account, path, remember }) {
    const saved = await rotateSecret(deps, actor, account, path.webhook_id, (tx, made) =>
      remember(tx, { status: 200, body: presentSaved(made), hasSecret: true }),
    );
    return presentSaved(saved);
  },
});

export const testWebhookEndpoint = endpoint({
  method: 'post',
  path: '/webhooks/{owner}/{webhook_id}/test',
  tag,
  summary: 'Send a test message',
  access,
  params: webhookPath,
  success: {
    status: 202,
    description: 'The delivery, of the type `webhook.test`',
    schema: deliverySchema,
    example: { ...exampleDelivery, type: 'webhook.test' },
  },
  async handle({ deps, account, path, remember }) {
    const delivery = await testWebhook(deps, account, path.webhook_id, (tx, made) =>
      remember(tx, { status: 202, body: presentDelivery(made) }),
    );
    return presentDelivery(delivery);
  },
});

export const listDeliveriesEndpoint = endpoint({
  method: 'get',
  path: '/webhooks/{owner}/{webhook_id}/deliveries',
  tag,
  summary: "List a webhook's deliveries of the last 30 days, newest first",
  description: 'Pages are linked by the `Link` header (`next`, `prev`).',
  access,
  params: webhookPath,
  query: z.object(pagingQuery(30)),
  success: {
    status: 200,
    description: 'A page of deliveries',
    schema: z.object({ deliveries: z.array(deliverySchema) }).openapi('WebhookDeliveries'),
    example: { deliveries: [exampleDelivery] },
    headers: { Link: linkHeaderDescription },
  },
  async handle({ deps, account, path, query, url }) {
    const size = { size: query.per_page, cursor: query.cursor };
    const { rows, older, newer } = await listDeliveries(deps, account, path.webhook_id, size);
    return new HandlerAnswer(
      200,
      { deliveries: rows.map(presentDelivery) },
      linkHeader(url, { next: older, prev: newer }),
    );
  },
});

export const replayDeliveryEndpoint = endpoint({
  method: 'post',
  path: '/webhooks/{owner}/{webhook_id}/deliveries/{delivery_id}/replay',
  tag,
  summary: 'Send a delivery again',
  description: 'The message has the same `webhook-id`.',
  access,
  params: deliveryPath,
  success: { status: 202, description: 'The delivery', schema: deliverySchema, example: exampleDelivery },
  async handle({ deps, account, path, remember }) {
    const { webhook_id, delivery_id } = path;
    const delivery = await replayDelivery(deps, account, webhook_id, delivery_id, (tx, again) =>
      remember(tx, { status: 202, body: presentDelivery(again) }),
    );
    return presentDelivery(delivery);
  },
});
