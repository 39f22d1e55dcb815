import { request } from 'node:http';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { endpoints } from '../../src/api/endpoints.ts';
import { freezeBody, acmeForAll } from './acme.ts';
import { emoji } from './bad-fields.ts';
import { ids, rows, web } from './request-body-rows.ts';
import type { Answer } from '../support/holdfast.ts';

const acme = acmeForAll();
beforeAll(async () => {
  ids.freeze = (await acme.freeze()).id;
  await acme.quiet();
});

const withBody = endpoints.filter(({ body }) => body).map(({ method, path }) => `${method} ${path}`);

test('every route with a body has its rows', () => {
  expect(Object.keys(rows).sort()).toEqual(withBody.toSorted());
});

const nest = (levels: number, open: string, close: string) => open.repeat(levels) + close.repeat(levels);

/** Before its schema, a body is read in one place, which knows only whether a route can do without one. */
const needOf = (route: string): string => {
  const { required, isOptional } = rows[route]!;
  return required.length > 0 ? 'some fields' : isOptional ? 'nothing' : 'an object';
};
const firstOf = new Map([...withBody].reverse().map((route) => [needOf(route), route]));

describe.each(withBody)('%s', (route) => {
  const readOnce = test.runIf(firstOf.get(needOf(route)) === route);
  const row = rows[route]!;
  const method = route.split(' ')[0]!.toUpperCase();
  // What is refused changes nothing, so the next request can be about the same.
  let isUsed = true;
  const seen = <Seen extends Pick<Answer, 'status'>>(answer: Seen): Seen => {
    isUsed ||= answer.status < 300;
    return answer;
  };
  const send = async (body: unknown) =>
    seen(await acme.call(method, row.path(), { as: acme.keys[row.as], body }));

  beforeEach(async () => {
    if (!isUsed) return;
    isUsed = false;
    if (route.includes('{plan_id}')) ids.plan = (await acme.plan()).id;
    if (route.includes('{webhook_id}')) ids.webhook = await acme.webhook();
    if (!route.includes('{exemption_id}')) return;
    const list = route.includes('/deployment_exemptions/') ? 'deployment_exemptions' : 'pulls/1/exemptions';
    const { body, status } = await acme.call('POST', `${web}/${list}`, {
      as: acme.people.wes,
      body: { environment: 'production', sha: 'c'.repeat(40), reason: 'A fix' },
    });
    expect(status).toBe(201);
    ids.exemption = body.id;
  });

  /** Sends what must be refused, and looks that it names the place and changes nothing. */
  async function refused(cases: { body: unknown; loc: (string | number)[]; says?: RegExp }[]) {
    const written = await acme.watchWrites();
    for (const { body, loc, says } of cases) {
      const answer = await send(body);
      const shown = `${JSON.stringify(body)?.slice(0, 200)}: ${answer.text.slice(0, 400)}`;
      expect(answer.status, shown).toBe(422);
      const problem = answer.body.detail.find((each: { loc: unknown }) => String(each.loc) === String(loc));
      expect(problem, shown).toBeDefined();
      expect(problem.msg, shown).toMatch(says ?? /Send|Field required/);
    }
    expect(await written()).toEqual([]);
  }

  readOnce('what is not JSON, or not an object', async () => {
    const whole = ['body'];
    await refused([
      ...(row.required.length === 0
        ? row.isOptional
          ? []
          : [{ body: '', loc: whole, says: /Send a JSON object/ }]
        : row.required.map((field) => ({ body: '', loc: ['body', field], says: /Field required/ }))),
      { body: ' ', loc: whole, says: /not JSON/ },
      { body: '{', loc: whole, says: /not JSON/ },
      { body: "{'reason': 'x'}", loc: whole, says: /not JSON/ },
      { body: '{} {}', loc: whole, says: /not JSON/ },
      { body: '{"a": NaN}', loc: whole, says: /not JSON/ },
      { body: '\ufeff\ufeff{}', loc: whole, says: /not JSON/ },
      // The parser names half of it.
      { body: '😀', loc: whole, says: /not JSON/ },
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

  readOnce('bytes that are not UTF-8', async () => {
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

  readOnce('1 MiB is read, a byte more is 413, with or without a length', async () => {
    const bodies = (bytes: number) => {
      const start = `{"unknown":"`;
      return Buffer.from(`${start}${'x'.repeat(bytes - start.length - 2)}"}`);
    };
    const mebibyte = 1024 * 1024;
    const written = await acme.watchWrites();
    const as = acme.keys[row.as];
    const whole = seen(await sendBytes(method, row.path(), as, bodies(mebibyte)));
    expect(whole.status).toBe(row.required.length ? 422 : 200);
    if (row.required.length === 0) return;
    for (const chunked of [false, true]) {
      const answer = await sendBytes(method, row.path(), as, bodies(mebibyte + 1), chunked);
      expect(answer.status).toBe(413);
      expect(answer.body.detail).toMatch(/over 1 MiB/);
    }
    expect(await written()).toEqual([]);
  });

  test('unknown fields and prototype keys are ignored', async () => {
    const odd = `"unknown": 1, "__proto__": {"reason": 1, "products": 1}, "constructor": {"prototype": {"polluted": 1}}, "toString": null`;
    const body = `{${odd}, ${JSON.stringify(row.good).slice(1)}`;
    const answer = await send(body);
    expect(answer.status, answer.text).toBeLessThan(300);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    if (row.path().includes(ids.freeze) && route.includes('delete')) ids.freeze = (await acme.freeze()).id;
  });
});

test('a reason can have exactly 10,000 characters, as people count them', async () => {
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
    const path = `${web}/scheduled_freeze/${ids.freeze}`;
    const changed = await acme.call('PATCH', path, { as: acme.keys.admin, body: { reason } });
    expect(changed.body.reason).toBe(reason);
  }
});

test('if a field is there twice, the last one counts, as in JSON.parse', async () => {
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

describe('a deletion without a body names the required reason', () => {
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
      const answer = await fetch(`${acme.app.url}${web}/scheduled_freeze/${ids.freeze}${end}`, {
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

test('a creation without a body names every required field; a change without a body is refused', async () => {
  const { keys } = acme;
  const made = await acme.call('POST', `${web}/scheduled_freeze`, { as: keys.admin });
  expect(made.body.detail.map(({ loc }: { loc: string[] }) => loc[1])).toEqual([
    'reason',
    'start',
    'timezone',
  ]);
  const changed = await acme.call('PATCH', `${web}/scheduled_freeze/${ids.freeze}`, { as: keys.admin });
  expect([changed.status, changed.body.detail[0].loc]).toEqual([422, ['body']]);
});

test.each([undefined, 'text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=latin1'])(
  'JSON is read with any content type (%s)',
  async (type) => {
    const answer = await acme.call('PATCH', `${web}/scheduled_freeze/${ids.freeze}`, {
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

test('an approval needs no body', async () => {
  const asked = { as: acme.people.wes, body: { reason: 'A fix' } };
  const { body: requested } = await acme.call('POST', `${web}/pulls/1/exemptions`, asked);
  const path = `${web}/exemptions/${requested.id}/approve`;
  const answer = await acme.call('POST', path, { as: acme.keys.admin });
  expect(answer.status, answer.text).toBe(200);
  expect(answer.body).toMatchObject({ state: 'approved', decision_reason: null });
});
