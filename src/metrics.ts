import { Counter, Histogram, Registry } from '@prometheus-io/client';

/** What became of a try to write a status: GitHub took it, showed it already, or failed. */
const writeOutcomes = ['written', 'found', 'invalid', 'absent', 'forbidden', 'limited', 'down'] as const;
type WriteOutcome = (typeof writeOutcomes)[number];

/** What became of a try to tell an outgoing webhook: it took it, is tried again, or was given up. */
const deliveryOutcomes = ['delivered', 'retried', 'failed'] as const;

/** So many webhooks are remembered until their statuses are written. Another process may write some. */
const mostHeard = 5000;

/** Methods are free text: those that no route takes count as one. */
const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** `2xx` for 204. Null: there was no answer. */
const classOf = (status: number | null): string =>
  status === null ? 'none' : `${Math.floor(status / 100)}xx`;

/**
 * What this process counts for Prometheus, in memory. Each service has its own, so that several can live in one process.
 * No label has a name that people chose, so the number of series is bounded.
 */
export class Metrics {
  readonly registry = new Registry();

  readonly #requests = this.#histogram(
    'http_request_duration_seconds',
    'How long requests took to answer, by route template and status class',
    [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10],
    ...(['method', 'route', 'status'] as const),
  );
  readonly #webhooks = this.#counter(
    'webhooks_received_total',
    'Webhooks with a valid signature, by event',
    'event',
  );
  readonly #writes = this.#counter(
    'status_writes_total',
    'Tries to write a commit status, by what became of them',
    'outcome',
  );
  readonly #writeDelay = this.#histogram(
    'status_write_delay_seconds',
    'How long written commit statuses waited, from the decision to the answer of GitHub',
    [0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800],
  );
  readonly #failures = this.#counter(
    'job_failures_total',
    'Jobs that failed and are tried again, by task',
    'task',
  );
  readonly #undelivered = this.#counter(
    'webhooks_undelivered_total',
    'Webhooks that GitHub could not deliver, by why: signature, if WEBHOOK_SECRET is wrong, or other',
    'reason',
  );
  readonly #questions = this.#counter(
    'github_requests_total',
    'Requests to the GitHub API, by status class; none: GitHub did not answer',
    'status',
  );
  readonly #deliveries = this.#counter(
    'outgoing_deliveries_total',
    'Tries to tell an outgoing webhook, by what became of them',
    'outcome',
  );
  readonly #deliveryDelay = this.#histogram(
    'outgoing_delivery_delay_seconds',
    'How long it took from an event until an outgoing webhook had accepted it',
    [0.1, 0.25, 0.5, 1, 2, 5, 10, 60, 600, 3600, 86_400],
  );
  readonly #webhookDelay = this.#histogram(
    'webhook_to_status_seconds',
    'How long it took from a webhook about a pull request until this process wrote its commit status',
    [0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800],
  );
  /** When the webhooks came that led to statuses which this process has decided and not written. */
  readonly #heard = new Map<string, number>();

  /** @param tasks the names of those whose failures count from zero. */
  constructor(tasks: readonly string[] = []) {
    // A rate over a counter that begins at 1 does not show its first increase.
    for (const outcome of writeOutcomes) this.#writes.inc({ outcome }, 0);
    for (const outcome of deliveryOutcomes) this.#deliveries.inc({ outcome }, 0);
    for (const reason of ['signature', 'other']) this.#undelivered.inc({ reason }, 0);
    for (const task of tasks) this.#failures.inc({ task }, 0);
    for (const status of ['2xx', '4xx', '5xx', 'none']) this.#questions.inc({ status }, 0);
  }

  #counter<Label extends string>(name: string, help: string, label: Label) {
    return new Counter({ name: `holdfast_${name}`, help, labelNames: [label], registers: [this.registry] });
  }

  #histogram<Label extends string>(name: string, help: string, buckets: number[], ...labelNames: Label[]) {
    const registers = [this.registry];
    return new Histogram({ name: `holdfast_${name}`, help, labelNames, buckets, registers });
  }

  /**
   * Counts an answered request.
   * @param request the template of its route, never its path; milliseconds until it was answered.
   */
  countRequest(request: { method: string; route: string; status: number; milliseconds: number }): void {
    const method = knownMethods.has(request.method) ? request.method : 'other';
    const labels = { method, route: request.route, status: classOf(request.status) };
    this.#requests.observe(labels, request.milliseconds / 1000);
  }

  /** @param event one of a fixed list. */
  countWebhook(event: string): void {
    this.#webhooks.inc({ event });
  }

  /** @param waited milliseconds since the status was decided; null where that is not known. */
  countWritten(waited: number | null): void {
    this.#writes.inc({ outcome: 'written' });
    if (waited !== null) this.#writeDelay.observe(Math.max(0, waited) / 1000);
  }

  /** A status will be written because of a webhook. @param at when that came, in milliseconds since the epoch. */
  noteHeard(sha: string, at: number): void {
    if (this.#heard.has(sha)) return;
    const [oldest] = this.#heard.keys();
    if (this.#heard.size >= mostHeard) this.#heard.delete(oldest!);
    this.#heard.set(sha, at);
  }

  /** A status was written. @param now in milliseconds since the epoch. */
  countHeard(sha: string, now: number): void {
    const at = this.#heard.get(sha);
    if (at !== undefined) this.#webhookDelay.observe(Math.max(0, now - at) / 1000);
    this.#heard.delete(sha);
  }

  /** Counts a try that wrote nothing. */
  countNotWritten(outcome: Exclude<WriteOutcome, 'written'>): void {
    this.#writes.inc({ outcome });
  }

  /** @param waited milliseconds since the event; null where it was not delivered. */
  countDelivery(outcome: (typeof deliveryOutcomes)[number], waited: number | null): void {
    this.#deliveries.inc({ outcome });
    if (waited !== null) this.#deliveryDelay.observe(Math.max(0, waited) / 1000);
  }

  /** GitHub's list has webhooks that failed. @param wronglySigned those that we refused for their signature. */
  countUndelivered(webhooks: number, wronglySigned: number): void {
    this.#undelivered.inc({ reason: 'signature' }, wronglySigned);
    this.#undelivered.inc({ reason: 'other' }, webhooks - wronglySigned);
  }

  countJobFailures(task: string, jobs: number): void {
    this.#failures.inc({ task }, jobs);
  }

  /** @param status of the answer; null where there was none. */
  countGitHubRequest(status: number | null): void {
    this.#questions.inc({ status: classOf(status) });
  }
}
