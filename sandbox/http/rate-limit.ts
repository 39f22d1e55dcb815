import type { Principal } from '../state/access.ts';
import { GitHubError } from './github-error.ts';

export type Resource = 'core' | 'graphql';

interface Bucket {
  used: number;
  resetAt: number;
}

const hour = 3_600;

/** The hourly budgets, one per credential holder and resource, by the real clock. */
export class RateLimits {
  readonly limits: Record<Resource, number> = { core: 5_000, graphql: 5_000 };
  readonly #buckets = new Map<string, Bucket>();

  /** What a holder has used, and what is left. */
  read(holder: string, resource: Resource) {
    const bucket = this.#bucket(holder, resource);
    const limit = this.limits[resource];
    return {
      limit,
      used: bucket.used,
      remaining: Math.max(0, limit - bucket.used),
      reset: bucket.resetAt,
      resource,
    };
  }

  /** Takes from a budget, or throws the 403 of a used-up budget. */
  spend(holder: string, resource: Resource, cost: number): void {
    const bucket = this.#bucket(holder, resource);
    if (bucket.used + cost > this.limits[resource]) throw this.exhausted(holder);
    bucket.used += cost;
  }

  /** Everybody has everything again. */
  beginHour(): void {
    this.#buckets.clear();
  }

  exhausted(holder: string): GitHubError {
    return new GitHubError(403, `API rate limit exceeded for ${holder}.`);
  }

  headers(holder: string, resource: Resource): Record<string, string> {
    const state = this.read(holder, resource);
    return Object.fromEntries(
      Object.entries(state).map(([name, value]) => [`x-ratelimit-${name}`, String(value)]),
    );
  }

  #bucket(holder: string, resource: Resource): Bucket {
    const key = `${holder} ${resource}`;
    const now = Math.floor(Date.now() / 1000);
    let bucket = this.#buckets.get(key);
    if (!bucket || bucket.resetAt <= now) {
      bucket = { used: 0, resetAt: now + hour };
      this.#buckets.set(key, bucket);
    }
    return bucket;
  }
}

/** The holder of the budget that a request uses. */
export function holderOf(principal: Principal): string {
  switch (principal.kind) {
    case 'installation':
      return `installation ID ${principal.token.installation.id}`;
    case 'user':
      return `user ID ${principal.token.user.id}`;
    case 'app':
    case 'client':
      return 'the app';
    case 'anonymous':
      return '127.0.0.1';
  }
}
