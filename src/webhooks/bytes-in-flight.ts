import { unavailable } from '../errors.ts';

/** The share of one request in the bytes in flight. */
export type Share = {
  /**
   * Raises the share of the request to this total. Never lowers it.
   * @throws Refusal unavailable if that exceeds the limit, or the share was given back.
   */
  claim(bytes: number): void;
  /** Gives the share back. Safe to call again. */
  release(): void;
};

/** Limits the total bytes of all bodies that are being read. */
export class BytesInFlight {
  readonly #most: number;
  #held = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** The bytes in flight now. */
  get held(): number {
    return this.#held;
  }

  open(): Share {
    let own = 0;
    let isOpen = true;
    return {
      claim: (bytes) => {
        const more = Math.max(0, bytes - own);
        if (!isOpen || this.#held + more > this.#most)
          throw unavailable('Too many webhooks arrive at once. Send this one again in a moment.', 5);
        own += more;
        this.#held += more;
      },
      release: () => {
        isOpen = false;
        this.#held -= own;
        own = 0;
      },
    };
  }
}
