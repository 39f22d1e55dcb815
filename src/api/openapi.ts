import { OpenAPIHono, type RouteConfig, z } from '@hono/zod-openapi';
import { endpoints } from './endpoints.ts';
import { matchingConditionsDict } from './v1/freeze-schemas.ts';
import { type AnyEndpoint, takesIdempotencyKey, type Access } from './endpoint.ts';
import { missingHeader } from '../auth/caller.ts';

/** The OpenAPI 3.1 document of all endpoints, from the schemas that validate the requests. */
export function openApiDocument(publicUrl: string): object {
  const api = new OpenAPIHono();
  const registry = api.openAPIRegistry;
  for (const definition of endpoints) registry.registerPath(describeRoute(definition));
  for (const [name, scheme] of Object.entries(securitySchemes)) {
    registry.registerComponent('securitySchemes', name, scheme);
  }
  registry.registerComponent('schemas', 'MatchingConditionsDict', matchingConditionsDict as object);
  return api.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Holdfast',
      version: '1',
      description: 'Merge freezes for GitHub.',
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
    },
    servers: [{ url: `${publicUrl}/v1` }],
  });
}

const deprecationHeaders = {
  Deprecation: 'When this operation was deprecated (RFC 9745)',
  Link: 'Its successor: `rel="successor-version"`',
};

/** An endpoint in the form of the OpenAPI document. */
function describeRoute(definition: AnyEndpoint): RouteConfig {
  const { success, body } = definition;
  const answers = {
    description: success.description,
    ...(success.schema && { content: jsonContent(success.schema, success.example) }),
    ...headersOf({ ...success.headers, ...(definition.deprecated && deprecationHeaders) }),
  };
  return {
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

const errorSchema = z
  .object({
    detail: z.union([
      z.string(),
      z.array(
        z.object({
          loc: z.array(z.union([z.string(), z.number()])),
          msg: z.string(),
          type: z.string(),
        }),
      ),
    ]),
  })
  .openapi('Error');

const jsonContent = (schema: z.ZodType, example?: unknown) => ({
  'application/json': { schema, ...(example === undefined ? {} : { example }) },
});

/** The headers of a documented response; nothing if it has none. */
const headersOf = (headers: Record<string, string>) => {
  const entries = Object.entries(headers).map(
    ([name, description]) => [name, { description, schema: { type: 'string' } }] as const,
  );
  return entries.length > 0 ? { headers: Object.fromEntries(entries) } : {};
};

const descriptions: Record<number, { description: string; example: unknown }> = {
  400: {
    description: 'The start cannot be updated because the freeze has already started.',
    example: { detail: 'This freeze has begun, so its start cannot change.' },
  },
  403: {
    description: 'The credential is missing, malformed, unknown, revoked or expired, or does not allow this.',
    example: { detail: missingHeader },
  },
  404: {
    description: 'The resource does not exist, or this credential cannot see it.',
    example: {
      detail: 'There is no repository acme/web with Holdfast installed that this credential can see.',
    },
  },
  409: {
    description:
      'The state does not allow it: a concurrent change won, an Idempotency-Key is in progress, the repository is archived, the installation is suspended, or freezes are switched off.',
    example: { detail: 'The resource changed at the same time. Read it and try again.' },
  },
  413: {
    description: 'The body is over 1 MiB.',
    example: { detail: 'The body is over 1 MiB. Send a smaller one.' },
  },
  422: {
    description: 'The path, query, headers or body are invalid. The answer names every bad field.',
    example: { detail: [{ loc: ['body', 'reason'], msg: 'Field required', type: 'missing' }] },
  },
  429: {
    description:
      'Unknown callers caused too many questions to GitHub in this minute. See `Retry-After`. Application keys and GitHub tokens that were accepted within the last day never get this response.',
    example: {
      detail:
        'Callers that Holdfast does not know made it ask GitHub too often in this minute. Try again in 42 s, or use an application key: it is not limited.',
    },
  },
  500: {
    description: 'An error in Holdfast. The text names a request ID and nothing else.',
    example: {
      detail: 'Something went wrong on our side. Give your Holdfast administrators the request ID …',
    },
  },
  503: {
    description:
      'GitHub or the database cannot answer now. Nothing was granted or changed. See `Retry-After`.',
    example: {
      detail: 'GitHub could not say whose token this is. Nothing was changed. Try again in a moment.',
    },
  },
};

/** The refusals of an endpoint, derived from the steps that produce them. */
function errorResponses({ access, body, method, query, params, isReading, alsoRefuses = [] }: AnyEndpoint) {
  const writes = method !== 'get' && !isReading;
  const hasInput = body !== undefined || query !== undefined || Object.keys(params.shape).length > 0;
  const statuses = [
    ...alsoRefuses,
    403,
    ...(access.to === 'own-key' ? [] : [404]),
    // When a repository is first looked up, any route may find out that the App is suspended there.
    ...(writes || access.to === 'repository' || access.to === 'repository-readers' ? [409] : []),
    ...(body ? [413] : []),
    ...(hasInput ? [422] : []),
    429,
    500,
    503,
  ];
  return Object.fromEntries(
    [...new Set(statuses)].map((status) => {
      const { description, example } = descriptions[status]!;
      const headers =
        status === 503 ? headersOf({ 'Retry-After': 'Seconds to wait before you try again' }) : {};
      return [status, { description, content: jsonContent(errorSchema, example), ...headers }];
    }),
  );
}

const securitySchemes = {
  adminKey: { type: 'http', scheme: 'bearer', description: 'Admin application key: `hf_admin_…`' },
  ciKey: { type: 'http', scheme: 'bearer', description: 'CI application key: `hf_ci_…`' },
  jobToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'OIDC token of a job of GitHub Actions, for its own repository, where an OIDC rule of the owner lets the job do this.',
  },
  githubToken: {
    type: 'http',
    scheme: 'bearer',
    description:
      'GitHub token of a person (`ghp_`, `github_pat_`, `gho_`, `ghu_`). GitHub decides what that person may do.',
  },
} as const;

function securityOf(access: Access): Record<string, string[]>[] {
  if (access.to === 'own-key') return [{ adminKey: [] }, { ciKey: [] }];
  if (access.to === 'repository-readers')
    return [{ adminKey: [] }, { ciKey: [] }, { githubToken: [] }, { jobToken: [] }];
  const job = access.to === 'repository' && access.job ? [{ jobToken: [] }] : [];
  if (access.to === 'repository' && access.scope === 'ci') return [{ ciKey: [] }, ...job];
  return [{ adminKey: [] }, { githubToken: [] }, ...job];
}
