import { setTimeout as sleep } from 'node:timers/promises';
import type { WebhookFault, WebhookFaultKind } from '../webhooks/webhook-faults.ts';
import { ConnectionReset, type FaultyRequest } from './faults.ts';
import { GitHubError } from './github-error.ts';
import { secondaryLimit } from './write-limit.ts';
import { Random } from './random.ts';

/** How requests fail by chance: before anything happens, or (`-after`) after it is done, so that the answer is lost. */
const apiFaults = {
  '500': 3,
  '502': 3,
  '502-after': 2,
  'reset-before': 3,
  'reset-after': 3,
  'hang-before': 2,
  'hang-after': 2,
  'limit-403': 1,
  'limit-429': 1,
} as const;
export type ChaosKind = keyof typeof apiFaults;

export interface ChaosOptions {
  seed: number;
  /** From 0 to 1, like the other rates. */
  apiFailureRate: number;
  webhookRates: Partial<Record<WebhookFaultKind, number>>;
  /** The share of GraphQL requests that get an answer from `staleBy` milliseconds ago. */
  staleRate: number;
  staleBy: number;
  /** Instead of `staleBy`: the instant that such answers show, in milliseconds of the real clock. */
  staleAt?: number;
}

/** A request that failed by chance. */
export interface ChaosEvent {
  kind: ChaosKind | 'stale';
  at: number;
  method: string;
  path: string;
  operationName?: string;
}

/** How long a request hangs: most clients give up. A few hang longer. */
const hang = 1_200;
const longHang = 13_000;

/** Faults by chance. The same seed gives the same faults. Off until started. */
export class Chaos {
  readonly events: ChaosEvent[] = [];
  readonly counts: Record<string, number> = {};
  #options: ChaosOptions | null = null;
  #api = new Random(0);
  #webhooks = new Random(0);

  start(options: ChaosOptions): void {
    this.#options = options;
    this.#api = new Random(options.seed);
    this.#webhooks = new Random(options.seed + 1);
  }

  stop(): void {
    this.#options = null;
  }

  get isOn(): boolean {
    return this.#options !== null;
  }

  /** Answers a request, or lets it fail. */
  async around(request: FaultyRequest, answer: () => Promise<void>): Promise<void> {
    if (!this.#options || !this.#api.chance(this.#options.apiFailureRate)) return answer();
    const kind = this.#api.weighted(apiFaults);
    const wait = this.#api.chance(0.05) ? longHang : hang;
    this.#note({ ...request, kind });
    if (kind.endsWith('-after')) await answer();
    if (kind.startsWith('hang')) await sleep(wait, undefined, { ref: false });
    throw failure(kind);
  }

  /** The instant that the answer to a GraphQL request shows, in milliseconds of the real clock; null: now. */
  asOf(request: FaultyRequest): number | null {
    if (!this.#options || !this.#api.chance(this.#options.staleRate)) return null;
    this.#note({ ...request, kind: 'stale' });
    return this.#options.staleAt ?? Date.now() - this.#options.staleBy;
  }

  /** What happens to a delivery. */
  webhookFault(): WebhookFault | undefined {
    if (!this.#options) return undefined;
    const rates = Object.entries(this.#options.webhookRates) as [WebhookFaultKind, number][];
    let left = this.#webhooks.next();
    const kind = rates.find(([, rate]) => (left -= rate) < 0)?.[0];
    if (!kind) return undefined;
    this.#count(`webhook-${kind}`);
    return { kind };
  }

  #note({ method, path, operationName, kind }: FaultyRequest & { kind: ChaosEvent['kind'] }): void {
    this.events.push({ kind, at: Date.now(), method, path, operationName });
    this.#count(kind);
  }

  #count(name: string): void {
    this.counts[name] = (this.counts[name] ?? 0) + 1;
  }
}

function failure(kind: ChaosKind): Error {
  switch (kind) {
    case '500':
      return new GitHubError(500, 'Server Error');
    case '502':
    case '502-after':
      return new GitHubError(502, 'Server Error');
    case 'limit-403':
    case 'limit-429':
      return secondaryLimit(kind === 'limit-403' ? 403 : 429, 1);
    default:
      return new ConnectionReset();
  }
}
