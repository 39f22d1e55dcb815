import type { HttpBindings } from '@hono/node-server';
import type { Context, Hono } from 'hono';
import type { Principal } from '../state/access.ts';
import type { Comments } from '../actions/comments.ts';
import type { Deployments } from '../actions/deployments.ts';
import type { MergeQueues } from '../actions/merge-queues.ts';
import type { installations } from '../actions/installations.ts';
import type { people } from '../actions/people.ts';
import type { branches } from '../actions/branches.ts';
import type { repositories } from '../actions/repositories.ts';
import type { PullRequestEdits } from '../actions/pull-request-edits.ts';
import type { PullRequests } from '../actions/pull-requests.ts';
import type { Stacks } from '../actions/stacks.ts';
import type { Statuses } from '../actions/statuses.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';
import type { World } from '../state/world.ts';
import type { Chaos } from './chaos.ts';
import type { Faults } from './faults.ts';
import type { RateLimits } from './rate-limit.ts';
import type { WriteLimit } from './write-limit.ts';
import type { LoggedRequest, RequestLog } from './request-log.ts';

/** What the routes act on. */
export interface Parts {
  world: World;
  webhooks: Webhooks;
  statuses: Statuses;
  stacks: Stacks;
  pullRequests: PullRequests;
  edits: PullRequestEdits;
  queues: MergeQueues;
  comments: Comments;
  deployments: Deployments;
  faults: Faults;
  chaos: Chaos;
  limits: RateLimits;
  writeLimit: WriteLimit;
  requests: RequestLog;
  unknownRoutes: string[];
  addBot: ReturnType<typeof people>['addBot'];
  install: ReturnType<typeof installations>['install'];
  uninstall: ReturnType<typeof installations>['uninstall'];
  repositories: ReturnType<typeof repositories>;
  branches: ReturnType<typeof branches>;
}

export interface Env {
  Bindings: HttpBindings;
  Variables: { principal: Principal; holder: string; logged: LoggedRequest; isDistorted?: boolean };
}

export type Api = Hono<Env>;
export type ApiContext = Context<Env>;

/** A JSON object from the request's body. Anything else counts as empty, and validation says what is missing. */
export async function bodyOf(c: ApiContext): Promise<Record<string, unknown>> {
  const body: unknown = await c.req.json().catch(() => null);
  return body !== null && typeof body === 'object' ? (body as Record<string, unknown>) : {};
}
