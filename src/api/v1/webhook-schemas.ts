import { z } from '@hono/zod-openapi';
import { nearNames } from '../../conditions/suggest-names.ts';
import { noticeTypes } from '../../events/notice-type.ts';
import type { OutgoingDelivery, OutgoingWebhook } from '../../generated/prisma/client.ts';
import {
  attributesOfWebhook,
  type createWebhook,
  type SavedWebhook,
  webhookKinds,
} from '../../notices/manage-webhooks.ts';
import { globs, text, who } from '../fields.ts';

const event = z.enum(noticeTypes, {
  error({ input }) {
    const word = String(input).slice(0, 100);
    const near = nearNames(word, noticeTypes).slice(0, 3);
    const advice =
      near.length > 0 ? `Did you mean ${near.join(' or ')}?` : `The types are ${noticeTypes.join(', ')}.`;
    return `\`${word}\` is no type of event. ${advice}`;
  },
});

const fields = {
  url: text(2000, 'An address').min(1, 'An address has at least 1 character.').openapi({
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
  description: text(255, 'A description').nullish(),
};

export const newWebhook = z.object({ kind: z.enum(webhookKinds), ...fields }).openapi('NewWebhook');

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
  .object({ ...fields, url: fields.url.optional(), enabled: z.boolean().optional() })
  .openapi('WebhookChange');

export const webhookSchema = z
  .object({
    id: z.uuid(),
    url: z.string(),
    kind: z
      .enum([...webhookKinds, 'slack_channel'])
      .openapi({ description: '`slack_channel`: `/holdfast subscribe` in Slack made it' }),
    repositories: z.array(z.string()).nullable(),
    events: z.array(z.enum(noticeTypes)).nullable(),
    public_text: z.boolean(),
    description: z.string().nullable(),
    enabled: z.boolean(),
    disabled_reason: z
      .string()
      .nullable()
      .openapi({ description: 'Why Holdfast disabled it. null if it did not' }),
    created_by: who,
    created_at: z.iso.datetime(),
  })
  .openapi('Webhook');

export const withSecret = webhookSchema
  .extend({
    secret: z
      .string()
      .optional()
      .openapi({ description: 'Signs the messages. Only of the kind `standard`, and only in this answer' }),
  })
  .openapi('WebhookWithSecret');

export const deliverySchema = z
  .object({
    id: z.uuid(),
    type: z.enum([...noticeTypes, 'webhook.test']),
    state: z.enum(['waiting', 'delivered', 'failed']),
    attempts: z.number().int(),
    status: z.number().int().nullable().openapi({ description: 'The last status of HTTP' }),
    last_attempt_at: z.iso.datetime().nullable(),
    next_attempt_at: z.iso.datetime().nullable(),
    error: z.string().nullable().openapi({ description: 'Why the last attempt failed' }),
  })
  .openapi('WebhookDelivery');

const id = '6f1c2f0a-5c1b-4a52-9d0e-0c8a1c1d2e3f';
export const exampleWebhook = {
  kind: 'standard',
  url: 'https://ops.example/holdfast',
  repositories: ['web', 'api-*'],
  events: ['freeze.started', 'freeze.ended'],
};
const { kind, url, ...exampleFilter } = exampleWebhook;
export const exampleAnswer = {
  id,
  url,
  kind,
  ...exampleFilter,
  public_text: false,
  description: null,
  enabled: true,
  disabled_reason: null,
  created_by: { type: 'user', id: 1, name: 'ada' },
  created_at: '2026-03-01T09:00:00.000Z',
};
export const exampleDelivery = {
  id: '0b9d1e5e-7a3f-4f0e-9f49-2f2f9a2b8c11',
  type: 'freeze.started',
  state: 'waiting',
  attempts: 1,
  status: 503,
  last_attempt_at: '2026-03-01T09:00:00.000Z',
  next_attempt_at: '2026-03-01T09:00:05.000Z',
  error: 'It answered 503.',
};

export const present = (webhook: OutgoingWebhook) => ({
  id: webhook.id,
  ...attributesOfWebhook(webhook),
  disabled_reason: webhook.disabledWhy,
  created_by: webhook.createdBy,
  created_at: webhook.createdAt.toISOString(),
});

export const presentSaved = ({ webhook, secret }: SavedWebhook) => ({
  ...present(webhook),
  ...(secret !== null && { secret }),
});

export const presentDelivery = (delivery: OutgoingDelivery) => ({
  id: delivery.id,
  type: delivery.type,
  state: delivery.state,
  attempts: delivery.attempts,
  status: delivery.status,
  last_attempt_at: delivery.lastAttemptAt?.toISOString() ?? null,
  next_attempt_at: delivery.nextAttemptAt?.toISOString() ?? null,
  error: delivery.error,
});
