/**
 * What can go wrong between GitHub and the service. `drop`: GitHub never sends it. `lose`: GitHub sends it, and it does
 * not arrive, which the list of deliveries shows. `reorder`: the next delivery overtakes it.
 */
export type WebhookFaultKind = 'drop' | 'lose' | 'repeat' | 'delay' | 'reorder';

export interface WebhookFault {
  kind: WebhookFaultKind;
  event?: string;
  action?: string;
  /** How many deliveries it hits; by default all, until it is removed. */
  times?: number;
  /** For `delay` (default 100), and how long `reorder` waits for another delivery (default 250). */
  ms?: number;
}

/** The webhook faults in force. */
export class WebhookFaults {
  #faults: WebhookFault[] = [];
  /** Asked if none of the faults hits. */
  chance: () => WebhookFault | undefined = () => undefined;

  add(fault: WebhookFault): { remove(): void } {
    const own = { ...fault };
    this.#faults.push(own);
    return { remove: () => (this.#faults = this.#faults.filter((each) => each !== own)) };
  }

  clear(): void {
    this.#faults = [];
  }

  /** The fault that hits this delivery. Counts it as used. */
  take(event: string, action: string | null): WebhookFault | undefined {
    const fault = this.#faults.find(
      (each) =>
        (each.times ?? 1) > 0 &&
        (each.event === undefined || each.event === event) &&
        (each.action === undefined || each.action === action),
    );
    if (fault?.times !== undefined) fault.times -= 1;
    return fault ?? this.chance();
  }
}
