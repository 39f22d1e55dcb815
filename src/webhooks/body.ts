/** The maximum size of GitHub's webhooks. */
export const largest = 25 * 1024 * 1024;

/**
 * What has arrived of a webhook's body. It grows in place, and its memory goes back to the system as soon as it is freed:
 * what waits for V8 to collect it would take several times what the door lets in.
 */
export class Body {
  readonly #bytes: ArrayBuffer;

  /** @param announced bytes; they take no memory before they arrive. */
  constructor(announced = largest) {
    this.#bytes = new ArrayBuffer(0, { maxByteLength: Math.min(announced, largest) });
  }

  get size(): number {
    return this.#bytes.byteLength;
  }

  /** Copies a chunk, which cannot be used any more. @throws if that is more than was announced. */
  add(chunk: Uint8Array<ArrayBuffer>): void {
    const { size } = this;
    this.#bytes.resize(size + chunk.length);
    new Uint8Array(this.#bytes, size).set(chunk);
    const isAlone = chunk.byteLength === chunk.buffer.byteLength;
    if (isAlone) chunk.buffer.transfer(0);
  }

  /** The text of it, and frees it. */
  take(): string {
    const text = Buffer.from(this.#bytes).toString('utf8');
    this.free();
    return text;
  }

  free(): void {
    this.#bytes.resize(0);
  }
}
