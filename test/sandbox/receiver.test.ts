import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  hangs,
  isGone,
  isTooBusy,
  type Receiver,
  redirectsTo,
  resets,
  startReceiver,
} from '../../sandbox/receiver.ts';

const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
let now = new Date('2026-03-01T09:00:00Z');
let receiver: Receiver;
beforeEach(async () => {
  now = new Date('2026-03-01T09:00:00Z');
  receiver = await startReceiver({ now: () => now });
});
afterEach(() => receiver.close());

const send = (headers = {}) =>
  fetch(receiver.url, { method: 'POST', body: '{"a":1}', headers, redirect: 'manual' });
const signedAt = (at: Date, key = secret) => ({
  'webhook-id': 'one',
  'webhook-timestamp': String(at.getTime() / 1000),
  'webhook-signature': new Webhook(key).sign('one', at, '{"a":1}'),
});

test('it accepts only what is signed with its secret, by its own time', async () => {
  receiver.require(secret);
  expect((await send(signedAt(now))).status).toBe(204);
  expect((await send()).status).toBe(401);
  expect((await send(signedAt(now, `whsec_${Buffer.alloc(24, 8).toString('base64')}`))).status).toBe(401);
  expect((await send(signedAt(new Date('2026-03-01T08:54:00Z')))).status).toBe(401);
  expect(receiver.arrivals.map(({ signed }) => signed)).toEqual([true, false, false, false]);
  expect(receiver.accepted()).toMatchObject([{ body: { a: 1 }, bytes: 7, at: now }]);
});

test('it fails, redirects, is too busy and is gone, as it is told, and then accepts again', async () => {
  receiver.next({ status: 503 }, redirectsTo('http://127.0.0.1/'), isTooBusy(120), isGone);
  const answers = [await send(), await send(), await send(), await send(), await send()];
  expect(answers.map(({ status }) => status)).toEqual([503, 302, 429, 410, 204]);
  expect(answers[1]!.headers.get('location')).toBe('http://127.0.0.1/');
  expect(answers[2]!.headers.get('retry-after')).toBe('120');
});

test('it hangs until it is released, and closes connections', async () => {
  receiver.now(hangs);
  const hanging = send();
  await receiver.hasHeard(1);
  expect(receiver.accepted()).toEqual([]);
  receiver.release();
  expect((await hanging).status).toBe(204);
  receiver.now(resets);
  await expect(send()).rejects.toThrow();
});
