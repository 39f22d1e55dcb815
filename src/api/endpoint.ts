import { z } from '@hono/zod-openapi';
import type { AuthorizedOwner, RequestedRepositories } from '../auth/authorize-owner-or.ts';
import type { AuthorizedRepository, RepositoryAudience } from '../auth/authorize.ts';
import type { Caller } from '../auth/caller.ts';
import type { Recency } from '../auth/permissions.ts';
import type { Tx } from '../database/database.ts';
import type { SqlTx } from '../database/sql.ts';
import type { Deps } from '../deps.ts';
import type { Actor } from '../events/actor.ts';
import type { InstalledAccount } from '../installations/find-account.ts';
import type { FoundRepository, RepositoryRead } from '../installations/find-repository.ts';
import { owner, ownerParams, uuid } from './fields.ts';

/** Who may call a route, and what its path names. */
export type Access = Recency &
  (
    | ({ to: 'repository' } & RepositoryAudience)
    /** Everybody who can read the repository. */
    | { to: 'repository-readers' }
    | { to: 'owner' }
    /** Like `owner`, and also people who are admins of every repository that the request is about. */
    | { to: 'owner-or-repositories'; repositories(request: Named): Promise<RequestedRepositories> }
    /** Any application key that asks about itself. */
    | { to: 'own-key' }
  );

/** What a request names before its body is validated: `json` may be anything. */
type Named = { deps: Deps; account: InstalledAccount; path: Record<string, unknown>; json: unknown };

/** What the path of a request names, for a caller who may use it. */
type Authorized<A extends Access> = {
  repository: AuthorizedRepository;
  'repository-readers': { repository: FoundRepository };
  owner: { account: InstalledAccount };
  'owner-or-repositories': AuthorizedOwner;
  'own-key': object;
}[A['to']];

/** What a handler gets. Everything is validated and parsed. */
export type EndpointCall<
  A extends Access,
  Path,
  Query,
  Body,
  Read = never,
  Result = unknown,
> = Authorized<A> & {
  deps: Deps;
  actor: Actor;
  caller: Caller;
  path: Path;
  query: Query;
  body: Body;
  /** What the endpoint `reads`. */
  read(): Promise<Read>;
  /** The URL of the request as clients see it, for links. */
  url: string;
  /** Call this with the result in the transaction of the change, so that `Idempotency-Key` can replay it. */
  remember(tx: Tx | SqlTx, result?: Result): Promise<void>;
};

type Endpoint<
  A extends Access,
  P extends z.ZodObject,
  Q extends z.ZodObject,
  B extends z.ZodType,
  Read = never,
  Result = unknown,
> = {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** In OpenAPI's form: `/repos/{owner}`. */
  path: string;
  summary: string;
  description?: string;
  tag: string;
  deprecated?: { successor: (path: z.output<P>) => string };
  access: A;
  params: P;
  query?: Q;
  body?: { schema: B; example: unknown; isOptional?: true };
  /** The only successful response. */
  success: {
    status: 200 | 201 | 202 | 204;
    description: string;
    schema?: z.ZodType;
    example?: unknown;
    /** Headers that it may have, with their meaning. */
    headers?: Record<string, string>;
    /** Whether it contains a secret: it is then saved encrypted. */
    hasSecret?: true;
  };
  /** Refuses what else the path names if it does not exist, before the body is validated. */
  exists?(
    call: Pick<EndpointCall<A, z.output<P>, unknown, unknown>, 'deps' | 'actor' | 'path'> & Authorized<A>,
  ): Promise<unknown>;
  /**
   * What each request reads of its repository. With an application key, the statement that finds both reads it along, so
   * it only depends on the request. It authorizes nobody.
   */
  reads?(request: {
    deps: Deps;
    path: z.output<P>;
    query: z.output<Q>;
    body: z.output<B>;
  }): RepositoryRead<Read>;
  /** Marks a POST that changes nothing. Retries are safe without an `Idempotency-Key`. */
  isReading?: true;
  /** Refusals in addition to those of the access and the body. */
  alsoRefuses?: 400[];
  handle(call: EndpointCall<A, z.output<P>, z.output<Q>, z.output<B>, Read, Result>): Promise<Result>;
  /** The answer to a result. Without it, the result is the answer. */
  present?(
    result: Result,
    call: EndpointCall<A, z.output<P>, z.output<Q>, z.output<B>, Read, Result>,
  ): unknown;
};

/** Types an endpoint for its handler, and hides the types in the list of all endpoints. */
export const endpoint = <
  A extends Access,
  P extends z.ZodObject,
  Q extends z.ZodObject,
  B extends z.ZodType,
  Read = never,
  Result = unknown,
>(
  definition: Endpoint<A, P, Q, B, Read, Result>,
): AnyEndpoint => definition;

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the list holds endpoints of every type
export type AnyEndpoint = Endpoint<any, any, any, any, any, any>;

/** Whether the endpoint supports `Idempotency-Key`. */
export const takesIdempotencyKey = ({ method, isReading }: AnyEndpoint): boolean =>
  method === 'post' && !isReading;

/** The part that routes to what an owner has share. */
export const ofOwner = <Path extends string>(tag: string, path: Path) =>
  ({ tag, path, access: { to: 'owner' }, params: ownerParams }) as const;

/**
 * The route that deletes something that an owner has.
 * @param definition.id the name of its id in the path.
 */
export const deletionOf = ({
  path,
  id,
  remove,
  does = 'Deleted',
  ...shared
}: {
  tag: string;
  path: string;
  id: string;
  summary: string;
  does?: string;
  remove(deps: Deps, actor: Actor, account: InstalledAccount, id: string): Promise<unknown>;
}) =>
  endpoint({
    ...shared,
    method: 'delete',
    path: `${path}/{${id}}`,
    access: { to: 'owner' },
    params: z.object({ owner, [id]: uuid(id) }),
    success: { status: 204, description: does },
    async handle({ deps, actor, account, path }) {
      await remove(deps, actor, account, String(path[id]));
    },
  });
