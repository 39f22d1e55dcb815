import { randomUUID } from 'node:crypto';
import { Random } from '../../sandbox/http/random.ts';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- answers of every shape
export type Answer = { status: number; body: any; tries: number };

const givesUpAfter = 120_000;
const pause = 300;
const answerWithin = 20_000;
const breakRate = 0.2;

/**
 * A client as it should be: it takes any web process, and asks again until it has a clear answer. Its POSTs carry
 * an `Idempotency-Key`, its other calls may be made twice.
 */
export class ApiClient {
  /** How often each status was answered; 0 stands for no answer. */
  readonly statuses: Record<number, number> = {};
  /** Who asks: keys of the two scopes, and the token of a person who can write. */
  readonly keys = { admin: '', ci: '', writer: '' };
  /** Whether its own connections break, some of them, while it waits for an answer. */
  isFlaky = false;
  readonly #webs: string[];
  readonly #random: Random;

  constructor(webs: string[], seed: number) {
    this.#webs = webs;
    this.#random = new Random(seed);
  }

  async call(
    method: string,
    path: string,
    body?: object,
    as: keyof ApiClient['keys'] = 'admin',
  ): Promise<Answer> {
    const deadline = Date.now() + givesUpAfter;
    const key = randomUUID();
    for (let tries = 1; ; tries += 1) {
      const answer = await this.#try(method, path, body, { key, credential: this.keys[as] });
      this.statuses[answer.status] = (this.statuses[answer.status] ?? 0) + 1;
      if (isClear(answer)) return { ...answer, tries };
      if (Date.now() > deadline) {
        throw new Error(`${method} ${path}: no clear answer, the last ${JSON.stringify(answer)}`);
      }
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }

  async #try(
    method: string,
    path: string,
    body: object | undefined,
    { key, credential }: { key: string; credential: string },
  ) {
    const web = this.#webs[this.#random.between(0, this.#webs.length - 1)]!;
    const breaks = this.isFlaky && this.#random.chance(breakRate);
    const patience = breaks ? this.#random.between(3, 40) : answerWithin;
    try {
      const response = await fetch(web + path, {
        method,
        headers: {
          Authorization: `Bearer ${credential}`,
          connection: 'close',
          ...(body && { 'Content-Type': 'application/json' }),
          ...(method === 'POST' && { 'Idempotency-Key': key }),
        },
        body: body && JSON.stringify(body),
        signal: AbortSignal.timeout(patience),
      });
      const text = await response.text();
      return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
    } catch {
      return { status: 0, body: undefined };
    }
  }
}

/** No answer, a failing server or GitHub, a request still in progress and a limit say nothing about what was done. */
function isClear({ status, body }: { status: number; body: { detail?: unknown } | undefined }): boolean {
  if (status === 409) return !/concurrent change|in progress/.test(String(body?.detail));
  return status !== 0 && status < 500 && status !== 429;
}
