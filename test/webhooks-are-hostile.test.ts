import { createHmac, randomUUID } from 'node:crypto';
import { request, type ClientRequest } from 'node:http';
import { once } from 'node:events';
import { describe, expect, test, vi } from 'vitest';
import { payloads } from '../src/webhooks/payloads.ts';
import { bytesInFlight } from '../src/webhooks/receive-webhook.ts';
import { handledEvents } from '../src/webhooks/handled-events.ts';
import { acmeForAll } from './support/acme.ts';

const acme = acmeForAll();

const mebibyte = 1024 * 1024;
const sign = (body: string) =>
  `sha256=${createHmac('sha256', acme.github.app.webhookSecret).update(body).digest('hex')}`;
const headersFor = (event: string, signature: string) => ({
  'X-GitHub-Delivery': randomUUID(),
  'X-GitHub-Event': event,
  'X-Hub-Signature-256': signature,
});
const deliver = (event: string, payload: unknown) => {
  const body = JSON.stringify(payload);
  return acme.call('POST', '/api/github/webhooks', { body, headers: headersFor(event, sign(body)) });
};

/** A request whose body does not come, or only its beginning. */
function begin(headers: Record<string, string>, length: number | null): ClientRequest {
  const all = { ...headers, ...(length === null ? {} : { 'Content-Length': String(length) }) };
  const sent = request(`${acme.app.url}/api/github/webhooks`, { method: 'POST', headers: all });
  sent.on('error', () => {});
  sent.flushHeaders();
  return sent;
}
const unsigned = () => headersFor('push', `sha256=${'0'.repeat(64)}`);
const heldBytes = (bytes: number) => vi.waitFor(() => expect(bytesInFlight.held).toBe(bytes), 5000);

describe('before the body is read', () => {
  test.each([
    ['X-Hub-Signature-256', 'sha256='],
    ['X-Hub-Signature-256', `sha1=${'0'.repeat(40)}`],
    ['X-Hub-Signature-256', `sha256=${'0'.repeat(63)}`],
    ['X-Hub-Signature-256', `sha256=${'g'.repeat(64)}`],
    ['X-GitHub-Event', 'pull request'],
    ['X-GitHub-Event', 'x'.repeat(65)],
    ['X-GitHub-Delivery', '../etc'],
    ['X-GitHub-Delivery', 'x'.repeat(65)],
  ])('%s: %s is refused', async (name, value) => {
    const sent = begin({ ...unsigned(), [name]: value }, 20 * mebibyte);
    const [response] = await once(sent, 'response');
    expect(response.statusCode).toBe(400);
    expect(bytesInFlight.held).toBe(0);
    sent.destroy();
  });
});

describe('bytes in flight', () => {
  test('beyond 64 MiB are refused with 503, and come free when a sender hangs up', async () => {
    const slow = [24, 24, 14].map((size) => begin(unsigned(), size * mebibyte));
    await heldBytes(62 * mebibyte);
    const refused = begin(unsigned(), 3 * mebibyte);
    const [response] = await once(refused, 'response');
    expect(response.statusCode).toBe(503);
    expect(Number(response.headers['retry-after'])).toBeGreaterThan(0);
    expect(bytesInFlight.held).toBe(62 * mebibyte);
    // Small bodies are still accepted.
    expect((await deliver('ping', { zen: 'Keep it logically awesome.' })).status).toBe(202);
    slow.forEach((sent) => sent.destroy());
    await heldBytes(0);
    refused.destroy();
    expect((await deliver('ping', {})).status).toBe(202);
    expect(bytesInFlight.held).toBe(0);
  });

  test('are counted as they arrive if there is no length', async () => {
    const slow = [24, 24].map((size) => begin(unsigned(), size * mebibyte));
    await heldBytes(48 * mebibyte);
    const chunked = begin(unsigned(), null);
    const answered = once(chunked, 'response');
    chunked.write(Buffer.alloc(17 * mebibyte));
    expect((await answered)[0].statusCode).toBe(503);
    slow.forEach((sent) => sent.destroy());
    await heldBytes(0);
    chunked.destroy();
  });

  test('of a body that is too large, or has a wrong signature, are also freed', async () => {
    const sent = begin(unsigned(), 26 * mebibyte);
    expect((await once(sent, 'response'))[0].statusCode).toBe(413);
    sent.destroy();
    const wrong = await acme.call('POST', '/api/github/webhooks', { body: '{}', headers: unsigned() });
    expect(wrong.status).toBe(401);
    expect(bytesInFlight.held).toBe(0);
  });
});

const sha = 'a'.repeat(40);
const updated_at = '2026-03-01T09:00:00Z';
/** A payload that has everything that any event needs. */
const everything = {
  installation: { id: 7 },
  organization: { id: 8 },
  repository: { id: 987_654_321, owner: { id: 8 } },
  number: 1,
  pull_request: { number: 1, node_id: 'PR_kwDO', updated_at, merged: true },
  check_run: { head_sha: sha },
  merge_group: {
    head_sha: sha,
    head_ref: 'refs/heads/gh-readonly-queue/main/pr-1-a',
    base_ref: 'refs/heads/main',
  },
  id: 5,
  sha,
  context: 'holdfast/freeze',
  state: 'success',
  description: null,
  created_at: '2026-03-01T09:00:00Z',
  commit: { parents: [{ sha }] },
  sender: { id: 3, login: 'ada' },
  deployment: { sha },
  issue: { number: 1, pull_request: {} },
  comment: {
    id: 6,
    body: '/holdfast status',
    created_at: '2026-03-01T09:00:00Z',
    user: { id: 3, login: 'ada', type: 'User' },
    performed_via_github_app: null,
  },
  ref: 'refs/heads/main',
};
type Path = string[];
const pathsIn = (value: unknown): Path[] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([key, inner]) => [
        [key],
        ...pathsIn(inner).map((rest) => [key, ...rest]),
      ])
    : [];
/** A copy with another value at a path; `undefined` leaves it out. */
function withAt(payload: object, [key, ...rest]: Path, value: unknown): object {
  const inner = (payload as Record<string, object>)[key!]!;
  return { ...payload, [key!]: rest.length === 0 ? value : withAt(inner, rest, value) };
}
const odd = [undefined, null, [], 'x\0\ud800', 1.5, { toString: 1 }];

describe('a payload with a good signature', () => {
  test.each([[null], [[]], ['text'], [5], [true]])('that is %j: 400', async (payload) => {
    for (const event of ['pull_request', 'ping']) {
      const answer = await deliver(event, payload);
      expect([answer.status, answer.body.detail]).toEqual([400, 'The payload is not a JSON object.']);
    }
  });

  test.each([
    ['pull_request.opened', ['repository'], undefined, 'repository: Field required'],
    ['pull_request.opened', ['repository', 'id'], 'one', 'repository.id: Send a number, not a string.'],
    ['status', ['sender', 'login'], undefined, 'sender.login: Field required'],
    ['push', ['ref'], null, 'ref: Send a string, not null.'],
    [
      'check_run.completed',
      ['check_run', 'head_sha'],
      'main',
      'check_run.head_sha: Send a SHA in hexadecimal.',
    ],
    ['installation.created', ['installation'], null, 'installation: Send a JSON object, not null.'],
  ])('of %s with a bad %j gets an answer with the error', async (handled, path, value, said) => {
    const [event, action] = handled.split('.') as [string, string | undefined];
    const answer = await deliver(event, withAt({ ...everything, action }, path, value));
    expect(answer.status).toBe(400);
    expect(answer.body.detail).toBe(`The payload is not one of the event ${event}: ${said}`);
  });

  // One action of each event: the checks are the event's.
  const events = [...new Map(handledEvents.map((each) => [each.split('.')[0]!, each])).values()];
  test.each(events)('of %s is never a 500, for any fields', async (handled) => {
    const [event, action] = handled.split('.') as [string, string | undefined];
    const payload = { ...everything, ...(action && { action }) };
    expect((await deliver(event, payload)).status).toBe(202);
    const answers = new Set<number>();
    const read = new Set(['action', ...Object.keys(payloads[event as keyof typeof payloads].shape)]);
    for (const path of pathsIn(payload).filter(([key]) => read.has(key!)))
      for (const value of odd) answers.add((await deliver(event, withAt(payload, path, value))).status);
    expect([...answers].toSorted()).toEqual([202, 400]);
  });

  test.each(['constructor', '__proto__', '__defineGetter__', 'toString', 'hasOwnProperty'])(
    'of an event named %s does nothing',
    async (event) => {
      expect((await deliver(event, everything)).status).toBe(202);
    },
  );
});
