import { createRoute, type RouteConfig, z } from '@hono/zod-openapi';
import { type AnyEndpoint, takesIdempotencyKey } from './endpoint.ts';
import { errorResponses, headersOf, jsonContent, securityOf } from './responses.ts';

const deprecationHeaders = {
  Deprecation: 'When this operation was deprecated (RFC 9745)',
  Link: 'Its successor: `rel="successor-version"`',
};

/** An endpoint in the form of the OpenAPI document. */
export function describeRoute(definition: AnyEndpoint) {
  const { success, body } = definition;
  const answers = {
    description: success.description,
    ...(success.schema && { content: jsonContent(success.schema, success.example) }),
    ...headersOf({ ...success.headers, ...(definition.deprecated && deprecationHeaders) }),
  };
  const config: RouteConfig = {
    method: definition.method,
    path: definition.path,
    operationId: operationIdOf(definition),
    summary: definition.summary,
    description: definition.description,
    tags: [definition.tag],
    deprecated: definition.deprecated ? true : undefined,
    security: securityOf(definition.access),
    request: {
      params: definition.params,
      query: definition.query,
      headers: requestHeaders(definition),
      body: body && { required: !body.isOptional, content: jsonContent(body.schema, body.example) },
    },
    responses: {
      [success.status]: answers,
      ...(success.headers?.['ETag'] && { 304: { description: 'The caller already has this answer' } }),
      ...errorResponses(definition),
    },
  };
  return createRoute(config as Parameters<typeof createRoute>[0]);
}

/** Such as `get_repos_owner_repository_logs`: generated clients name their functions by it. */
const operationIdOf = ({ method, path }: AnyEndpoint): string =>
  [method, ...path.split(/[^a-z_]+/)].filter(Boolean).join('_');

const ifNoneMatchHeader = z.object({
  'If-None-Match': z.string().optional().openapi({
    description: 'The `ETag` of an earlier answer. If it is still current, the answer is 304.',
  }),
});

function requestHeaders(definition: AnyEndpoint): z.ZodObject | undefined {
  if (takesIdempotencyKey(definition)) return idempotencyHeader;
  return definition.success.headers?.['ETag'] ? ifNoneMatchHeader : undefined;
}

const idempotencyHeader = z.object({
  'Idempotency-Key': z.string().min(1).max(255).optional().openapi({
    description: 'Makes retries safe. Holdfast replays the first answer for 24 hours.',
    example: '0b9d1e5e-7a3f-4f0e-9f49-2f2f9a2b8c11',
  }),
});
