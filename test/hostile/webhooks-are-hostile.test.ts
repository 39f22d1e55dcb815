import { createHmac, randomUUID } from 'node:crypto';
import { request, type ClientRequest } from 'node:http';
import { once } from 'node:events';
import { BlockList } from 'node:net';
import { describe, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { inFlight } from '../../src/webhooks/receive-webhook.ts';
import { actionsOf, payloads } from '../../src/webhooks/handled-events.ts';
import { acmeForAll } from '../support/acme.ts';
import { bearSlowBodies } from '../support/patience.ts';

// The webhooks of the sandbox come from this machine, which is one of GitHub's there. Strangers come through it, too.
const trustedProxies = new BlockList();
trustedProxies.addAddress('127.0.0.1');
const acme = acmeForAll({ trustedProxies });

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
const unsigned = () => ({
  ...headersFor('push', `sha256=${'0'.repeat(64)}`),
  'X-Forwarded-For': '198.51.100.1',
});
const heldBytes = (bytes: number) => vi.waitFor(() => expect(inFlight.bytes).toBe(bytes));

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
    expect(inFlight.bytes).toBe(0);
    sent.destroy();
  });
});

describe('what is in flight', () => {
  const enforcement = async (repository: string) =>
    (await acme.call('GET', `/v1/repos/${repository}/enforcement`, { as: acme.admin })).body;

  test('announced bytes take nothing: three sockets and some bytes keep nobody out', async () => {
    bearSlowBodies();
    const slow = [25, 25, 25].map((size) => begin(unsigned(), size * mebibyte));
    for (const sent of slow) sent.write('{"a":1');
    await heldBytes(18);
    expect((await deliver('ping', { padding: 'x'.repeat(2 * mebibyte) })).status).toBe(202);
    slow.forEach((sent) => sent.destroy());
    await heldBytes(0);
  });

  test('more than an eighth from one network is refused, told, and looked at within 8 s', async () => {
    bearSlowBodies();
    const repository = await acme.repository('crowded', [{}]);
    const slow = [begin(unsigned(), 8 * mebibyte), begin(unsigned(), null)];
    const answered = once(slow[1]!, 'response');
    slow[0]!.write(Buffer.alloc(5 * mebibyte));
    await heldBytes(5 * mebibyte);
    slow[1]!.write(Buffer.alloc(4 * mebibyte));
    const [response] = await answered;
    expect(response.statusCode).toBe(503);
    expect(Number(response.headers['retry-after'])).toBeGreaterThan(0);
    const at = new Date(acme.clock.now()).toISOString();
    expect((await enforcement(repository)).webhooks_refused_at).toBe(at);

    // GitHub's own webhook fails meanwhile, and nobody sends it again.
    acme.github.webhookFaults.add({ kind: 'lose', event: 'pull_request', action: 'labeled', times: 1 });
    await acme.freeze(repository, { matching_conditions: ['label=risky'] });
    acme.github.label(repository, 1, 'risky');
    expect(acme.frozen(repository)).toEqual([]);
    slow.forEach((sent) => sent.destroy());
    await heldBytes(0);
    await acme.advanceTo(new Date(acme.clock.now() + 8_000));
    expect(acme.frozen(repository)).toEqual([1]);
    await acme.advanceTo(new Date(acme.clock.now() + 60_000));
    expect(await enforcement(repository)).not.toHaveProperty('webhooks_refused_at');
  });

  test('what comes from addresses of GitHub is more than an eighth', async () => {
    bearSlowBodies();
    const stranger = begin(unsigned(), 4 * mebibyte);
    stranger.write(Buffer.alloc(2 * mebibyte));
    await vi.waitFor(() => expect(acme.github.requests.map(({ path }) => path)).toContain('/meta'));
    await vi.waitFor(async () => {
      expect((await deliver('ping', { padding: 'x'.repeat(10 * mebibyte) })).status).toBe(202);
    });
    stranger.destroy();
    await heldBytes(0);
  });

  test('a body that comes too slowly is ended', async () => {
    const sent = begin(unsigned(), mebibyte);
    sent.write('{"a":');
    const [response] = await once(sent, 'response');
    expect(response.statusCode).toBe(408);
    await heldBytes(0);
    sent.destroy();
  });

  test('a body that is too large, or has a wrong signature, takes nothing afterwards', async () => {
    const sent = begin(unsigned(), 26 * mebibyte);
    expect((await once(sent, 'response'))[0].statusCode).toBe(413);
    sent.destroy();
    const wrong = await acme.call('POST', '/api/github/webhooks', { body: '{}', headers: unsigned() });
    expect(wrong.status).toBe(401);
    expect(inFlight.bytes).toBe(0);
  });
});

const sha = 'a'.repeat(40);
const updated_at = '2026-03-01T09:00:00Z';
/** A payload that has everything that any event needs. */
const everything = {
  installation: { id: 7 },
  organization: { id: 8 },
  repository: { id: 987_654_321, full_name: 'acme/web', owner: { id: 8 } },
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
  deployment_status: { state: 'queued' },
  workflow_run: { id: 9 },
  environment: 'production',
  deployment_callback_url: 'https://api.github.com/repos/acme/web/actions/runs/9/deployment_protection_rule',
  issue: { number: 1, pull_request: {} },
  comment: {
    id: 6,
    body: '/holdfast status',
    created_at: '2026-03-01T09:00:00Z',
    user: { id: 3, login: 'ada', type: 'User' },
    performed_via_github_app: null,
  },
  review: {
    id: 11,
    body: '/holdfast status',
    submitted_at: '2026-03-01T09:00:00Z',
    user: { id: 3, login: 'ada', type: 'User' },
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
/** The paths of what a schema does not let be left out. */
const needed = (schema: unknown, at: Path = []): Path[] =>
  schema instanceof z.ZodObject
    ? Object.entries(schema.shape as Record<string, z.ZodType>).flatMap(([key, inner]) =>
        inner.isOptional() ? [] : [[...at, key], ...needed(inner, [...at, key])],
      )
    : [];
const odd = [undefined, null, [], 'x\0\ud800', 1.5, { toString: 1 }];

describe('a payload with a good signature', () => {
  test.each([[null], [[]], ['text'], [5], [true]])('that is %j: 400', async (payload) => {
    for (const event of ['pull_request', 'ping']) {
      const answer = await deliver(event, payload);
      expect([answer.status, answer.body.detail]).toEqual([400, 'The payload is not a JSON object.']);
    }
  });

  test.each([
    ['pull_request.opened', ['action'], undefined, 'action: Field required'],
    ['installation.created', ['action'], undefined, 'action: Field required'],
    ['pull_request.opened', ['repository'], undefined, 'repository: Field required'],
    ['pull_request.opened', ['repository', 'id'], 'one', 'repository.id: Send a number, not a string.'],
    ['status', ['sender', 'login'], undefined, 'sender.login: Field required'],
    ['push', ['ref'], null, 'ref: Send a string, not null.'],
    ['push', ['ref'], '', 'ref: Send text that is not empty.'],
    [
      'pull_request.opened',
      ['pull_request', 'node_id'],
      '',
      'pull_request.node_id: Send text that is not empty.',
    ],
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
  const events = Object.entries(actionsOf).map(([event, actions]) =>
    [event, actions?.at(-1)].filter(Boolean).join('.'),
  );
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

  test.each(events)('of %s without a field that it needs gets an answer that names it', async (handled) => {
    const [event, action] = handled.split('.') as [keyof typeof payloads, string | undefined];
    const payload = { ...everything, ...(action && { action }) };
    for (const path of needed(payloads[event])) {
      const answer = await deliver(event, withAt(payload, path, undefined));
      expect([path, answer.status]).toEqual([path, 400]);
      expect(answer.body.detail).toContain(`${path.join('.')}: Field required`);
    }
  });

  test.each(['constructor', '__proto__', '__defineGetter__', 'toString', 'hasOwnProperty'])(
    'of an event named %s does nothing',
    async (event) => {
      expect((await deliver(event, everything)).status).toBe(202);
    },
  );
});
