import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { accountJson, organizationJson } from '../json/account-json.ts';
import { repositoryJson } from '../json/repository-json.ts';
import { installationNodeId } from '../state/ids.ts';
import { WebhookFaults } from './webhook-faults.ts';
import { webhooks as watched } from '../watched.ts';
import type { World } from '../state/world.ts';
import type { Account, Installation, Repository } from '../state/model.ts';

export interface Delivery {
  id: number;
  guid: string;
  event: string;
  action: string | null;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests read payloads of every event
  payload: any;
  redelivery: boolean;
  installationId: number | null;
  repositoryId: number | null;
  deliveredAt: Date;
  /** Null until answered. Stays null if it was dropped or nothing listened. */
  statusCode: number | null;
  duration: number;
  outcome: 'sending' | 'answered' | 'dropped' | 'failed';
}

export interface WebhookEvent {
  event: string;
  action?: string;
  sender: Account;
  repository?: Repository;
  /** Only if it is not the repository's. */
  installation?: Installation;
  payload?: Record<string, unknown>;
}

/** GitHub gives up on an answer after ten seconds. */
const answerWithin = 10_000;
/** Every App gets these, no matter what it subscribes to. */
const automatic = new Set(['installation', 'installation_repositories', 'github_app_authorization']);
/** These are about the App itself, and name no installation. */
const withoutInstallation = new Set(['github_app_authorization']);

/** Posts a webhook to an address. @returns the status of the answer. */
export type Send = (
  target: string,
  webhook: { headers: Record<string, string>; body: string; signal: AbortSignal },
) => Promise<number>;

/** Signs, sends and records webhooks. Sending never delays the change that caused it. */
export class Webhooks {
  readonly deliveries: Delivery[] = [];
  readonly faults = new WebhookFaults();
  target: string | null;
  readonly #world: World;
  readonly #inFlight = new Set<Promise<void>>();
  readonly #closing = new AbortController();
  #overtaken: { promise: Promise<unknown>; resolve: (value?: unknown) => void } | null = null;

  readonly #post: Send;

  constructor(world: World, target: string | null, send: Send = sendBySocket) {
    this.#world = world;
    this.target = target;
    this.#post = send;
  }

  /** Sends an event to the App if it is installed there, not suspended, and subscribed. */
  emit({ event, action, sender, repository, payload, ...given }: WebhookEvent): void {
    const world = this.#world;
    const installation = given.installation ?? (repository && world.installationFor(repository));
    if (!installation && !withoutInstallation.has(event)) return;
    if (!automatic.has(event) && (installation?.suspendedAt || !world.app.events.includes(event))) return;
    const owner = repository?.owner;
    const body = {
      ...(action && { action }),
      ...(repository && { repository: repositoryJson(world, repository) }),
      ...(owner?.type === 'Organization' && { organization: organizationJson(world, owner) }),
      ...(installation && {
        installation: { id: installation.id, node_id: installationNodeId(installation.id) },
      }),
      sender: accountJson(world, sender),
      ...payload,
    };
    this.#record({
      guid: randomUUID(),
      event,
      action: action ?? null,
      payload: JSON.parse(JSON.stringify(body)),
      redelivery: false,
      installationId: installation?.id ?? null,
      repositoryId: repository?.id ?? null,
    });
  }

  /** Sends a delivery again under its own GUID, like "Redeliver". Resolves when it is answered. */
  async redeliver(guid: string): Promise<Delivery> {
    const first = this.deliveries.find((delivery) => delivery.guid === guid);
    if (!first) throw new Error(`No delivery ${guid}`);
    const again = this.#new({ ...first, redelivery: true });
    await this.#track(this.#send(again));
    return again;
  }

  /** Resolves when no delivery is in flight, including those that answers cause. */
  async settled(): Promise<void> {
    while (this.#inFlight.size > 0) {
      this.#overtaken?.resolve();
      await Promise.all(this.#inFlight);
    }
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.settled();
  }

  #record(facts: Omit<Delivery, 'id' | 'deliveredAt' | 'statusCode' | 'duration' | 'outcome'>): void {
    const delivery = this.#new(facts);
    const fault = this.faults.take(delivery.event, delivery.action);
    if (fault?.kind === 'drop') {
      delivery.outcome = 'dropped';
    } else if (fault?.kind === 'lose') {
      delivery.outcome = 'failed';
    } else if (fault?.kind === 'repeat') {
      void this.#track(this.#send(delivery).then(() => this.#send(this.#new(facts))));
    } else if (fault?.kind === 'delay') {
      void this.#track(this.#pause(fault.ms ?? 100).then(() => this.#send(delivery)));
    } else if (fault?.kind === 'reorder') {
      const gate = (this.#overtaken ??= Promise.withResolvers());
      const released = Promise.race([gate.promise, this.#pause(fault.ms ?? 250)]);
      void this.#track(released.then(() => this.#send(delivery)));
    } else {
      const gate = this.#overtaken;
      this.#overtaken = null;
      void this.#track(this.#send(delivery).then(() => gate?.resolve()));
    }
  }

  #new(facts: Omit<Delivery, 'id' | 'deliveredAt' | 'statusCode' | 'duration' | 'outcome'>): Delivery {
    const delivery: Delivery = {
      ...facts,
      id: this.#world.ids.next('delivery', 12_000_000_000),
      deliveredAt: this.#world.now(),
      statusCode: null,
      duration: 0,
      outcome: 'sending',
    };
    this.deliveries.push(delivery);
    return delivery;
  }

  #track(work: Promise<void>): Promise<void> {
    const tracked = work.finally(() => this.#inFlight.delete(tracked));
    this.#inFlight.add(tracked);
    return tracked;
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#closing.signal }).catch(() => undefined);
  }

  async #send(delivery: Delivery): Promise<void> {
    const began = performance.now();
    const body = JSON.stringify(delivery.payload);
    try {
      if (!this.target) throw new Error('No webhook URL is set');
      const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(answerWithin)]);
      const headers = this.#headers(delivery, body);
      if (watched.hasSubscribers)
        watched.publish({ event: delivery.event, payload: delivery.payload, headers });
      delivery.statusCode = await this.#post(this.target, { headers, body, signal });
      delivery.outcome = 'answered';
    } catch {
      delivery.outcome = 'failed';
    }
    delivery.duration = performance.now() - began;
  }

  #headers({ event, guid }: Delivery, body: string): Record<string, string> {
    const { id, webhookSecret } = this.#world.app;
    return {
      accept: '*/*',
      'content-type': 'application/json',
      'user-agent': 'GitHub-Hookshot/5a0d1b2',
      'x-github-delivery': guid,
      'x-github-event': event,
      'x-github-hook-id': String(id),
      'x-github-hook-installation-target-id': String(id),
      'x-github-hook-installation-target-type': 'integration',
      'x-hub-signature-256': `sha256=${createHmac('sha256', webhookSecret).update(body).digest('hex')}`,
    };
  }
}

/**
 * Each has a new connection, so that a restarted service does not miss one over a dead connection. Not `fetch`, whose
 * agents cost more.
 */
export const sendBySocket: Send = async (target, { headers, body, signal }) => {
  const sent = request(target, { method: 'POST', headers, signal, agent: false });
  // While the answer is read, nothing else handles it. The answer fails with it.
  sent.on('error', () => {});
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  await once(response.resume(), 'end');
  return response.statusCode!;
};
