import { z } from '@hono/zod-openapi';
import { nearNames } from '../../conditions/suggest-names.ts';
import type { Deps } from '../../deps.ts';
import { triggers } from '../../events/actor.ts';
import { auditEventTypes } from '../../events/audit-event.ts';
import {
  knownEventTypes,
  type ListedEvent,
  listEvents,
  type LogPlace,
  outcomes,
} from '../../events/list-events.ts';
import { camelCased, fieldsOfSchema, pageAnswer, pagingHeaders, pagingQuery } from '../answers.ts';
import { endpoint } from '../endpoint.ts';
import { instantField, ownerParams, repositoryParams, who } from '../fields.ts';
import { cutText } from '../../cut-text.ts';

/** `?x=a&x=b` and `?x=a` alike. */
const many = <Item extends z.ZodType<string>>(item: Item) =>
  z
    .preprocess((given) => (typeof given === 'string' ? [given] : given), z.array(item))
    .optional() as unknown as z.ZodOptional<z.ZodArray<Item>>;

/** Quotes an invalid value for a message. */
const named = (value: unknown): string => `\`${cutText(String(value), 100)}\``;

const pullRequest = z.string().regex(/^(0|[1-9]\d{0,18})$/, {
  error: ({ input }) => `${named(input)} is not a pull request number. Send digits, such as 42.`,
});
const eventType = z.enum(knownEventTypes, { error: ({ input }) => noEventType(input) });
const outcome = z.enum(outcomes, {
  error: ({ input }) => `${named(input)} is not an outcome. Send one of ${outcomes.join(', ')}.`,
});

function noEventType(input: unknown): string {
  const word = cutText(String(input), 100);
  const near = [auditEventTypes, knownEventTypes]
    .map((types) => nearNames(word, types).slice(0, 3))
    .find((names) => names.length > 0);
  const advice = near
    ? `Did you mean ${near.join(' or ')}?`
    : `Holdfast writes ${auditEventTypes.join(', ')}; GET /v1/openapi.json lists all event types.`;
  return `${named(input)} is not an event type. ${advice}`;
}

const moment = instantField('Send an instant such as 2026-03-01T09:00:00Z.')
  .transform((text) => new Date(text))
  .optional();

const roads =
  'How it came about: by the API (also the command line), a page, a comment, Slack, a plan, the clock, or what happened on GitHub';

const query = z
  .object({
    pull_request: many(pullRequest),
    not_pull_request: many(pullRequest),
    batch_pull: many(pullRequest),
    not_batch_pull: many(pullRequest),
    event_type: many(eventType),
    not_event_type: many(eventType),
    outcome: many(outcome),
    not_outcome: many(outcome),
    trigger: many(z.string()).openapi({ description: roads }),
    not_trigger: many(z.string()),
    base_ref: many(z.string()),
    received_from: moment,
    received_to: moment,
    by: z.string().max(255).optional().openapi({
      description:
        'Only what this person did, also through application keys, OIDC rules and plans that they created. Or the name of a key, a rule or a plan',
    }),
    ...pagingQuery(10),
  })
  .superRefine((value, context) => {
    for (const name of ['pull_request', 'batch_pull', 'event_type', 'outcome', 'trigger'] as const) {
      if (value[name] && value[`not_${name}`]) {
        context.addIssue({
          code: 'custom',
          path: [`not_${name}`],
          message: `Send ${name} or not_${name}, not both.`,
        });
      }
    }
  });

/** The filters and the paging of every audit log. */
const logQuery = query as unknown as z.ZodObject<typeof query.shape>;

/** An event as clients read it. */
const eventShape = z.object({
  id: z.number().int(),
  received_at: z.iso.datetime(),
  trigger: z.enum(triggers).openapi({ description: roads }),
  repository: z.string(),
  pull_request: z.number().int().nullable(),
  base_ref: z.string().nullable(),
  outcome: z.enum(outcomes),
  type: z.string(),
  metadata: z.record(z.string(), z.unknown()).openapi({
    description:
      'What happened. Of what somebody did in Slack, `via` has the workspace and whether it was the Slack app of the owner or of this service: `{"slack_team_id": "T024BE7LH", "slack_app": "owner"}`',
  }),
  on_behalf_of: who.optional().openapi({
    description: 'The person who created the application key, the OIDC rule or the plan that acted',
  }),
  freeze_plan: z
    .object({ id: z.uuid(), name: z.string().optional() })
    .optional()
    .openapi({ description: "The plan that Holdfast acted for. Only the owner's log has its name" }),
});

/** A page of an audit log. @param name of the schema in the document; @param example one of its events. */
const logPage = (name: string, event: z.ZodType, example: object) => ({
  status: 200 as const,
  description: 'A page of events',
  headers: pagingHeaders,
  schema: z
    .object({ size: z.number().int(), per_page: z.number().int(), events: z.array(event) })
    .openapi(name),
  example: { size: 1, per_page: 10, events: [example] },
});

const isObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * An event of the audit log in the form of the API.
 * @param isOwners whether the reader is an admin of the owner, who may know the names of plans.
 */
export const presentEvent = ({ behind, ...row }: ListedEvent, isOwners: boolean) => ({
  ...fieldsOfSchema(eventShape, row),
  // Clients read an object, whatever is in the row.
  ...(!isObject(row.metadata) && { metadata: { unreadable: row.metadata } }),
  pull_request: row.pullRequest === null ? null : Number(row.pullRequest),
  ...(behind?.person && { on_behalf_of: behind.person }),
  ...(behind?.kind === 'plan' && {
    freeze_plan: { id: behind.id, ...(isOwners && { name: behind.name }) },
  }),
});

export const getLogs = endpoint({
  method: 'get',
  path: '/repos/{owner}/{repository}/logs',
  tag: 'Audit log',
  summary: "Read a repository's audit log, newest first",
  description:
    'For admins of the repository, and for its freezers and approvers, who see no changes of its settings. Pages are linked by the `Link` header (`next`, `prev`). By default, the log covers the last day.',
  access: { to: 'repository', scope: 'admin', role: ['freezer', 'approver'] },
  params: repositoryParams,
  query: logQuery,
  success: logPage('Events', eventShape.openapi('Event'), {
    id: 7,
    received_at: '2026-03-01T09:00:00.000Z',
    trigger: 'api',
    repository: 'acme/web',
    pull_request: null,
    base_ref: null,
    outcome: 'success',
    type: 'product.enabled',
    metadata: {
      product: 'merge_queue',
      enabled_by: { type: 'user', id: 1, name: 'ada' },
      enabled_at: '2026-03-01T09:00:00.000Z',
      enabled_by_staff: false,
    },
  }),
  handle({ deps, repository, byRole, query, url }) {
    const { id: repositoryId, accountId } = repository;
    return readLog(deps, { accountId, repositoryId, isByRole: byRole !== null }, query, url);
  },
});

/** A page of an audit log, as its route answers. */
async function readLog(deps: Deps, place: LogPlace, query: z.output<typeof logQuery>, url: string) {
  const { per_page, cursor, ...filters } = query;
  const page = await listEvents(deps, place, camelCased(filters), { perPage: per_page, cursor });
  const events = page.events.map((event) => presentEvent(event, !('repositoryId' in place)));
  const body = { size: events.length, per_page, events };
  return pageAnswer(url, body, { next: page.next, prev: page.previous });
}

const ownerEvent = eventShape.extend({ repository: z.string().nullable() }).openapi('OwnerEvent');

const ownerLogQuery = query.safeExtend({
  repositories: z
    .enum(['all'], 'Send all, or leave it out.')
    .optional()
    .openapi({ description: "`all`: also the events of the owner's repositories" }),
}) as unknown as z.ZodObject<typeof query.shape & { repositories: z.ZodOptional<z.ZodEnum<{ all: 'all' }>> }>;

export const getOwnerLogs = endpoint({
  method: 'get',
  path: '/logs/{owner}',
  tag: 'Audit log',
  summary: "Read an owner's audit log, newest first",
  description:
    'Contains events that belong to no repository: application keys, default products and freeze plans. `?repositories=all` adds those of the repositories of the owner. Pages are linked by the `Link` header (`next`, `prev`). By default, the log covers the last day.',
  access: { to: 'owner' },
  params: ownerParams,
  query: ownerLogQuery,
  success: logPage('OwnerEvents', ownerEvent, {
    id: 8,
    received_at: '2026-03-01T09:00:00.000Z',
    trigger: 'api',
    repository: null,
    pull_request: null,
    base_ref: null,
    outcome: 'success',
    type: 'application_key.create',
    metadata: {
      key_id: '6f1c2f0a-5c1b-4a52-9d0e-0c8a1c1d2e3f',
      key_name: 'release tooling',
      key_scope: 'admin',
      created_by: { type: 'user', id: 1, name: 'ada' },
      created_at: '2026-03-01T09:00:00.000Z',
      created_by_staff: false,
    },
  }),
  async handle({ deps, account, query: { repositories, ...query }, url }) {
    return readLog(deps, { accountId: account.id, alsoOf: repositories }, query, url);
  },
});
