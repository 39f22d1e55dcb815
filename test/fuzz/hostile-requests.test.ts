import fc from 'fast-check';
import { request } from 'node:http';
import { beforeAll, expect, test } from 'vitest';
import { endpoints } from '../../src/api/endpoints.ts';
import { acmeForAll } from '../api/acme.ts';
import { loopDelayOf } from '../support/loop-delay.ts';

const acme = acmeForAll();
let freezeId: string;
beforeAll(async () => {
  freezeId = (await acme.freeze()).id;
});

const weird = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.string({ unit: 'grapheme', maxLength: 30 }),
  // Texts that PostgreSQL cannot store.
  fc.constantFrom('\0', 'a\0b', '\ud800', '\udc00\ud800'),
  fc.constantFrom(
    '',
    '🧊'.repeat(300),
    '2026-03-02T10:00:00',
    '0001-01-01T00:00:00',
    '9999-12-31T23:59:59.999999999',
    '-000001-01-01T00:00:00Z',
    'Europe/Paris',
    'label=x',
    'label~=(a+)+$',
    'files~=[[:^',
    '-draft',
    'base=\\',
    'merge_queue',
    'admin',
    "'; DROP TABLE freezes; --",
    '__proto__',
    'constructor',
    '9223372036854776001',
    '1e999',
  ),
);
const fieldNames = [
  ...['reason', 'start', 'end', 'timezone', 'matching_conditions', 'exclude_conditions', 'delete_reason'],
  ...[
    'products',
    'scopes',
    'all_scopes',
    'name',
    'scope',
    'expires_at',
    '__proto__',
    'constructor',
    'toString',
  ],
];
const value = fc.letrec<{ any: unknown }>((tie) => ({
  any: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    weird,
    fc.constantFrom(null, true, false, 0, -1, 1e308, 2 ** 53, 0.1),
    fc.array(tie('any'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom('and', 'or', 'not', ...fieldNames), tie('any'), { maxKeys: 3 }),
  ),
})).any;

/** A body that is right for its route, but for some fields. */
const nearlyGood = (good: unknown) =>
  fc
    .dictionary(
      fc.oneof(
        fc.constantFrom(...Object.keys((good as object | undefined) ?? { x: 1 })),
        fc.constantFrom(...fieldNames),
      ),
      fc.oneof(weird, value),
      { maxKeys: 2 },
    )
    .map((odd) => JSON.stringify({ ...(good as object), ...odd }));
const bodyFor = (good: unknown) =>
  fc.oneof(
    { weight: 2, arbitrary: fc.constant(JSON.stringify(good)) },
    { weight: 5, arbitrary: nearlyGood(good) },
    { weight: 2, arbitrary: value.map((any) => JSON.stringify(any) ?? '') },
    { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
    { weight: 1, arbitrary: fc.constantFrom(undefined, '', '{', '[1,', '{"a":1}{', '\ufeff{}') },
  );

/** Something that a client could put into a path or a query. */
const step = (good: string) =>
  fc.oneof(
    { weight: 20, arbitrary: fc.constant(good) },
    {
      weight: 2,
      arbitrary: weird.map((text) => encodeURIComponent(text.toWellFormed())).filter((text) => text !== ''),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom('..', '.', '%', '%zz', '%00', '%2e%2e', '~', '*', '@', ':', 'a;b=c'),
    },
  );
const queryNames = [
  ...['per_page', 'cursor', 'event_type', 'not_event_type', 'outcome', 'trigger', 'not_trigger', 'base_ref'],
  ...['pull_request', 'not_pull_request', 'received_from', 'received_to', '__proto__', 'x[]'],
];
const query = fc
  .array(
    fc.tuple(
      fc.constantFrom(...queryNames),
      fc.oneof(
        weird.map((text) => encodeURIComponent(text.toWellFormed())),
        fc.constantFrom(
          '1',
          '0',
          '100',
          'b2xkZXI6MQ',
          '%',
          '%ff',
          '2026-02-28T00:00:00Z',
          '9999-12-31T23:59:59Z',
        ),
      ),
    ),
    { maxLength: 3 },
  )
  .map((pairs) => pairs.map((pair) => pair.join('=')).join('&'));

const latin1 = fc.string({
  unit: fc
    .integer({ min: 0x20, max: 0xff })
    .filter((code) => code !== 0x7f)
    .map((code) => String.fromCharCode(code)),
});
const headers = fc.record(
  {
    'Idempotency-Key': fc.oneof(fc.constantFrom('same', 'other', ''), latin1),
    'Content-Type': fc.constantFrom('application/json', 'text/plain', 'multipart/form-data', 'x', ''),
    'X-Http-Method-Override': fc.constantFrom('DELETE', 'PUT'),
    'X-Forwarded-Host': fc.constantFrom('evil.example', '%'),
    Expect: fc.constant('100-continue'),
    Accept: fc.constantFrom('text/html', '*/*', ''),
    Cookie: latin1,
  },
  { requiredKeys: [] },
);
const credentialFor = (right: 'admin' | 'ci') =>
  fc.oneof(
    { weight: 14, arbitrary: fc.constant({ who: right }) },
    {
      weight: 8,
      arbitrary: fc
        .constantFrom('admin', 'ci', 'foreignAdmin', 'ada', 'rita', 'rea', 'eve')
        .map((who) => ({ who })),
    },
    { weight: 1, arbitrary: latin1.map((text) => ({ text })) },
  );

const withBody = endpoints.filter((each) => each.body);
const hostile = fc.oneof(fc.constantFrom(...endpoints), fc.constantFrom(...withBody)).chain((endpoint) =>
  fc.record({
    method: fc.oneof(
      { weight: 9, arbitrary: fc.constant(endpoint.method.toUpperCase()) },
      {
        weight: 1,
        arbitrary: fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD', 'TRACE'),
      },
    ),
    steps: fc.tuple(
      ...endpoint.path.split('/').map((part) => {
        const good: Record<string, string> = { '{owner}': 'acme', '{repository}': 'web', '{number}': '1' };
        return part.startsWith('{') ? step(good[part] ?? '{id}') : fc.constant(part);
      }),
    ),
    query,
    headers,
    body: bodyFor(endpoint.body?.example),
    credential: credentialFor(endpoint.path.endsWith('/scopes') ? 'ci' : 'admin'),
  }),
);

type Answer = { status: number; text: string };

/** Sends a request that `fetch` would refuse or tidy up. */
function send(method: string, path: string, sent: Record<string, string>, text?: string): Promise<Answer> {
  const { hostname, port } = new URL(acme.app.url);
  const length = text === undefined ? {} : { 'Content-Length': Buffer.byteLength(text) };
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { hostname, port, method, path, headers: { ...sent, ...length } },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({ status: response.statusCode!, text: Buffer.concat(chunks).toString() }),
        );
      },
    );
    outgoing.on('error', reject);
    outgoing.end(text);
  });
}

/** What the workers keep in the rows of these tables, and when a key was used: it follows on its own time. */
const kept = [
  ...['last_used_at', 'lease_holder', 'lease_until', 'paused_until', 'pace_per_minute', 'pace_tokens'],
  ...['pace_counted_at', 'pace_refused', 'pace_refused_at', 'write_turns', 'review_pace'],
];
/** The tables that requests change. */
const tables = [
  ...['freezes', 'pull_request_scopes', 'application_keys', 'audit_events', 'idempotency_records'],
  ...['accounts', 'installations', 'freeze_plans', 'exemptions'],
];
async function contents(): Promise<string> {
  const parts = tables.map(
    (table) =>
      `SELECT '${table}' AS name, md5(coalesce(string_agg(row::text, '' ORDER BY row::text), '')) AS sum
       FROM (SELECT to_jsonb(t) - '{${kept.join(',')}}'::text[] AS row FROM ${table} t) AS shown`,
  );
  const products = `SELECT 'products', string_agg(id || products::text, '' ORDER BY id) FROM repositories`;
  return JSON.stringify(await acme.app.deps.db.$queryRawUnsafe([...parts, products].join(' UNION ALL ')));
}

/** After a success: there is a freeze to change, and a product that allows another one. */
async function putBack(): Promise<string> {
  const { db } = acme.app.deps;
  await db.repository.updateMany({ data: { products: ['merge_queue'] } });
  if (
    !(await db.freeze.findFirst({
      where: { id: freezeId, deletedAt: null, endsAt: { gt: new Date(acme.clock.now()) } },
    }))
  )
    freezeId = (await acme.freeze()).id;
  return contents();
}

test('no request makes a 500 or keeps the process busy, and no refused request changes anything', async () => {
  const statuses = new Map<number, number>();
  const late: [string, () => Promise<Answer>][] = [];
  let before = await contents();
  await fc.assert(
    fc.asyncProperty(
      hostile,
      async ({ method, steps, query: asked, headers: given, body: text, credential: by }) => {
        const secrets: Record<string, string> = { ...acme.keys, ...acme.people };
        const as = 'who' in by ? `Bearer ${secrets[by.who]}` : by.text;
        const path = `/v1${steps.join('/').replace('{id}', freezeId)}${asked === '' ? '' : `?${asked}`}`;
        const sent = { ...given, Authorization: as };
        const ask = () =>
          send(method, path, sent, ['GET', 'HEAD', 'TRACE'].includes(method) ? undefined : text);
        const [delay, answer] = await loopDelayOf(ask);
        if (delay > 100) late.push([`${method} ${path}`, ask]);
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
        expect(answer.status, answer.text).not.toBe(500);
        if (answer.status !== 204 && method !== 'HEAD') JSON.parse(answer.text);
        const after = await contents();
        if (answer.status >= 400) expect(after).toBe(before);
        before = answer.status < 300 ? await putBack() : after;
      },
    ),
    { numRuns: 400, seed: 20260301 },
  );
  // Other work of the process, or of the machine, makes a request late once, and not each time.
  for (const [what, ask] of late) {
    const delays: number[] = [];
    while (delays.length < 5 && !delays.some((delay) => delay <= 100))
      delays.push((await loopDelayOf(ask))[0]);
    expect(Math.min(...delays), what).toBeLessThanOrEqual(100);
  }
  // The generator reaches what it is meant to reach.
  for (const status of [200, 201, 204, 403, 404, 422]) expect([...statuses.keys()]).toContain(status);
});

test('a body full of mistakes gets a short answer', async () => {
  const body = JSON.stringify({ scopes: Array(60_000).fill(1) });
  const sent = { Authorization: `Bearer ${acme.keys.ci}` };
  const answer = await send('PUT', '/v1/repos/acme/web/pulls/1/scopes', sent, body);
  expect(answer.status).toBe(422);
  expect(answer.text.length).toBeLessThan(100_000);
});
