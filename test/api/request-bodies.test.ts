import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endpoints } from '../../src/api/endpoints.ts';
import { type Acme, freezeBody, startAcme } from './acme.ts';
import type { Answer } from '../support/holdfast.ts';

let acme: Acme;
let freezeId: string;
beforeAll(async () => {
  acme = await startAcme();
  freezeId = (await acme.freeze()).id;
  await acme.quiet();
});
afterAll(() => acme.close());

type Bad = { body: unknown; loc: (string | number)[]; says?: RegExp };
type Row = {
  path: () => string;
  as: 'admin' | 'ci';
  good: Record<string, unknown>;
  required: string[];
  bad: Bad[];
};

const web = '/v1/repos/acme/web';
const emoji = '🧊';
const text = (field: string, more: object = {}): Bad[] => [
  { body: { ...more, [field]: 1 }, loc: ['body', field], says: /Send a string, not a number/ },
  { body: { ...more, [field]: true }, loc: ['body', field], says: /Send a string, not a boolean/ },
  { body: { ...more, [field]: ['x'] }, loc: ['body', field], says: /Send a string, not a list/ },
  { body: { ...more, [field]: { $ne: '' } }, loc: ['body', field], says: /Send a string, not an object/ },
  { body: { ...more, [field]: 'nul\0' }, loc: ['body', field], says: /NUL/ },
  { body: { ...more, [field]: 'half \ud83e' }, loc: ['body', field], says: /surrogate/ },
  { body: { ...more, [field]: '\udd83\ud83e' }, loc: ['body', field], says: /surrogate/ },
];
const longText = (field: string, most: number, more: object = {}): Bad[] => [
  {
    body: { ...more, [field]: 'x'.repeat(most + 1) },
    loc: ['body', field],
    says: new RegExp(`at most ${most}`),
  },
  {
    body: { ...more, [field]: emoji.repeat(most + 1) },
    loc: ['body', field],
    says: new RegExp(`at most ${most}`),
  },
];
const lists = (field: string, more: object = {}): Bad[] => [
  { body: { ...more, [field]: 'label=x' }, loc: ['body', field], says: /Send a list, not a string/ },
  { body: { ...more, [field]: {} }, loc: ['body', field], says: /Send a list, not an object/ },
  { body: { ...more, [field]: { length: 1, 0: 'x' } }, loc: ['body', field], says: /Send a list/ },
];
const badConditions = (field: string, more: object = {}): Bad[] => [
  ...lists(field, more),
  { body: { ...more, [field]: ['nonsense'] }, loc: ['body', field, 0], says: /Invalid condition 'nonsense'/ },
  { body: { ...more, [field]: ['label=x', 1] }, loc: ['body', field, 1], says: /A condition is/ },
  { body: { ...more, [field]: [null] }, loc: ['body', field, 0], says: /A condition is/ },
  { body: { ...more, [field]: [{}] }, loc: ['body', field, 0], says: /exactly one/ },
  {
    body: { ...more, [field]: [{ and: ['label=x'], or: [] }] },
    loc: ['body', field, 0],
    says: /exactly one/,
  },
  { body: { ...more, [field]: [{ constructor: [] }] }, loc: ['body', field, 0], says: /exactly one/ },
  { body: { ...more, [field]: [{ and: [] }] }, loc: ['body', field, 0], says: /at least one/ },
  { body: { ...more, [field]: [{ and: { length: 1 } }] }, loc: ['body', field, 0, 'and'], says: /list/ },
  { body: { ...more, [field]: [{ not: null }] }, loc: ['body', field, 0, 'not'], says: /A condition is/ },
  { body: { ...more, [field]: Array(501).fill('label=x') }, loc: ['body', field], says: /at most 500/ },
];

const scopesRow = {
  path: () => `${web}/pulls/1/scopes`,
  as: 'ci',
  good: { scopes: ['backend'], all_scopes: false },
  required: ['scopes'],
  bad: [
    ...lists('scopes'),
    { body: { scopes: null }, loc: ['body', 'scopes'], says: /Send a list, not null/ },
    { body: { scopes: ['a', 1] }, loc: ['body', 'scopes', 1], says: /Send a string/ },
    { body: { scopes: [''] }, loc: ['body', 'scopes', 0], says: /at least 1/ },
    { body: { scopes: ['x'.repeat(256)] }, loc: ['body', 'scopes', 0], says: /at most 255/ },
    { body: { scopes: [emoji.repeat(256)] }, loc: ['body', 'scopes', 0], says: /at most 255/ },
    { body: { scopes: ['nul\0'] }, loc: ['body', 'scopes', 0], says: /NUL/ },
    { body: { scopes: ['\ud800'] }, loc: ['body', 'scopes', 0], says: /surrogate/ },
    {
      body: { scopes: Array.from({ length: 501 }, (_, index) => `s${index}`) },
      loc: ['body', 'scopes'],
      says: /at most 500/,
    },
    { body: { scopes: [], all_scopes: 'true' }, loc: ['body', 'all_scopes'], says: /without quotes/ },
    { body: { scopes: [], all_scopes: 1 }, loc: ['body', 'all_scopes'], says: /without quotes/ },
    { body: { scopes: [], all_scopes: null }, loc: ['body', 'all_scopes'], says: /not null/ },
  ],
} satisfies Row;
const deletionRow = {
  as: 'admin',
  good: { delete_reason: 'Done' },
  required: ['delete_reason'],
  bad: [
    ...text('delete_reason'),
    ...longText('delete_reason', 10_000),
    { body: { delete_reason: null }, loc: ['body', 'delete_reason'], says: /not null/ },
  ],
} satisfies Omit<Row, 'path'>;
const productsRow = {
  as: 'admin',
  good: { products: ['merge_queue'] },
  required: ['products'],
  bad: [
    ...lists('products'),
    { body: { products: null }, loc: ['body', 'products'] },
    {
      body: { products: ['merge_queue', 'freezes'] },
      loc: ['body', 'products', 1],
      says: /"merge_protections"/,
    },
    { body: { products: ['MERGE_QUEUE'] }, loc: ['body', 'products', 0], says: /Send one of/ },
    { body: { products: ['constructor'] }, loc: ['body', 'products', 0], says: /Send one of/ },
    { body: { products: [null] }, loc: ['body', 'products', 0] },
  ],
} satisfies Omit<Row, 'path'>;

const freezeRow = {
  as: 'admin',
  good: { ...freezeBody, exclude_conditions: [] },
  required: ['reason', 'start', 'timezone'],
  bad: [
    ...text('reason', freezeBody),
    ...longText('reason', 10_000, freezeBody),
    ...text('start', freezeBody),
    ...text('end', freezeBody),
    ...text('timezone', freezeBody),
    ...badConditions('matching_conditions', freezeBody),
    ...badConditions('exclude_conditions', freezeBody),
    { body: { ...freezeBody, reason: null }, loc: ['body', 'reason'], says: /not null/ },
    { body: { ...freezeBody, timezone: null }, loc: ['body', 'timezone'], says: /not null/ },
    { body: { ...freezeBody, matching_conditions: null }, loc: ['body', 'matching_conditions'] },
  ],
} satisfies Omit<Row, 'path'>;

const rows: Record<string, Row> = {
  'put /repos/{owner}/{repository}/pulls/{number}/scopes': scopesRow,
  'post /repos/{owner}/{repository}/pulls/{number}/scopes': scopesRow,
  'post /repos/{owner}/{repository}/scheduled_freeze': {
    ...freezeRow,
    path: () => `${web}/scheduled_freeze`,
  },
  'post /repos/{owner}/{repository}/scheduled_freeze/preview': {
    ...freezeRow,
    path: () => `${web}/scheduled_freeze/preview`,
  },
  'patch /repos/{owner}/{repository}/scheduled_freeze/{freeze_id}': {
    path: () => `${web}/scheduled_freeze/${freezeId}`,
    as: 'admin',
    good: { reason: 'Later' },
    required: [],
    bad: [
      ...text('reason'),
      ...longText('reason', 10_000),
      ...text('start'),
      ...text('end'),
      ...text('timezone'),
      ...badConditions('matching_conditions'),
      ...badConditions('exclude_conditions'),
    ],
  },
  'delete /repos/{owner}/{repository}/scheduled_freeze/{freeze_id}': {
    ...deletionRow,
    path: () => `${web}/scheduled_freeze/${freezeId}`,
  },
  'post /repos/{owner}/{repository}/scheduled_freeze/{freeze_id}/delete': {
    ...deletionRow,
    path: () => `${web}/scheduled_freeze/${freezeId}/delete`,
  },
  'put /products/{owner}/{repository}': { ...productsRow, path: () => '/v1/products/acme/web' },
  'put /default_products/{owner}': { ...productsRow, path: () => '/v1/default_products/acme' },
  'post /applications/{owner}': {
    path: () => '/v1/applications/acme',
    as: 'admin',
    good: { name: 'tool', scope: 'ci' },
    required: ['name', 'scope'],
    bad: [
      ...text('name', { scope: 'ci' }),
      ...longText('name', 255, { scope: 'ci' }),
      { body: { name: '', scope: 'ci' }, loc: ['body', 'name'], says: /at least 1/ },
      { body: { name: 'x', scope: 'Admin' }, loc: ['body', 'scope'], says: /"admin", "ci"/ },
      { body: { name: 'x', scope: 'ci', expires_at: 1 }, loc: ['body', 'expires_at'] },
      {
        body: { name: 'x', scope: 'ci', expires_at: 'soon' },
        loc: ['body', 'expires_at'],
        says: /Send an instant/,
      },
      { body: { name: 'x', scope: 'ci', expires_at: '2027-01-01' }, loc: ['body', 'expires_at'] },
      {
        body: { name: 'x', scope: 'ci', expires_at: '2026-03-01T09:00:00Z' },
        loc: ['body', 'expires_at'],
        says: /passed/,
      },
      {
        body: { name: 'x', scope: 'ci', expires_at: '9999-12-31T23:59:59-23:59' },
        loc: ['body', 'expires_at'],
      },
    ],
  },
};

const withBody = endpoints.filter(({ body }) => body).map(({ method, path }) => `${method} ${path}`);

test('every route with a body has its rows', () => {
  expect(Object.keys(rows).sort()).toEqual(withBody.toSorted());
});

const nest = (levels: number, open: string, close: string) => open.repeat(levels) + close.repeat(levels);

describe.each(withBody)('%s', (route) => {
  const row = rows[route]!;
  const method = route.split(' ')[0]!.toUpperCase();
  const send = (body: unknown) => acme.call(method, row.path(), { as: acme.keys[row.as], body });

  /** Sends what must be refused, and looks that it names the place and changes nothing. */
  async function refused(cases: { body: unknown; loc: (string | number)[]; says?: RegExp }[]) {
    const before = await acme.snapshot();
    for (const { body, loc, says } of cases) {
      const answer = await send(body);
      const shown = `${JSON.stringify(body)?.slice(0, 200)}: ${answer.text.slice(0, 400)}`;
      expect(answer.status, shown).toBe(422);
      const problem = answer.body.detail.find((each: { loc: unknown }) => String(each.loc) === String(loc));
      expect(problem, shown).toBeDefined();
      expect(problem.msg, shown).toMatch(says ?? /Send|Field required/);
    }
    expect(await acme.snapshot()).toBe(before);
  }

  test('what is not JSON, or not an object', async () => {
    const whole = ['body'];
    await refused([
      ...(row.required.length === 0
        ? [{ body: '', loc: whole, says: /Send a JSON object/ }]
        : row.required.map((field) => ({ body: '', loc: ['body', field], says: /Field required/ }))),
      { body: ' ', loc: whole, says: /not JSON/ },
      { body: '{', loc: whole, says: /not JSON/ },
      { body: "{'reason': 'x'}", loc: whole, says: /not JSON/ },
      { body: '{} {}', loc: whole, says: /not JSON/ },
      { body: '{"a": NaN}', loc: whole, says: /not JSON/ },
      { body: '\ufeff\ufeff{}', loc: whole, says: /not JSON/ },
      { body: 'null', loc: whole, says: /Send a JSON object, not null/ },
      { body: 'true', loc: whole, says: /Send a JSON object, not a boolean/ },
      { body: '42', loc: whole, says: /Send a JSON object, not a number/ },
      { body: '"{}"', loc: whole, says: /Send a JSON object, not a string/ },
      { body: '[]', loc: whole, says: /Send a JSON object, not a list/ },
      { body: nest(10_000, '[', ']'), loc: whole, says: /nested deeper than/ },
      { body: nest(400_000, '[', ']'), loc: whole, says: /nested deeper than/ },
      { body: `{"x":${nest(10_000, '[', ']')}}`, loc: whole, says: /nested deeper than/ },
      { body: `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`, loc: whole, says: /nested deeper than/ },
      { body: '{"\\u0000": 1}', loc: whole, says: /NUL/ },
      { body: '{"\\ud800": 1}', loc: whole, says: /surrogate/ },
    ]);
  });

  test('bytes that are not UTF-8', async () => {
    for (const bytes of [
      [0x7b, 0x22, 0xff, 0x22, 0x7d],
      [0xc0, 0x80],
      [0xed, 0xa0, 0x80],
      [0xff, 0xfe, 0x7b, 0x00],
    ]) {
      const answer = await sendBytes(method, row.path(), acme.keys[row.as], Buffer.from(bytes));
      expect(answer.status).toBe(422);
      expect(answer.body.detail[0].loc).toEqual(['body']);
      expect(answer.body.detail[0].msg).toMatch(/UTF-8/);
    }
  });

  test('fields that are missing are named, all of them', async () => {
    await refused(
      row.required.flatMap((field) => [
        {
          body: Object.fromEntries(Object.entries(row.good).filter(([name]) => name !== field)),
          loc: ['body', field],
          says: /Field required/,
        },
        { body: {}, loc: ['body', field], says: /Field required/ },
        // A prototype brings no fields.
        { body: `{"__proto__": ${JSON.stringify(row.good)}}`, loc: ['body', field], says: /Field required/ },
      ]),
    );
  });

  test('fields that are wrong are named, with the fix', () => refused(row.bad));

  test('1 MiB is read, a byte more is 413, told or found out', async () => {
    const bodies = (bytes: number) => {
      const start = `{"unknown":"`;
      return Buffer.from(`${start}${'x'.repeat(bytes - start.length - 2)}"}`);
    };
    const mebibyte = 1024 * 1024;
    const before = await acme.snapshot();
    const as = acme.keys[row.as];
    expect((await sendBytes(method, row.path(), as, bodies(mebibyte))).status).toBe(
      row.required.length ? 422 : 200,
    );
    if (row.required.length === 0) return;
    for (const chunked of [false, true]) {
      const answer = await sendBytes(method, row.path(), as, bodies(mebibyte + 1), chunked);
      expect(answer.status).toBe(413);
      expect(answer.body.detail).toMatch(/over 1 MiB/);
    }
    expect(await acme.snapshot()).toBe(before);
  });

  test('unknown fields and prototype keys are ignored', async () => {
    const odd = `"unknown": 1, "__proto__": {"reason": 1, "products": 1}, "constructor": {"prototype": {"polluted": 1}}, "toString": null`;
    const body = `{${odd}, ${JSON.stringify(row.good).slice(1)}`;
    const answer = await send(body);
    expect(answer.status, answer.text).toBeLessThan(300);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    if (row.path().includes(freezeId) && route.includes('delete')) freezeId = (await acme.freeze()).id;
  });
});

test('exactly 10,000 characters are a reason, counted as people count', async () => {
  for (const reason of [
    'x'.repeat(10_000),
    emoji.repeat(10_000),
    '',
    ' ',
    '\n\t\u0001 "\\',
    'e\u0301',
    '\u202e\ufeff\uffff',
  ]) {
    expect((await acme.freeze({ reason })).reason).toBe(reason);
    const path = `${web}/scheduled_freeze/${freezeId}`;
    const changed = await acme.call('PATCH', path, { as: acme.keys.admin, body: { reason } });
    expect(changed.body.reason).toBe(reason);
  }
});

test('of a field that is given twice the last counts, as JSON.parse has it', async () => {
  const body = `{"reason": 1, ${JSON.stringify({ ...freezeBody, reason: 'second' }).slice(1)}`;
  const answer = await acme.call('POST', `${web}/scheduled_freeze`, { as: acme.keys.admin, body });
  expect(answer.body.reason).toBe('second');
});

test('every bad field is named at once', async () => {
  const body = { reason: 1, start: '2026-03-02', timezone: null, matching_conditions: {} };
  const { body: answer } = await acme.call('POST', `${web}/scheduled_freeze`, { as: acme.keys.admin, body });
  expect(answer.detail.map(({ loc }: { loc: string[] }) => loc[1])).toEqual(
    expect.arrayContaining(['reason', 'timezone', 'matching_conditions']),
  );
});

describe('a deletion without a body names the reason that it has to have', () => {
  const deletions = [
    ['DELETE', ''],
    ['POST', '/delete'],
  ] as const;
  const ways: [way: string, body: string | undefined, headers: Record<string, string>][] = [
    ['no body, no content type', undefined, {}],
    ['no body, but a content type', undefined, { 'Content-Type': 'application/json' }],
    ['an empty body', '', { 'Content-Type': 'application/json' }],
    ['an empty body as text', '', { 'Content-Type': 'text/plain' }],
    ['an empty object', '{}', {}],
  ];
  test.each(deletions.flatMap(([method, end]) => ways.map((way) => [method, end, ...way] as const)))(
    '%s …%s: %s',
    async (method, end, _way, body, headers) => {
      const answer = await fetch(`${acme.app.url}${web}/scheduled_freeze/${freezeId}${end}`, {
        method,
        headers: { ...headers, Authorization: `Bearer ${acme.keys.admin}` },
        ...(body !== undefined && { body }),
      });
      expect(answer.status).toBe(422);
      const detail = [{ loc: ['body', 'delete_reason'], msg: 'Field required', type: 'missing' }];
      expect(await answer.json()).toEqual({ detail });
    },
  );
});

test('a creation without a body names every field that it has to have; a change without one is refused', async () => {
  const { keys } = acme;
  const made = await acme.call('POST', `${web}/scheduled_freeze`, { as: keys.admin });
  expect(made.body.detail.map(({ loc }: { loc: string[] }) => loc[1])).toEqual([
    'reason',
    'start',
    'timezone',
  ]);
  const changed = await acme.call('PATCH', `${web}/scheduled_freeze/${freezeId}`, { as: keys.admin });
  expect([changed.status, changed.body.detail[0].loc]).toEqual([422, ['body']]);
});

test.each([undefined, 'text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=latin1'])(
  'JSON is read whatever the content type says (%s)',
  async (type) => {
    const answer = await acme.call('PATCH', `${web}/scheduled_freeze/${freezeId}`, {
      as: acme.keys.admin,
      body: JSON.stringify({ reason: 'Grün' }),
      headers: type ? { 'Content-Type': type } : {},
    });
    expect(answer.body.reason).toBe('Grün');
  },
);

/** Sends bytes as they are; chunked, the service cannot know how many come. */
async function sendBytes(method: string, path: string, as: string, body: Buffer, chunked = false) {
  const headers = {
    Authorization: `Bearer ${as}`,
    'Content-Type': 'application/json',
    ...(chunked ? { 'Transfer-Encoding': 'chunked' } : { 'Content-Length': body.length }),
  };
  return new Promise<{ status: number; body: Answer['body'] }>((resolve, reject) => {
    const sent = request(`${acme.app.url}${path}`, { method, headers }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => {
        resolve({ status: response.statusCode!, body: text === '' ? undefined : JSON.parse(text) });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
