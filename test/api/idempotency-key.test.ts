import { describe, expect, test } from 'vitest';
import type { Answer } from '../support/holdfast.ts';
import { contract, pathOf } from './contract.ts';
import { freezeBody, acmeForAll } from './acme.ts';

const acme = acmeForAll();

const path = '/v1/repos/acme/web/scheduled_freeze';
let counter = 0;
const newKey = () => `retry-${++counter}`;
const post = (key: string, body: object = freezeBody, as = acme.keys.admin, to = path) =>
  acme.call('POST', to, { as, body, headers: { 'Idempotency-Key': key } });
const freezes = () => acme.app.deps.db.freeze.count();
const later = (milliseconds: number) => acme.advanceTo(new Date(acme.clock.now() + milliseconds));
const day = 86_400_000;

test('a retry gets the first answer again, and makes nothing', async () => {
  const key = newKey();
  const first = await post(key);
  expect(first.status).toBe(201);
  expect(first.headers.get('idempotent-replayed')).toBeNull();
  const count = await freezes();
  await acme.call('PATCH', `${path}/${first.body.id}`, { as: acme.keys.admin, body: { reason: 'New' } });
  const again = await post(key);
  expect({ status: again.status, text: again.text }).toEqual({ status: 201, text: first.text });
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  expect(await freezes()).toBe(count);
});

test('the answer is kept for 24 hours', async () => {
  const key = newKey();
  const { body } = await post(key);
  await later(day - 1);
  expect((await post(key)).body.id).toBe(body.id);
  await later(1);
  const fresh = await post(key, { ...freezeBody, end: null });
  expect(fresh.status).toBe(201);
  expect(fresh.body.id).not.toBe(body.id);
});

test('another body under the same key is refused, and changes nothing', async () => {
  const body = { ...freezeBody, end: null };
  const key = newKey();
  await post(key, body);
  const written = await acme.watchWrites();
  const answer = await post(key, { ...body, reason: 'Other' });
  expect(answer.status).toBe(422);
  expect(answer.body.detail).toMatchObject([{ loc: ['header', 'Idempotency-Key'] }]);
  expect(answer.body.detail[0].msg).toMatch(/another body.*new key/i);
  expect(await written()).toEqual([]);
});

test('keys of different callers, and of different routes, never meet', async () => {
  const key = newKey();
  const body = { ...freezeBody, end: null };
  const other = await acme.key('acme', 'admin');
  const answers = [
    await post(key, body),
    await post(key, body, other),
    await post(key, body, acme.people.ada),
    await post(key, body, acme.people.rita),
    await post(key, body, acme.keys.admin, '/v1/repos/acme/vault/scheduled_freeze'),
  ];
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201]);
  expect(new Set(answers.map((answer) => answer.body.id)).size).toBe(5);
  // Two tokens of one person are one caller.
  expect((await post(key, body, acme.adaTokens.oauth)).body.id).toBe(answers[2]!.body.id);
});

test('a retry is authorized again: a caller who lost the right gets no replay', async () => {
  const key = newKey();
  const body = { ...freezeBody, end: null };
  expect((await post(key, body, acme.people.rita)).status).toBe(201);
  acme.github.setRole('acme/web', 'rita', 'read');
  await later(60_000);
  expect((await post(key, body, acme.people.rita)).status).toBe(403);
  acme.github.setRole('acme/web', 'rita', 'admin');
});

describe('of several at once, one makes the change and the others wait for its answer', () => {
  const six = (send: () => Promise<Answer>) => Promise.all(Array.from({ length: 6 }, send));
  const replays = (answers: Answer[]) =>
    answers.filter(({ headers }) => headers.get('idempotent-replayed') === 'true').length;

  test('creating a freeze', async () => {
    const key = newKey();
    const count = await freezes();
    const answers = await six(() => post(key, { ...freezeBody, end: null }));
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(201));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(replays(answers)).toBe(5);
    expect(await freezes()).toBe(count + 1);
  });

  test('deleting it, although it is gone for the later ones', async () => {
    const { id } = await acme.freeze({ end: null });
    const key = newKey();
    const remove = () => post(key, { delete_reason: 'Done' }, acme.keys.admin, `${path}/${id}/delete`);
    const answers = await six(remove);
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(204));
    expect(replays(answers)).toBe(5);
  });

  test('with different bodies: 422 for all but one', async () => {
    const key = newKey();
    let number = 0;
    const answers = await six(() => post(key, { ...freezeBody, end: null, reason: `Reason ${++number}` }));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(5).fill(422)]);
  });
});

describe.runIf(process.env['TEST_DATABASE_URL'])('if the first one does not end (PostgreSQL)', () => {
  const body = { ...freezeBody, end: null };
  /** Holds up every change of the database at its audit event, while `work` runs. */
  const heldUp = <Result>(work: () => Promise<Result>) =>
    acme.app.deps.db.$transaction(async (tx) => {
      await tx.$executeRaw`LOCK TABLE audit_events IN ACCESS EXCLUSIVE MODE`;
      return work();
    });

  test('another one waits four seconds, then it is 409', async () => {
    const key = newKey();
    // Which of two that are sent at once is the first one is PostgreSQL's to say.
    const both = await heldUp(async () => {
      const began = performance.now();
      const sent = [post(key, body), post(key, body)];
      const refused = await Promise.race(sent);
      expect([refused.status, refused.body.detail]).toEqual([409, expect.stringContaining('in progress')]);
      expect(performance.now() - began).toBeGreaterThan(3_500);
      return sent;
    });
    expect((await Promise.all(both)).map(({ status }) => status).sort()).toEqual([201, 409]);
  });
});

test('a refused request can be corrected and sent again under its key', async () => {
  const key = newKey();
  const body = { ...freezeBody, end: null };
  expect((await post(key, { ...body, timezone: 'Nowhere' })).status).toBe(422);
  expect((await post(key, { ...body, reason: 1 })).status).toBe(422);
  expect(await acme.app.deps.db.idempotencyRecord.count({ where: { key } })).toBe(0);
  expect((await post(key, body)).status).toBe(201);
});

test.each(['', ' ', 'x'.repeat(256), 'ä', 'tab\tinside'])('%j is not a key', async (key) => {
  const answer = await post(key);
  // A header of nothing but spaces arrives as an empty one.
  expect(answer.status).toBe(422);
  expect(answer.body.detail).toMatchObject([{ loc: ['header', 'Idempotency-Key'] }]);
});

test('255 characters are a key', async () => {
  expect((await post('k'.repeat(255), { ...freezeBody, end: null })).status).toBe(201);
});

test('deleting and pushing scopes can be retried as well', async () => {
  const { id } = await acme.freeze({ end: null });
  const key = newKey();
  for (const replayed of [null, 'true']) {
    const answer = await post(key, { delete_reason: 'Done' }, acme.keys.admin, `${path}/${id}/delete`);
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect(answer.headers.get('idempotent-replayed')).toBe(replayed);
  }
  for (const replayed of [null, 'true']) {
    const to = '/v1/repos/acme/web/pulls/1/scopes';
    const answer = await post(key, { scopes: ['a'] }, acme.keys.ci, to);
    expect(answer.status).toBe(204);
    expect(answer.headers.get('idempotent-replayed')).toBe(replayed);
    expect(answer.headers.get('deprecation')).toMatch(/^@\d+$/);
  }
});

test('other methods ignore the header', async () => {
  const { id } = await acme.freeze({ end: null });
  const key = newKey();
  for (const reason of ['one', 'two']) {
    const answer = await acme.call('PATCH', `${path}/${id}`, {
      as: acme.keys.admin,
      body: { reason },
      headers: { 'Idempotency-Key': key },
    });
    expect(answer.body.reason).toBe(reason);
  }
});

/** Every row of the database, as text. */
async function allRows(): Promise<string> {
  const { db } = acme.app.deps;
  const tables = await db.$queryRaw<{ name: string }[]>`
    SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`;
  const rows = await db.$queryRawUnsafe<{ row: string }[]>(
    tables.map(({ name }) => `SELECT to_jsonb(t)::text AS row FROM "${name}" t`).join(' UNION ALL '),
  );
  return rows.map(({ row }) => row).join('\n');
}

test('a replayed key creation has no secret, and the database has none either', async () => {
  const key = newKey();
  const body = { name: 'tool', scope: 'admin' };
  const first = await post(key, body, acme.people.ada, '/v1/applications/acme');
  expect(first.body.secret).toMatch(/^hf_admin_[0-9A-Za-z]{38}$/);
  const again = await post(key, body, acme.people.ada, '/v1/applications/acme');
  expect(again.status).toBe(201);
  expect(again.body).toEqual({ ...first.body, secret: null });
  expect((await acme.call('GET', '/v1/application', { as: first.body.secret })).body.id).toBe(first.body.id);

  const everything = await allRows();
  expect(everything).toContain(first.body.id);
  for (const secret of [first.body.secret, ...Object.values(acme.keys), ...Object.values(acme.people)]) {
    expect(everything.includes(secret)).toBe(false);
    expect(acme.logs.join('').includes(secret)).toBe(false);
  }
  expect(everything).not.toMatch(/hf_(admin|ci)_|gh[a-z]_[A-Za-z0-9]{16}|github_pat_/);
});

const posts = Object.entries(contract).flatMap(([route, terms]) =>
  route.startsWith('post ') && !route.endsWith('/preview')
    ? [[route.slice('post '.length), terms] as const]
    : [],
);
test.each(posts)('a retry of POST %s is answered as it was', async (template, terms) => {
  const as = terms.for === 'ci' ? acme.keys.ci : acme.keys.admin;
  const path = pathOf(template, { last: await terms.last?.(acme, 'web') });
  const headers = { 'Idempotency-Key': crypto.randomUUID() };
  const send = () => acme.call('POST', path, { as, body: terms.body, headers });
  const [first, again] = [await send(), await send()];
  expect([first.status, first.headers.get('idempotent-replayed')]).toEqual([terms.success, null]);
  expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([terms.success, 'true']);
  // A secret is shown once.
  const { secret: _once, ...shown } = first.body ?? {};
  expect(again.body ?? {}).toMatchObject(shown);
});
