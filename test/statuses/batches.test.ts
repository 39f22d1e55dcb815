// Statuses are taken and settled in batches: what that saves, and what it must not cost.
import { expect, inject, test, vi } from 'vitest';
import { tiers } from '../../src/statuses/plan-write.ts';
import { acmeForAll, startAcme } from '../support/acme.ts';
import { expectAtMost, statementsDuring } from '../support/statements.ts';

const count = 100;

const acme = acmeForAll();

/** Of the outbox: taking, settling, the lease, and what is due. What webhooks cost is not its own. */
const isOfOutbox = (text: string): boolean =>
  /^(WITH lease AS|WITH outcome AS|UPDATE installations|SELECT FROM head_statuses)|^UPDATE .{0,12}head_statuses/.test(
    text.trim(),
  );

test.skipIf(!inject('postgresUrl'))(
  'a status costs the outbox less than two statements, even where writes are slow',
  async () => {
    const many = await acme.repository('many', Array(count).fill({}));
    const statements = await statementsDuring(() => acme.freeze(many));
    expect(acme.frozen(many)).toHaveLength(count);
    const ofOutbox = statements.filter(isOfOutbox);
    expect(ofOutbox.length).toBeGreaterThan(2 * (count / 25));
    // On a slow machine a batch is two writes and three statements.
    expectAtMost(1.6 * count, ofOutbox);
  },
);

test('a more urgent status that becomes due meanwhile waits at most a quarter of a second', async () => {
  const { github, app } = acme;
  const web = await acme.repository('web', Array(30).fill({}));
  const api = await acme.repository('api', [{}]);
  const delay = github.faults.add({
    kind: 'delay',
    ms: 50,
    match: { method: 'POST', path: /\/web\/statuses\// },
  });
  const order: string[] = [];
  const urgent = { isWaiting: true, tier: tiers.cannotWait, description: 'No freeze holds it, to be sure.' };
  const stop = github.onStatus(({ repository }) => {
    order.push(repository);
    // Beside the first batch, as a worker of another process would.
    if (order.length === 1)
      void app.deps.db.headStatus
        .updateMany({ where: { repository: { name: 'api' } }, data: urgent })
        .then(() => order.push('due'));
  });
  await acme.freeze(web);
  stop();
  delay.remove();
  expect(order.filter((each) => each === web)).toHaveLength(30);
  expect(order.indexOf(api) - order.indexOf('due')).toBeLessThan(10);
  expect(order.lastIndexOf(web)).toBeGreaterThan(order.indexOf(api));
});

test('of equally urgent statuses, the one that waits longest is written first', async () => {
  const slow = await startAcme({ statusWritesPerMinute: { least: 12, most: 12 } });
  const { github, clock } = slow;
  const repositories = [await slow.repository('one'), await slow.repository('two')];
  for (const repository of repositories) await slow.freeze(repository);
  const opened: string[] = [];
  const written: string[] = [];
  github.onStatus(({ sha }) => written.push(sha));
  for (let index = 0; index < 12; index++) {
    const repository = repositories[index % 2]!;
    opened.push(github.openPullRequest(repository, { author: 'ada' }).headSha);
    await slow.advanceTo(new Date(clock.now() + 1000));
  }
  expect(written.length).toBeLessThan(6);
  for (let step = 0; step < 12; step++) await slow.advanceTo(new Date(clock.now() + 10_000));
  await slow.close();
  expect(written).toEqual(opened);
});

test('a refusal for the pace is not an attempt: a taken and untried write is not looked up before', async () => {
  const { github } = acme;
  const web = await acme.repository('lib', Array(12).fill({}));
  const limit = { status: 429, retryAfter: 30, times: 1, match: { method: 'POST', path: /\/statuses\// } };
  github.faults.add({ kind: 'secondary-limit', ...limit });
  const start = github.requests.length;
  await acme.freeze(web);
  expect(acme.frozen(web)).toEqual([]);
  await acme.advanceTo(new Date(acme.clock.now() + 40_000));
  expect(acme.frozen(web)).toHaveLength(12);
  const looks = github.requests.slice(start).filter(({ path }) => /\/commits\/.*\/statuses/.test(path));
  expect(looks).toEqual([]);
});

test('a written status is settled while the next write hangs', async () => {
  const { github, app } = acme;
  const slow = await acme.repository('slow', [{}, {}]);
  // Of writes of one urgency and instant the order is that of their SHAs.
  const [first, second] = github
    .pullRequests(slow)
    .toSorted((one, other) => (one.headSha < other.headSha ? -1 : 1));
  const hanging = github.faults.add({
    kind: 'delay',
    ms: 11_000,
    match: { method: 'POST', path: new RegExp(`/slow/statuses/${second!.headSha}`) },
  });
  const attempts = () =>
    app.deps.db.headStatus.findMany({
      where: { repository: { name: 'slow' }, state: 'pending' },
      select: { sha: true, attempts: true, isWaiting: true },
    });
  const freezing = acme.freeze(slow);
  await vi.waitFor(async () =>
    expect((await attempts()).map(({ isWaiting }) => isWaiting).toSorted()).toEqual([false, true]),
  );
  expect(acme.frozen(slow)).toEqual([first!.number]);
  hanging.remove();
  await freezing;
  expect(acme.frozen(slow)).toEqual([1, 2]);
});
