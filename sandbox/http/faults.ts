import { setTimeout as sleep } from 'node:timers/promises';
import { GitHubError } from './github-error.ts';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { TokenKind } from './authenticate.ts';
import { secondaryLimit } from './write-limit.ts';

export interface FaultyRequest {
  method: string;
  path: string;
  tokenKind: TokenKind;
  /** GraphQL only. */
  operationName?: string;
}

export type FaultMatch = ((request: FaultyRequest) => boolean) | { method?: string; path?: RegExp };

/** `reset-after`: it is done, and the answer never arrives. */
export type FaultKind =
  'answer' | 'status' | 'delay' | 'reset' | 'reset-after' | 'secondary-limit' | 'primary-limit' | 'partial';

/** What it would answer. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a fault looks into bodies of every shape
type RealAnswer = { status: number; body: any };

export interface Fault {
  /** By default every request. */
  match?: FaultMatch;
  /** How many requests it hits; by default all, until it is removed. */
  times?: number;
  kind: FaultKind;
  /** `status`: default 500. The limits: default 403; GitHub also uses 429, and GraphQL 200 for the secondary one. */
  status?: number;
  /** `answer`: what it says in the place of the real answer; null: that. */
  answer?: (real: RealAnswer, request: FaultyRequest) => { status: number; body: unknown } | null;
  /** `delay`: default 100. */
  ms?: number;
  /** `secondary-limit`: seconds in `retry-after`, null for none; `primary-limit`: seconds to the reset. Default 60. */
  retryAfter?: number | null;
  /** `status`: the message of the answer. */
  words?: string;
  /** `secondary-limit`: in the words of older Enterprise Servers. */
  isOld?: boolean;
  /** `partial`: `acme/web#3` for each pull request whose `field` is null in GraphQL, with an error. */
  pullRequests?: string[];
  /** `partial`: default `files`. */
  field?: string;
}

/** Thrown to cut the connection. */
export class ConnectionReset extends Error {}

/** The faults of the API. */
export class Faults {
  #faults: (Fault & { ended: AbortController })[] = [];
  down: false | '502' | 'reset' = false;
  readonly #now: () => Date;

  constructor(now: () => Date) {
    this.#now = now;
  }

  /** `remove` ends its delays at once. */
  add(fault: Fault): { remove(): void } {
    const own = { ...fault, ended: new AbortController() };
    this.#faults.push(own);
    return { remove: () => this.#end((each) => each === own) };
  }

  clear(): void {
    this.#end(() => true);
  }

  #end(isMeant: (fault: Fault) => boolean): void {
    for (const fault of this.#faults) if (isMeant(fault)) fault.ended.abort();
    this.#faults = this.#faults.filter((fault) => !isMeant(fault));
  }

  /**
   * Applies the first fault that hits the request: waits, throws, or does nothing.
   * @returns whether its answer must not arrive.
   */
  async strike(request: FaultyRequest): Promise<boolean> {
    if (this.down === 'reset') throw new ConnectionReset();
    if (this.down) throw new GitHubError(502, 'Server Error');
    const fault = this.#faults.find(
      (each) => !['partial', 'answer'].includes(each.kind) && matches(each, request),
    );
    if (!fault) return false;
    use(fault);
    if (fault.kind === 'reset-after') return true;
    if (fault.kind === 'delay')
      await sleep(fault.ms ?? 100, undefined, { signal: fault.ended.signal }).catch(() => {});
    else throw failure(fault, request, this.#now());
    return false;
  }

  /** The answers that faults put in the place of the real one; null for none. */
  async distort(request: FaultyRequest, real: Response): Promise<Response | null> {
    const faults = this.#faults.filter((each) => each.kind === 'answer' && matches(each, request));
    if (faults.length === 0) return null;
    const text = await real.clone().text();
    const shown = { status: real.status, body: text === '' ? null : JSON.parse(text) };
    for (const fault of faults) {
      const told = fault.answer!(shown, request);
      if (told === null) continue;
      use(fault);
      return told.status === 204
        ? new Response(null, told)
        : Response.json(told.body, { status: told.status });
    }
    return null;
  }

  /** Whether GraphQL must withhold a field of a pull request. */
  withholds(pullRequest: string, field: string): boolean {
    const fault = this.#faults.find(
      (each) =>
        each.kind === 'partial' &&
        (each.times ?? 1) > 0 &&
        (each.field ?? 'files') === field &&
        each.pullRequests?.some((name) => name.toLowerCase() === pullRequest.toLowerCase()),
    );
    if (fault) use(fault);
    return fault !== undefined;
  }
}

function use(fault: Fault): void {
  if (fault.times !== undefined) fault.times -= 1;
}

function matches({ match, times }: Fault, request: FaultyRequest): boolean {
  if ((times ?? 1) <= 0) return false;
  if (typeof match === 'function') return match(request);
  const { method = request.method, path = /^/ } = match ?? {};
  return method.toUpperCase() === request.method && path.test(request.path);
}

function failure(
  { kind, status, retryAfter = 60, isOld, words }: Fault,
  { path }: FaultyRequest,
  now: Date,
): Error {
  if (kind === 'reset') return new ConnectionReset();
  const code = (status ?? (kind === 'status' ? 500 : 403)) as ContentfulStatusCode;
  if (kind === 'secondary-limit') {
    return secondaryLimit(code as 200 | 403 | 429, retryAfter, isOld);
  }
  if (kind === 'primary-limit') {
    const reset = Math.ceil(now.getTime() / 1000) + (retryAfter ?? 60);
    const headers = {
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String(reset),
      'x-ratelimit-resource': path === '/graphql' ? 'graphql' : 'core',
    };
    return new GitHubError(code, 'API rate limit exceeded for installation.', {}, headers);
  }
  const told = code === 502 ? 'Server Error' : `The sandbox was told to answer ${code}`;
  return new GitHubError(code, words ?? told);
}
