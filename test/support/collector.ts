import { Writable } from 'node:stream';

/** A stream that keeps what is written to it. */
export function collector() {
  let text = '';
  const stream = new Writable({
    write(chunk, _encoding, done) {
      text += String(chunk);
      done();
    },
  });
  return { stream, text: () => text };
}
