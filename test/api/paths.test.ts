import { request } from 'node:http';
import { beforeEach, describe, expect, test } from 'vitest';
import { acmeForAll } from './acme.ts';
import type { Answer } from '../support/holdfast.ts';

const acme = acmeForAll();
beforeEach(() => acme.github.requests.clear());

/** Sends a path as it is: `fetch` would tidy it up first. */
function raw(method: string, path: string, as: string) {
  const { hostname, port } = new URL(acme.app.url);
  return new Promise<{ status: number; body: Answer['body'] }>((resolve, reject) => {
    const headers = { Authorization: `Bearer ${as}` };
    const sent = request({ hostname, port, method, path, headers }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => resolve({ status: response.statusCode!, body: JSON.parse(text) }));
    });
    sent.on('error', reject);
    sent.end();
  });
}

const asked = () => acme.github.requests.map(({ method, path }) => `${method} ${path}`);

describe('owners', () => {
  test.each([
    ['a'.repeat(40), 404],
    ['a'.repeat(41), 422],
    ['a'.repeat(5000), 422],
    ['a_b', 422],
    ['a.b', 422],
    ['a%20b', 422],
    ['a%2Fb', 422],
    ['%00', 422],
    ['%0a', 422],
    ['acme%0a', 422],
    ['%C3%A4', 422],
    ['%ff', 422],
    ['%zz', 422],
    ['%', 422],
    ['acme%', 422],
    ['..%2f..', 422],
    ['acme;x=1', 422],
    ['$%7Bx%7D', 422],
    ['-', 404],
    ['--', 404],
    ['constructor', 404],
    ['ACME', 200],
    ['%61cme', 200],
  ])('%s: %i', async (owner, status) => {
    for (const as of [acme.people.ada, acme.people.eve]) {
      const answer = await raw('GET', `/v1/default_products/${owner}`, as);
      const wanted = status === 200 && as === acme.people.eve ? 403 : status;
      expect({ owner, status: answer.status }).toEqual({ owner, status: wanted });
      if (status === 422) expect(answer.body.detail[0].loc).toEqual(['path', 'owner']);
    }
    if (status === 422) expect(asked()).toEqual([]);
  });
});

describe('repositories', () => {
  test.each([
    ['r'.repeat(100), 404],
    ['r'.repeat(101), 422],
    ['we%20b', 422],
    ['we%2Fb', 422],
    ['web%00', 422],
    ['web%0a', 422],
    ['web%23x', 422],
    ['web%3Fx', 422],
    ['w%C3%A9b', 422],
    ['%zz', 422],
    ['we~b', 422],
    ['...', 404],
    ['.git', 404],
    ['web.git', 404],
    ['_', 404],
    ['__proto__', 404],
    ['WEB', 200],
    ['%77eb', 200],
  ])('%s: %i', async (repository, status) => {
    const answer = await raw('GET', `/v1/repos/acme/${repository}/scheduled_freeze`, acme.people.ada);
    expect({ repository, status: answer.status }).toEqual({ repository, status });
    if (status !== 422) return;
    expect(answer.body.detail[0].loc).toEqual(['path', 'repository']);
    expect(asked()).toEqual([]);
  });

  test('a path cannot climb, here or at GitHub', async () => {
    for (const dots of [
      '.',
      '..',
      '%2e',
      '%2e%2e',
      '.%2E',
      '%2E.',
      '%252e%252e',
      '..%2f..',
      '%2e%2e%2f',
      '..;',
    ]) {
      // Ten names a minute.
      await acme.clock.setTime(new Date(acme.clock.now() + 60_000));
      for (const path of [
        `/v1/repos/acme/${dots}/scheduled_freeze`,
        `/v1/repos/acme/${dots}/logs`,
        `/v1/repos/${dots}/web/scheduled_freeze`,
        `/v1/products/acme/${dots}`,
      ]) {
        const { status } = await raw('GET', path, acme.people.ada);
        expect({ path, status: [403, 404, 405, 422].includes(status) }).toEqual({ path, status: true });
      }
    }
    // Whose token it is, and whether the repository and the App are there: nothing else was asked.
    for (const question of new Set(asked())) {
      expect(question).toMatch(
        /^GET \/(user$|users\/[a-zA-Z0-9-]+\/installation$|repos\/[a-zA-Z0-9-]+\/[\w-][\w.-]*(\/installation)?$)/,
      );
    }
    await acme.quiet();
  });
});

describe('pull request numbers', () => {
  const path = (number: string) => `/v1/repos/acme/web/pulls/${number}/scopes`;
  const push = (number: string, scopes = ['backend']) =>
    acme.call('PUT', path(number), { as: acme.keys.ci, body: { scopes } });
  const stored = () =>
    acme.app.deps.db.$queryRaw<{ number: string }[]>`
      SELECT number::text FROM pull_request_scopes ORDER BY pull_request_scopes.number`;

  test.each([
    '9223372036854776001',
    '9223372036854777000',
    '9999999999999999999',
    '10000000000000000000',
    '9'.repeat(5000),
    '-1',
    '-0',
    '+1',
    '1e3',
    '1E3',
    '07',
    '00',
    '1.0',
    '1.',
    '0x10',
    '1_000',
    '1,000',
    '%201',
    '1%20',
    '1%0a',
    '%EF%BC%91',
    '%D9%A1',
    'NaN',
    'Infinity',
    'null',
    '%00',
    'one',
  ])('%s is none', async (number) => {
    const written = await acme.watchWrites();
    const answer = await push(number);
    expect(answer.status).toBe(422);
    expect(answer.body.detail[0].loc).toEqual(['path', 'number']);
    expect(answer.body.detail[0].msg).toMatch(/whole number in decimal digits|at most 9223372036854776000/);
    expect(asked()).toEqual([]);
    expect(await written()).toEqual([]);
  });

  const range = [
    '0',
    '2147483647',
    '2147483648',
    '9007199254740991',
    '9007199254740993',
    '9223372036854775807',
    '9223372036854775808',
    '9223372036854775999',
    '9223372036854776000',
  ];

  test('an unknown one is 404, and GitHub is asked for exactly this one', async () => {
    for (const number of range) {
      acme.github.requests.clear();
      expect((await push(number)).status).toBe(404);
      expect(asked().filter((question) => question.includes('/pulls/'))).toEqual([
        `GET /repos/acme/web/pulls/${number}`,
      ]);
    }
    expect(await stored()).toEqual([]);
  });

  test('while GitHub is not reachable, every one is stored exactly', async () => {
    acme.github.goDown();
    try {
      for (const number of range) expect((await push(number)).status).toBe(204);
      for (const number of range) expect((await push(number, ['again', 'again'])).status).toBe(204);
    } finally {
      acme.github.comeBack();
    }
    expect((await stored()).map(({ number }) => number)).toEqual(range);
    const rows = await acme.app.deps.db.pullRequestScopes.findMany();
    expect(rows.every(({ scopes }) => scopes.join() === 'again')).toBe(true);
    await acme.quiet();
  });
});

describe('freeze ids', () => {
  const at = (id: string) => `/v1/repos/acme/web/scheduled_freeze/${id}`;
  const change = (id: string) =>
    acme.call('PATCH', at(id), { as: acme.keys.admin, body: { reason: 'Changed' } });

  test.each([
    '1',
    'x',
    '00000000-0000-0000-0000-00000000000',
    '00000000-0000-0000-0000-0000000000000',
    '00000000000000000000000000000000',
    '%7B00000000-0000-0000-0000-000000000000%7D',
    'g0000000-0000-0000-0000-000000000000',
    "' OR 1=1--",
    '%00',
  ])('%s is none', async (id) => {
    const answer = await change(encodeURI(id).replaceAll('%25', '%'));
    expect(answer.status).toBe(422);
    expect(answer.body.detail[0].loc).toEqual(['path', 'freeze_id']);
    expect(answer.body.detail[0].msg).toBe('Send a UUID.');
  });

  test.each([
    '00000000-0000-0000-0000-000000000000',
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
    crypto.randomUUID(),
  ])('%s is a UUID without a freeze', async (id) => {
    expect((await change(id)).status).toBe(404);
  });

  test('a UUID can be in capitals', async () => {
    const { id } = await acme.freeze();
    const answer = await change(id.toUpperCase());
    expect(answer.status).toBe(200);
    expect(answer.body.id).toBe(id);
  });

  test('a freeze of another repository is not there', async () => {
    const { id } = await acme.freeze({}, 'acme/vault');
    expect((await change(id)).status).toBe(404);
    const body = { delete_reason: 'x' };
    expect((await acme.call('DELETE', at(id), { as: acme.keys.admin, body })).status).toBe(404);
    expect((await acme.call('POST', `${at(id)}/delete`, { as: acme.keys.admin, body })).status).toBe(404);
  });
});

test.each([
  ['GET', '/v1'],
  ['GET', '/v2/repos/acme/web/scheduled_freeze'],
  ['GET', '/v1/repos'],
  ['GET', '/v1/repos/'],
  ['GET', '/v1/repos/acme/'],
  ['GET', '/v1/repos//web/scheduled_freeze'],
  ['GET', '/v1/repos/acme/web/scheduled_freeze/'],
  ['GET', '/v1//repos/acme/web/scheduled_freeze'],
  ['GET', '//evil.example/v1/repos/acme/web/logs'],
  ['GET', '/%zz'],
  ['GET', '/v1/%00'],
])('%s %s is not a route: 404, in JSON', async (method, path) => {
  const answer = await raw(method, path, acme.keys.admin);
  expect(answer.status).toBe(404);
  expect(answer.body.detail).toMatch(/no such route/);
});

test('the path is judged before the credential', async () => {
  expect((await raw('GET', '/v1/default_products/a_b', 'nonsense')).status).toBe(422);
});

test('an unknown query is ignored, no matter what it has', async () => {
  const answer = await raw('GET', '/v1/application?x=%00&y=%ff&__proto__=1', acme.keys.ci);
  expect(answer.status).toBe(200);
});
