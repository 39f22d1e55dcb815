import { afterEach, describe, expect, test, vi } from 'vitest';
import { acmeForAll } from './support/acme.ts';
import { shortenPatience } from './support/patience.ts';

// A freeze is saved, and warned about as far as that is known, while GitHub is slow, down or refuses.

const acme = acmeForAll();
afterEach(() => {
  vi.restoreAllMocks();
  acme.github.comeBack();
  acme.github.faults.clear();
});

const freezes = (repository: string, rest = '') => `/v1/repos/${repository}/scheduled_freeze${rest}`;
const newFreeze = { reason: 'Release', start: null, timezone: 'UTC' };

async function create(repository: string, more: object) {
  const body = { ...newFreeze, ...more };
  const answer = await acme.call('POST', freezes(repository), { as: acme.admin, body });
  expect(answer.status, answer.text).toBe(201);
  return answer;
}

async function change(repository: string, id: string, body: object) {
  const answer = await acme.call('PATCH', freezes(repository, `/${id}`), { as: acme.admin, body });
  expect(answer.status, answer.text).toBe(200);
  return answer;
}

const pullRequests = [{ title: 'A' }, { title: 'B', labels: ['hotfix'] }, { title: 'C' }, { title: 'D' }];

describe('a person who saves a freeze waits at most two seconds', () => {
  test.each(['POST', 'PATCH'])(
    'a slow GitHub does not keep %s longer, and is not warned of',
    async (method) => {
      const slow = await acme.repository(`slow-${method.toLowerCase()}`, pullRequests);
      const { body } = await create(slow, {});
      acme.github.faults.add({ kind: 'delay', ms: 60_000, match: { path: /graphql|\/rules\/branches\// } });
      shortenPatience();
      const conditions = { matching_conditions: ['label=none'] };
      const answer =
        method === 'POST' ? await create(slow, conditions) : await change(slow, body.id, conditions);
      expect(answer.body).not.toHaveProperty('warnings');
    },
  );

  test.each(['502', 'reset'] as const)(
    'while GitHub is down (%s), there is no warning about it',
    async (how) => {
      const down = await acme.repository(`down-${how}`, pullRequests);
      acme.github.goDown(how);
      const made = await create(down, {
        matching_conditions: ['label=none'],
        exclude_conditions: ['title=x'],
      });
      expect(made.body.warnings).toEqual([
        expect.stringContaining('`title=x` depends on what the author decides'),
      ]);
    },
  );

  test('a change is saved, and its statuses written, while GitHub is still asked', async () => {
    const api = await acme.repository('api', pullRequests);
    const { body } = await create(api, { matching_conditions: ['label=none'] });
    await acme.quiet();
    const patience = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(new AbortController().signal);
    const late = acme.github.faults.add({
      kind: 'delay',
      ms: 60_000,
      match: { path: /\/rules\/branches\// },
    });
    // About another branch, which nobody asked about.
    const changing = change(api, body.id, { matching_conditions: [{ or: ['base=main', 'base=next'] }] });
    let isAnswered = false;
    void changing.then(() => (isAnswered = true));
    await expect.poll(() => acme.frozen(api)).toEqual([1, 2, 3, 4]);
    expect(isAnswered).toBe(false);
    late.remove();
    await changing;
    patience.mockRestore();
  });

  test('the same question is asked once for several at the same time', async () => {
    const busy = await acme.repository('busy', pullRequests);
    const asked = () =>
      acme.github.requests.filter(({ operationName }) => operationName === 'OpenPullRequests').length;
    const start = '2026-05-01T00:00:00';
    // The looks at the repository ask, too, as often as the worker comes to them.
    vi.spyOn(acme.app.deps.queue, 'send').mockResolvedValue();
    const before = asked();
    await Promise.all(
      Array.from({ length: 8 }, () => create(busy, { start, matching_conditions: ['label=none'] })),
    );
    expect(asked() - before).toBe(1);
  });
});

test.each([
  ['limited-branches', 'OpenBases', 403],
  ['limited-pull-requests', 'OpenPullRequests', 429],
])('a secondary limit on the look ahead pauses the installation (%s)', async (name, asking, status) => {
  const repository = await acme.repository(name, pullRequests);
  const match = ({ operationName }: { operationName?: string }) => operationName === asking;
  acme.github.faults.add({ kind: 'secondary-limit', status, retryAfter: 90, times: 1, match });
  const until = new Date(acme.clock.now() + 90_000);
  // It begins later: nothing but the look ahead asks about it.
  const start = new Date(acme.clock.now() + 3_600_000).toISOString().slice(0, 19);
  await create(repository, { start, exclude_conditions: ['label=hotfix'] });
  const where = { account: { loginKey: 'acme' } };
  const installation = await acme.app.deps.db.installation.findFirstOrThrow({ where });
  expect(installation.pausedUntil).toEqual(until);
  const next = await create(repository, { start: null, exclude_conditions: ['label=hotfix'] });
  expect(next.body.warnings).toContainEqual(
    `GitHub’s rate limit is used up until ${until.toISOString()}. What this freeze holds is not judged before then.`,
  );
  await acme.advanceTo(until);
});

describe('a freeze that begins after the hour is used up', () => {
  const installation = () =>
    acme.app.deps.db.installation.findFirstOrThrow({ where: { account: { loginKey: 'acme' } } });
  const usedUp = (until: Date) =>
    `GitHub’s rate limit is used up until ${until.toISOString()}. What this freeze holds is not judged before then.`;

  test.each([
    ['used-up-branches', 'OpenBases'],
    ['used-up-pull-requests', 'OpenPullRequests'],
  ])('is warned about, where its own request finds that out (%s)', async (name, asking) => {
    const repository = await acme.repository(name, pullRequests);
    const match = ({ operationName }: { operationName?: string }) => operationName === asking;
    acme.github.faults.add({ kind: 'secondary-limit', retryAfter: 90, times: 1, match });
    const until = new Date(acme.clock.now() + 90_000);
    const { body } = await create(repository, { start: null, exclude_conditions: ['label=hotfix'] });
    expect(body.warnings).toContainEqual(usedUp(until));
    await acme.advanceTo(until);
  });

  test('is warned about, where only the budget of GraphQL is used up', async () => {
    const repository = await acme.repository('used-up-reads', pullRequests);
    const until = new Date(acme.clock.now() + 600_000);
    const { id } = await installation();
    await acme.app.deps.db.installation.update({ where: { id }, data: { readsPausedUntil: until } });
    const { body } = await create(repository, { start: null });
    expect(body.warnings).toContainEqual(usedUp(until));
    await acme.advanceTo(until);
    expect(acme.frozen(repository)).toEqual([1, 2, 3, 4]);
  });
});
