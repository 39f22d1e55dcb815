import type { z } from '@hono/zod-openapi';
import type { Credential } from '../auth/authenticate.ts';
import type { AuthorizedRepository, RepositoryAudience } from '../auth/authorize.ts';
import type { Asked, AuthorizedOwner } from '../auth/authorize-owner-or.ts';
import type { Deps } from '../deps.ts';
import type { Actor } from '../events/actor.ts';
import type { Account } from '../generated/prisma/client.ts';
import type { FoundRepository } from '../installations/find-repository.ts';
import type { Asked as AskedRead } from '../installations/repository-read.ts';
import type { Remember } from './idempotency.ts';

/** Whom a route lets in, and what its path names. */
export type Access =
  | ({ to: 'repository' } & RepositoryAudience)
  /** Whoever can read the repository. */
  | { to: 'repository-readers' }
  | { to: 'owner' }
  /**
   * As `owner`; and people who administer every repository that it is about.
   */
  | { to: 'owner-or-repositories'; repositories(request: Named): Promise<Asked> }
  /** Any application key, asking about itself. */
  | { to: 'own-key' };

/** What a request names, before its body is looked at: `json` is nobody's promise. */
type Named = { deps: Deps; account: Account; path: Record<string, unknown>; json: unknown };

type Found<A extends Access> = A extends { to: 'repository' }
  ? AuthorizedRepository
  : A extends { to: 'repository-readers' }
    ? { repository: FoundRepository }
    : A extends { to: 'owner-or-repositories' }
      ? AuthorizedOwner
      : A extends { to: 'owner' }
        ? { account: Account }
        : object;

/** What a handler gets: everything checked, nothing left to parse. */
export type Call<A extends Access, Path, Query, Body, Read> = Found<A> & {
  deps: Deps;
  actor: Actor;
  credential: Credential;
  path: Path;
  query: Query;
  body: Body;
  /** What the endpoint `reads`. */
  read(): Promise<Read>;
  /** The request's URL as clients reach it, for links. */
  url: string;
  /** To be called in the transaction of the change, with the answer: what `Idempotency-Key` replays. */
  remember: Remember;
};

export type Endpoint<
  A extends Access,
  P extends z.ZodObject,
  Q extends z.ZodObject,
  B extends z.ZodType,
  Read = never,
> = {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** OpenAPI's form: `/repos/{owner}`. */
  path: string;
  summary: string;
  description?: string;
  tag: string;
  deprecated?: { successor: (path: z.output<P>) => string };
  access: A;
  params: P;
  query?: Q;
  body?: { schema: B; example: unknown; isOptional?: true };
  /** The one success. */
  success: {
    status: 200 | 201 | 204;
    description: string;
    schema?: z.ZodType;
    example?: unknown;
    /** Headers that it may have, with what they say. */
    headers?: Record<string, string>;
  };
  /** Refuses what the path names beyond the access's own, before the body is looked at. */
  exists?(call: Found<A> & { deps: Deps; actor: Actor; path: z.output<P> }): Promise<unknown>;
  /** What it reads of the repository in each request: with an application key, in the statement that finds both. */
  reads?(request: { deps: Deps; path: z.output<P>; query: z.output<Q>; body: z.output<B> }): AskedRead<Read>;
  /** A POST that changes nothing: retries are safe without an `Idempotency-Key`. */
  isReading?: true;
  /** Refusals beyond those that the access and the body bring. */
  alsoRefuses?: 400[];
  handle(call: Call<A, z.output<P>, z.output<Q>, z.output<B>, Read>): Promise<unknown>;
};

/** Keeps an endpoint's types for its handler, and forgets them for the list of all endpoints. */
export function endpoint<
  A extends Access,
  P extends z.ZodObject,
  Q extends z.ZodObject,
  B extends z.ZodType,
  Read = never,
>(definition: Endpoint<A, P, Q, B, Read>): AnyEndpoint {
  return definition as unknown as AnyEndpoint;
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the list holds endpoints of every type
export type AnyEndpoint = Endpoint<any, any, any, any, any>;

/** Whether an `Idempotency-Key` is heard. */
export const takesIdempotencyKey = ({ method, isReading }: AnyEndpoint): boolean =>
  method === 'post' && !isReading;

/** A handler that needs headers says so with this; any other result is the body. */
export class HandlerAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Record<string, string>;
  constructor(status: number, body: unknown, headers: Record<string, string>) {
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}
