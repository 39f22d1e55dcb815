import { z } from '@hono/zod-openapi';
import { missingHeader } from '../auth/authenticate.ts';
import type { Access, AnyEndpoint } from './endpoint.ts';

export const errorSchema = z
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

export const jsonContent = (schema: z.ZodType, example?: unknown) => ({
  'application/json': { schema, ...(example === undefined ? {} : { example }) },
});

/** Headers as an answer of the document has them; nothing where there are none. */
export const headersOf = (headers: Record<string, string>) => {
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
    description: 'Missing, malformed, unknown, revoked or expired credential, or one that may not do this.',
    example: { detail: missingHeader },
  },
  404: {
    description: 'No such resource, or none that this credential can see.',
    example: {
      detail: 'There is no repository acme/web with Holdfast installed that this credential can see.',
    },
  },
  409: {
    description:
      'The state does not allow it: a concurrent change won, an Idempotency-Key is in progress, the repository is archived, the installation is suspended, or freezes are switched off.',
    example: { detail: 'A concurrent change won. Read the resource and try again.' },
  },
  413: {
    description: 'The body is over 1 MiB.',
    example: { detail: 'The body is over 1 MiB. Send a smaller one.' },
  },
  422: {
    description: 'Bad path, query, header or body; every bad field is named.',
    example: { detail: [{ loc: ['body', 'reason'], msg: 'Field required', type: 'missing' }] },
  },
  429: {
    description:
      'Callers who are not known asked too much of GitHub in this minute; see `Retry-After`. Application keys, and GitHub tokens that were good within the last day, never get it.',
    example: {
      detail:
        'Callers that Holdfast does not know made it ask GitHub too often in this minute. Try again in 42 s, or use an application key: it is not limited.',
    },
  },
  500: {
    description: 'An error of ours. The text names a request id and nothing else.',
    example: {
      detail: 'Something went wrong on our side. Tell your Holdfast administrators the request id …',
    },
  },
  503: {
    description:
      'GitHub or the database cannot answer now. Nothing was granted and nothing was changed; see `Retry-After`.',
    example: {
      detail: 'GitHub could not say whose token this is. Nothing was changed; try again in a moment.',
    },
  },
};

/** The refusals that an endpoint can answer with, from what it does: the same steps that produce them. */
export function errorResponses({
  access,
  body,
  method,
  query,
  params,
  isReading,
  alsoRefuses = [],
}: AnyEndpoint) {
  const writes = method !== 'get' && !isReading;
  const hasInput = body !== undefined || query !== undefined || Object.keys(params.shape).length > 0;
  const statuses = [
    ...alsoRefuses,
    403,
    ...(access.to === 'own-key' ? [] : [404]),
    // Of a repository that is asked for the first time, any route finds out that the App is suspended there.
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
      const headers = status === 503 ? headersOf({ 'Retry-After': 'Seconds until to ask again' }) : {};
      return [status, { description, content: jsonContent(errorSchema, example), ...headers }];
    }),
  );
}

export const securitySchemes = {
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
      'GitHub token of a person (`ghp_`, `github_pat_`, `gho_`, `ghu_`); GitHub decides what that person may do.',
  },
} as const;

export function securityOf(access: Access): Record<string, string[]>[] {
  if (access.to === 'own-key') return [{ adminKey: [] }, { ciKey: [] }];
  if (access.to === 'repository-readers')
    return [{ adminKey: [] }, { ciKey: [] }, { githubToken: [] }, { jobToken: [] }];
  const job = access.to === 'repository' && access.job ? [{ jobToken: [] }] : [];
  if (access.to === 'repository' && access.scope === 'ci') return [{ ciKey: [] }, ...job];
  return [{ adminKey: [] }, { githubToken: [] }, ...job];
}
