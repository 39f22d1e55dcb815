import { beforeEach, describe, expect, test } from 'vitest';
import { acmeForAll } from './acme.ts';

const acme = acmeForAll();
let vault: string;

/** A new pull request each time, of which no test before has asked for anything. */
let number: number;
beforeEach(async () => {
  number = acme.github.openPullRequest('acme/web', { author: 'ada' }).number;
  await acme.quiet();
});

const post = (
  body: unknown,
  more: { as?: string; headers?: Record<string, string>; of?: string | number } = {},
) =>
  acme.call('POST', `/v1/repos/acme/web/pulls/${more.of ?? number}/exemptions`, {
    as: more.as ?? acme.keys.admin,
    body,
    headers: more.headers,
  });
const list = async (query = '') =>
  acme.call('GET', `/v1/repos/acme/web/exemptions${query}`, { as: acme.keys.admin });
const inDays = (days: number) => new Date(acme.clock.now() + days * 86_400_000).toISOString();

test('an exemption has the fields of the contract, and no others', async () => {
  const { status, body } = await post({ reason: 'INC-4711 fix' });
  expect(status).toBe(201);
  const key = { type: 'application', id: expect.any(String), name: 'admin key' };
  expect(body).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    pull_request: number,
    head_sha: acme.github.pullRequests('acme/web').find((each) => each.number === number)!.headSha,
    any_head: false,
    freeze_ids: null,
    reason: 'INC-4711 fix',
    public_reason: null,
    state: 'approved',
    requested_by: key,
    requested_at: '2026-03-01T09:00:00.000Z',
    decided_by: key,
    decided_at: '2026-03-01T09:00:00.000Z',
    decision_reason: null,
    expires_at: '2026-03-02T09:00:00.000Z',
    used_at: null,
    url: `https://holdfast.example/repos/acme/web/pulls/${number}`,
  });
});

test('of the commit that the caller means, or not at all', async () => {
  const { headSha } = acme.github.pullRequest('acme/web', number);
  const refused = await post({ reason: 'A fix', head_sha: '0'.repeat(40) });
  expect([refused.status, refused.text]).toEqual([
    409,
    expect.stringContaining(`its head is ${headSha}, not 000`),
  ]);
  expect((await post({ reason: 'A fix', head_sha: headSha.toUpperCase() })).status).toBe(201);
});

test('the answer has what was sent', async () => {
  const one = await acme.freeze();
  const sent = {
    reason: 'A fix',
    public_reason: 'A repair',
    any_head: true,
    freeze_ids: [one.id.toUpperCase(), one.id],
    expires_at: '2026-03-03T10:00:00+01:00',
  };
  expect((await post(sent)).body).toMatchObject({
    ...sent,
    freeze_ids: [one.id],
    expires_at: '2026-03-03T09:00:00.000Z',
  });
});

describe('refuses', () => {
  const gone = crypto.randomUUID();
  test.each<[string, object, (string | number)[], RegExp]>([
    ['no reason', {}, ['body', 'reason'], /Field required/],
    ['an empty reason', { reason: '' }, ['body', 'reason'], /at least 1 character/],
    ['a long reason', { reason: 'x'.repeat(10_001) }, ['body', 'reason'], /at most 10000/],
    [
      'an unknown freeze',
      { reason: 'x', freeze_ids: [gone] },
      ['body', 'freeze_ids', 0],
      /no scheduled or ongoing/,
    ],
    ['no freeze', { reason: 'x', freeze_ids: [] }, ['body', 'freeze_ids'], /at least one freeze/],
    ['what is no id', { reason: 'x', freeze_ids: ['y'] }, ['body', 'freeze_ids', 0], /UUID of a freeze/],
    ['the past', { reason: 'x', expires_at: '2026-03-01T09:00:00Z' }, ['body', 'expires_at'], /has passed/],
    [
      'a local time',
      { reason: 'x', expires_at: '2026-03-02T09:00:00' },
      ['body', 'expires_at'],
      /an instant/,
    ],
    ['a word for a boolean', { reason: 'x', any_head: 'no' }, ['body', 'any_head'], /a boolean/],
  ])('%s', async (_what, body, loc, message) => {
    const answer = await post(body);
    expect(answer.status).toBe(422);
    expect(answer.body.detail).toMatchObject([{ loc, msg: expect.stringMatching(message) }]);
    expect((await list(`?pull_request=${number}`)).body.exemptions).toEqual([]);
  });

  test('more than 30 days, and takes 30', async () => {
    expect((await post({ reason: 'x', expires_at: inDays(30.001) })).status).toBe(422);
    expect((await post({ reason: 'x', expires_at: inDays(30) })).status).toBe(201);
  });

  test('a freeze of another repository', async () => {
    vault = (await acme.freeze({}, 'acme/vault')).id;
    expect((await post({ reason: 'x', freeze_ids: [vault] })).status).toBe(422);
  });

  test.each(['999', '9223372036854776000'])('pull request %s, which does not exist', async (of) => {
    const answer = await post({ reason: 'x' }, { of });
    expect([answer.status, answer.body.detail]).toEqual([404, `acme/web has no pull request ${of}.`]);
  });

  test('a pull request that is closed', async () => {
    acme.github.closePullRequest('acme/web', number);
    expect((await post({ reason: 'x' })).status).toBe(409);
  });

  test('an exemption of another repository', async () => {
    const { body } = await post({ reason: 'x' });
    const path = `/v1/repos/acme/vault/exemptions/${body.id}/revoke`;
    const answer = await acme.call('POST', path, { as: acme.keys.admin, body: { reason: 'No' } });
    expect([answer.status, answer.body.detail]).toEqual([404, expect.stringMatching(/has no exemption/)]);
  });
});

test('a retry with its Idempotency-Key makes one exemption, and decides once', async () => {
  const headers = () => ({ 'Idempotency-Key': crypto.randomUUID() });
  const making = headers();
  const made = await Promise.all([1, 2, 3].map(() => post({ reason: 'x' }, { headers: making })));
  expect(made.map(({ status }) => status)).toEqual([201, 201, 201]);
  expect(new Set(made.map(({ body }) => body.id)).size).toBe(1);
  const path = `/v1/repos/acme/web/exemptions/${made[0]!.body.id}/revoke`;
  const revoking = { as: acme.keys.admin, body: { reason: 'No' }, headers: headers() };
  const twice = [await acme.call('POST', path, revoking), await acme.call('POST', path, revoking)];
  expect(twice.map(({ status, body }) => [status, body.state])).toEqual([
    [200, 'revoked'],
    [200, 'revoked'],
  ]);
  expect((await list(`?pull_request=${number}`)).body.exemptions).toHaveLength(1);
});

test('the list has pages, newest first, and filters', async () => {
  const ids = [];
  for (let count = 0; count < 5; count++) {
    ids.unshift((await post({ reason: 'x' }, { as: count < 2 ? acme.people.wes : undefined })).body.id);
  }
  const idsOf = ({ body }: { body: { exemptions: { id: string }[] } }) => body.exemptions.map(({ id }) => id);
  const of = `pull_request=${number}`;
  expect(idsOf(await list(`?${of}`))).toEqual(ids);
  expect(idsOf(await list(`?${of}&state=requested`))).toEqual(ids.slice(3));
  expect(idsOf(await list('?pull_request=99999999999'))).toEqual([]);

  const next = (answer: { headers: Headers }, rel: string) => {
    const link = answer.headers
      .get('link')
      ?.split(', ')
      .find((each) => each.endsWith(`rel="${rel}"`));
    return link && new URL(/<(.*)>/.exec(link)![1]!).search;
  };
  const first = await list(`?${of}&per_page=2`);
  const second = await list(next(first, 'next'));
  const third = await list(next(second, 'next'));
  expect([first, second, third].map(idsOf)).toEqual([ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)]);
  expect([next(first, 'prev'), next(third, 'next')]).toEqual([undefined, undefined]);
  expect(idsOf(await list(next(third, 'prev')))).toEqual(ids.slice(2, 4));
  expect(idsOf(await list(next(second, 'prev')))).toEqual(ids.slice(0, 2));
  for (const bad of ['cursor=x', 'state=open', 'pull_request=x'])
    expect((await list(`?${bad}`)).status, bad).toBe(422);
});

test('the explanation and the preview name an exemption, and have no such field without one', async () => {
  const { id } = await acme.freeze({ start: null, matching_conditions: [] });
  const explained = async () =>
    (await acme.call('GET', `/v1/repos/acme/web/pulls/${number}/freezes`, { as: acme.keys.admin })).body;
  const previewed = async () => {
    const body = { reason: 'x', start: null, timezone: 'UTC' };
    const answer = await acme.call('POST', '/v1/repos/acme/web/scheduled_freeze/preview?per_page=100', {
      as: acme.keys.admin,
      body,
    });
    return answer.body.pull_requests.find(
      (each: { pull_request: { number: number } }) => each.pull_request.number === number,
    );
  };
  const before = await explained();
  expect(before.frozen).toBe(true);
  expect(before.freezes[0]).not.toHaveProperty('exemption');
  expect(await previewed()).not.toHaveProperty('exemption');
  const { body } = await post({ reason: 'x' });
  const exemption = { id: body.id, reason: 'x', expires_at: body.expires_at };
  expect(await explained()).toMatchObject({
    frozen: false,
    status: { state: 'success' },
    next_change_at: body.expires_at,
    freezes: [{ scheduled_freeze: { id }, verdict: 'frozen', exemption }],
  });
  expect(await previewed()).toMatchObject({ verdict: 'frozen', exemption });
});
