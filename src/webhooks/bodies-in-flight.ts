import { unavailable } from '../errors.ts';

const kibibyte = 1024;
const mebibyte = 1024 * kibibyte;

// Bodies are read before anybody knows who sent them, so what is in flight is limited. The limits nest: nobody can take
// what is kept for another.

/** The maximum size of GitHub's webhooks. */
export const largestBody = 25 * mebibyte;
/** The bytes of all webhooks that a process reads at once. */
const mostBytesInFlight = 64 * mebibyte;
/** What one network may take of them. GitHub's own addresses are not limited by this. */
const mostOfOne = mostBytesInFlight / 8;
/** What is kept for GitHub's own addresses. */
const keptForGitHub = 16 * mebibyte;
/** Nearly all bodies are below this size, and this much is kept for them. */
const small = 256 * kibibyte;
const keptForSmall = 16 * mebibyte;

/** What a body counts among the large ones: all that it has, once it is one. */
const largeOf = (bytes: number): number => (bytes > small ? bytes : 0);

type Sender = { network: string; isGitHub: boolean };

/** The share of one request in the bytes in flight. */
export type SenderShare = {
  /** @throws Refusal unavailable if these bytes, which have arrived, exceed a limit, or the share was given back. */
  claim(bytes: number): void;
  /** Gives the share back. Safe to call again. */
  release(): void;
};

/** Limits the total bytes of all bodies that are being read. */
export class BodiesInFlight {
  #bytes = 0;
  #ofOthers = 0;
  #large = 0;
  readonly #byNetwork = new Map<string, number>();

  /** The bytes in flight now. */
  get bytes(): number {
    return this.#bytes;
  }

  open({ network, isGitHub }: Sender): SenderShare {
    let own = 0;
    let isOpen = true;
    const claim = (bytes: number) => {
      const large = largeOf(own + bytes) - largeOf(own);
      const ofNetwork = (this.#byNetwork.get(network) ?? 0) + bytes;
      const isFull =
        this.#bytes + bytes > mostBytesInFlight ||
        (large > 0 && this.#large + large > mostBytesInFlight - keptForSmall) ||
        (!isGitHub && (ofNetwork > mostOfOne || this.#ofOthers + bytes > mostBytesInFlight - keptForGitHub));
      if (!isOpen || isFull)
        throw unavailable('Too many webhooks arrive at once. Send this one again in a moment.', 5);
      own += bytes;
      this.#bytes += bytes;
      this.#large += large;
      if (isGitHub) return;
      this.#ofOthers += bytes;
      this.#byNetwork.set(network, ofNetwork);
    };
    const release = () => {
      isOpen = false;
      this.#bytes -= own;
      this.#large -= largeOf(own);
      if (!isGitHub) {
        this.#ofOthers -= own;
        const rest = (this.#byNetwork.get(network) ?? 0) - own;
        if (rest > 0) this.#byNetwork.set(network, rest);
        else this.#byNetwork.delete(network);
      }
      own = 0;
    };
    return { claim, release };
  }
}

/**
 * What has arrived of a webhook's body. It grows in place, and its memory goes back to the system as soon as it is freed:
 * what waits for V8 to collect it would take several times the limit.
 */
export class Body {
  readonly #content: ArrayBuffer;

  /** @param announced bytes; they take no memory before they arrive. */
  constructor(announced = largestBody) {
    this.#content = new ArrayBuffer(0, { maxByteLength: Math.min(announced, largestBody) });
  }

  get size(): number {
    return this.#content.byteLength;
  }

  /** Copies a chunk, which cannot be used any more. @throws if that is more than was announced. */
  add(chunk: Uint8Array<ArrayBuffer>): void {
    const { size } = this;
    this.#content.resize(size + chunk.length);
    new Uint8Array(this.#content, size).set(chunk);
    const isAlone = chunk.byteLength === chunk.buffer.byteLength;
    if (isAlone) chunk.buffer.transfer(0);
  }

  /** The text of it, and frees it. */
  take(): string {
    const text = Buffer.from(this.#content).toString('utf8');
    this.free();
    return text;
  }

  free(): void {
    this.#content.resize(0);
  }
}
