import { unavailable } from '../errors.ts';

/** What one request holds of the bytes in flight. */
export type Share = {
  /**
   * Raises what the request holds to so many bytes in all; never lowers it.
   * @throws Refusal unavailable where that would be more than there is, or the share was given back.
   */
  claim(bytes: number): void;
  /** Gives everything back. May be called again. */
  release(): void;
};

/** Bounds the bytes of all bodies that are read at the same time. */
export class BytesInFlight {
  readonly #most: number;
  #held = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Bytes that are held now. */
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
