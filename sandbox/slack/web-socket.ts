// The server's half of RFC 6455, as far as Slack's Socket Mode needs it: short text messages.
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

export type Socket = { send(text: string): void; close(): void };

const guid = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/** Accepts a connection. @param heard gets each message. @param closed is called once. */
export function acceptSocket(
  request: IncomingMessage,
  stream: Duplex,
  heard: (text: string) => void,
  closed: () => void,
): Socket {
  const accept = createHash('sha1').update(`${request.headers['sec-websocket-key']}${guid}`).digest('base64');
  stream.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
  );
  let left = Buffer.alloc(0);
  stream.on('data', (chunk: Buffer) => {
    left = Buffer.concat([left, chunk]);
    for (let frame = readFrame(left); frame; frame = readFrame(left)) {
      left = left.subarray(frame.length);
      if (frame.opcode === 1) heard(frame.payload.toString());
      if (frame.opcode === 9) stream.write(frameOf(10, frame.payload));
      if (frame.opcode === 8) stream.end(frameOf(8, frame.payload));
    }
  });
  stream.on('error', () => undefined);
  stream.once('close', closed);
  return {
    send: (text) => void stream.write(frameOf(1, Buffer.from(text))),
    close: () => void stream.destroy(),
  };
}

/** Servers do not mask what they send. */
function frameOf(opcode: number, payload: Buffer): Buffer {
  const { length } = payload;
  const head =
    length < 126
      ? Buffer.from([0x80 | opcode, length])
      : Buffer.from([0x80 | opcode, 126, length >> 8, length & 255]);
  return Buffer.concat([head, payload]);
}

/** The first frame of what arrived; null while it is not whole. Clients mask theirs. */
function readFrame(bytes: Buffer): { opcode: number; payload: Buffer; length: number } | null {
  if (bytes.length < 2) return null;
  const short = bytes[1]! & 127;
  const start = short === 126 ? 4 : short === 127 ? 10 : 2;
  if (bytes.length < start + 4) return null;
  const size =
    short === 126 ? bytes.readUInt16BE(2) : short === 127 ? Number(bytes.readBigUInt64BE(2)) : short;
  const length = start + 4 + size;
  if (bytes.length < length) return null;
  const mask = bytes.subarray(start, start + 4);
  const payload = Buffer.from(bytes.subarray(start + 4, length).map((byte, at) => byte ^ mask[at % 4]!));
  return { opcode: bytes[0]! & 15, payload, length };
}
