import { expect, test } from 'vitest';
import { acmeForAll } from './support/acme.ts';
import { instantHoldsOf } from './support/instant-holds.ts';
import { Visitor } from './support/visitor.ts';

// Instant holds in the mode `bridge`: the ruleset stays until the statuses hold. Statuses take time here.
const acme = acmeForAll({ statusWritesPerMinute: { least: 60, most: 60 } }, { lock: true });
const holds = () => instantHoldsOf(acme);
const many = (count: number, pullRequest = {}) => Array.from({ length: count }, () => pullRequest);

/** A repository with a bridge, when its first statuses stand. */
async function bridged(name: string, pullRequests: object[]) {
  const repository = await holds().held(name, 'bridge', pullRequests);
  await holds().pass(pullRequests.length * 2);
  expect(acme.frozen(repository)).toEqual([]);
  return repository;
}

/** What the previews of a freeze and of a plan say. */
const foreseenIn = async (repository: string, more: object) => {
  const body = { reason: 'Release', start: null, end: '2026-03-05T09:00:00', timezone: 'UTC', ...more };
  const name = repository.split('/')[1];
  const of = async (path: string, sent: object) => {
    const { status, text, body } = await acme.call('POST', path, { as: acme.admin, body: sent });
    expect(status, text).toBe(200);
    return body.time_until_held;
  };
  const plan = { ...body, name: 'Release', repositories: { include: [name], exclude: [] } };
  return [
    await of(`/v1/repos/${repository}/scheduled_freeze/preview`, body),
    await of('/v1/freeze_plans/acme/preview', plan),
  ];
};

const progressOf = async (repository: string, id: string) =>
  (await acme.call('GET', `/v1/repos/${repository}/scheduled_freeze/${id}/enforcement`, { as: acme.admin }))
    .body;

const active = (repository: string) =>
  holds()
    .rulesets(repository)
    .filter(({ enforcement }) => enforcement === 'active');

test('everything is blocked at once, what is free passes first, and statuses take over', async () => {
  const web = await bridged('web', [...many(3, { labels: ['hotfix'] }), ...many(40)]);
  const foreseen = {
    seconds: 1,
    statuses_seconds: 40,
    message: expect.stringMatching(
      /^A ruleset blocks all 40 pull requests within a second\. Without .* 40 seconds\./,
    ),
  };
  expect(await foreseenIn(web, { exclude_conditions: ['label=hotfix'] })).toEqual([foreseen, foreseen]);
  const start = acme.github.requests.length;
  const freeze = await acme.freeze(web, { exclude_conditions: ['label=hotfix'] });
  expect(freeze).not.toHaveProperty('warnings');
  // What waits for its status is blocked, so nobody has to wait.
  expect(await progressOf(web, freeze.id)).toMatchObject({
    seconds_until_held: 0,
    waiting_writes: expect.any(Number),
    instant: { state: 'on' },
  });
  expect(active(web)).toHaveLength(1);
  const blocked = Object.values(holds().mergeable(web)).filter((state) => state === 'blocked');
  expect(blocked).toHaveLength(40);
  expect(holds().writesSince(start).slice(0, 6)).toEqual([
    ...['GET ruleset 200', 'POST ruleset 201', 'GET ruleset 200'],
    ...many(3).map(() => 'POST status 201'),
  ]);
  await holds().pass(20);
  expect(active(web)).toHaveLength(1);
  await holds().pass(60);
  // No more statuses than without it, but for those that pass.
  expect(
    holds()
      .writesSince(start)
      .filter((write) => write.includes('status')),
  ).toHaveLength(43);
  expect(active(web)).toEqual([]);
  expect(Object.values(holds().mergeable(web)).filter((state) => state === 'blocked')).toHaveLength(40);
  expect(await holds().instant(web)).toEqual({ mode: 'bridge', state: 'off', since: null, error: null });
  // A later push is held by its status alone, and a check by the clock changes nothing.
  acme.github.push(web, 10);
  await acme.quiet();
  await holds().pass(3600, 600);
  expect(active(web)).toEqual([]);
  // Another freeze begins.
  await acme.freeze(web, { matching_conditions: ['base=main'] });
  expect(active(web)).toMatchObject([{ include: ['refs/heads/main'] }]);
  await holds().pass(80);
  expect(active(web)).toEqual([]);
  await acme.remove(web, freeze.id);
  expect(active(web)).toEqual([]);
});

test('a bridge does nothing where it is not worth it, and the answer says so', async () => {
  const web = await bridged('few', [...many(20, { labels: ['risky'] }), ...many(70)]);
  const start = acme.github.requests.length;
  const warningsOf = async (more: object) =>
    ((await acme.freeze(web, more)) as unknown as { warnings?: string[] }).warnings;
  expect(await warningsOf({ matching_conditions: ['label=risky'] })).toContain(
    'The instant hold does nothing for this freeze: it selects 20 of 90 open pull requests, and a ruleset would block all of them for a moment.',
  );
  expect(await warningsOf({ matching_conditions: ['number>80'] })).toContain(
    'The instant hold does nothing for this freeze: Holdfast can write the statuses of 10 pull requests in about 10 s.',
  );
  expect(
    holds()
      .writesSince(start)
      .filter((write) => write.includes('ruleset')),
  ).toEqual([]);
  await holds().pass(60);
  expect(acme.frozen(web)).toHaveLength(30);
});

test('without it, the answers say how long it takes', async () => {
  const web = await bridged('plain', many(40));
  await holds().set(web, 'off');
  const foreseen = {
    seconds: 40,
    statuses_seconds: 40,
    message:
      'All 40 pull requests are blocked within about 40 seconds. With an instant hold, it takes some seconds.',
  };
  expect(await foreseenIn(web, {})).toEqual([foreseen, foreseen]);
  const { id } = await acme.freeze(web);
  const { seconds_until_held: seconds, waiting_writes: waiting } = await progressOf(web, id);
  expect(seconds).toBeGreaterThan(10);
  expect(seconds).toBe(waiting);
  const ada = new Visitor(acme);
  await ada.signIn('ada');
  expect((await ada.open(`/owners/acme/progress?freeze=${id}`)).text).toContain(
    `All of them are blocked in about ${seconds} seconds.`,
  );
  await holds().pass(60);
  expect(await progressOf(web, id)).not.toHaveProperty('seconds_until_held');
});

test('a freeze that ends before its statuses are written is out of force first', async () => {
  const web = await bridged('short', many(40));
  const { id } = await acme.freeze(web);
  expect(active(web)).toHaveLength(1);
  const start = acme.github.requests.length;
  await acme.remove(web, id);
  expect(active(web)).toEqual([]);
  expect(holds().writesSince(start).slice(0, 2)).toEqual(['PUT ruleset 200', 'GET ruleset 200']);
  await holds().pass(80);
  expect(Object.values(holds().mergeable(web))).toEqual(many(40).map(() => 'clean'));
});

test('a freeze is created, though the database does not say what a bridge would do', async () => {
  const web = await bridged('unsaid', many(1));
  const { sql } = acme.app.deps;
  const { query } = sql;
  const failing: typeof query = (name, text, values) =>
    name === 'read-hold' ? Promise.reject(new Error('The database is down')) : query(name, text, values);
  sql.query = failing;
  const body = { reason: 'Release', start: '2026-04-01T09:00:00', timezone: 'UTC' };
  const answer = await acme
    .call('POST', `/v1/repos/${web}/scheduled_freeze`, { as: acme.admin, body })
    .finally(() => (sql.query = query));
  expect(answer.status, answer.text).toBe(201);
});
