// The statements of the queue, from a webhook until nothing is left to do.
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { recordBoundaries } from '../src/freezes/record-boundaries.ts';
import { type Acme, startAcme } from './support/acme.ts';
import { instantHoldsOf } from './support/instant-holds.ts';
import {
  countStatements,
  expectAtMost,
  fewestOf,
  isOfWorker,
  statementsDuring,
} from './support/statements.ts';

describe.skipIf(!inject('postgresUrl'))('statements (PostgreSQL)', () => {
  let acme: Acme;
  let web: string;
  beforeAll(async () => {
    acme = await startAcme();
    web = await acme.repository('web', [{}]);
    await acme.quiet();
  });
  afterAll(() => acme.close());

  /** Those of the test's own clock do not count. */
  const countedDuring = async (work: () => Promise<unknown>) =>
    (await statementsDuring(work)).filter((text) => !text.includes('test_clock'));
  /** Workers ask after a message, after a job and when nothing is left: how often at once, is up to the machine. */
  const expectAtMostBeside = (ofWorkers: number, most: number, statements: string[]) => {
    expectAtMost(
      most,
      statements.filter((text) => !isOfWorker(text)),
    );
    expectAtMost(ofWorkers, statements.filter(isOfWorker));
  };

  test('a webhook and its jobs are saved by one statement', async () => {
    const statements = await countedDuring(async () => {
      acme.github.openPullRequest(web, { author: 'bob' });
      await acme.quiet();
    });
    const saving = statements.filter((text) => text.includes('webhook_deliveries'));
    expect(saving, 'its jobs are in it').toEqual([expect.stringContaining('INSERT INTO jobs')]);
  });

  test('an opened pull request costs at most 11 until its status is there, and a few for its two jobs', async () => {
    const open = async () => {
      acme.github.openPullRequest(web, { author: 'bob' });
      await acme.quiet();
    };
    expectAtMostBeside(9, 11, await fewestOf(() => countedDuring(open)));
  });

  test('the event about a status of our own costs none', async () => {
    const { github } = acme;
    const echo = github.deliveries.findLast(({ event }) => event === 'status')!;
    expect(await countedDuring(() => github.redeliver(echo.guid))).toEqual([]);
    expect(github.deliveries.at(-1)).toMatchObject({ event: 'status', statusCode: 202 });
  });

  test('1,000 freezes that begin at one instant are recorded, and told to a webhook, by at most 15', async () => {
    const { deps } = acme.app;
    await acme.call('POST', '/v1/webhooks/acme', {
      as: acme.admin,
      body: { kind: 'standard', url: 'https://ops.example/', events: ['freeze.started'] },
    });
    const { id } = await acme.freeze(web, { start: '2026-03-05T12:00:00', timezone: 'UTC' });
    const { matchingConditions, excludeConditions, createdBy, updatedBy, ...one } =
      await deps.db.freeze.findUniqueOrThrow({ where: { id } });
    const json = { matchingConditions, excludeConditions, createdBy, updatedBy } as object;
    const data = Array.from({ length: 999 }, () => ({ ...one, ...json, id: crypto.randomUUID() }));
    await deps.db.freeze.createMany({ data: data as never });
    const { startsAt } = one;
    await deps.db.freeze.updateMany({ data: { nextToldAt: startsAt } });
    const statements = await countedDuring(() => recordBoundaries(deps, startsAt.toISOString()));
    expectAtMost(15, statements);
    expect(await deps.db.outgoingDelivery.count({ where: { type: 'freeze.started' } })).toBe(1000);
    await deps.db.outgoingWebhook.deleteMany({});
    await deps.db.freeze.deleteMany({});
  });

  test('when idle: a minute costs at most 43, sweep included, and 24 to take and keep jobs', async () => {
    const minute = async () => {
      await acme.clock.tick(60_000);
      await acme.quiet();
    };
    await acme.quiet();
    expectAtMostBeside(24, 43, await fewestOf(() => countedDuring(minute)));
  });

  test('without a second App, only the statement that takes statuses looks at instant holds', async () => {
    const statements = await countedDuring(async () => {
      const { id } = await acme.freeze(web);
      acme.github.openPullRequest(web, { author: 'bob' });
      await acme.quiet();
      await acme.remove(web, id);
    });
    const about = statements.filter((text) => /instant_(holds|passes)/.test(text));
    expect(about.length).toBeGreaterThan(0);
    expect(about.filter((text) => !text.startsWith('WITH lease AS'))).toEqual([]);
  });

  describe('with a second App', () => {
    let held: Acme;
    beforeAll(async () => {
      held = await startAcme({}, { lock: true });
    });
    afterAll(() => held.close());

    test('an instant hold is begun by at most 4 changes of its row', async () => {
      const { held: repository } = instantHoldsOf(held);
      const place = await repository('held', 'lock', [{}]);
      const { statements, stop } = countStatements();
      // The rest of the work waits until the count is over.
      const isRead = ({ method, path }: { method: string; path: string }) =>
        method === 'POST' && path === '/graphql';
      const reading = held.github.faults.add({ kind: 'status', status: 502, match: isRead });
      await held.freeze(place);
      stop();
      reading.remove();
      const own = statements.filter(
        (text) => /instant_holds/.test(text) && !/^(WITH lease|SELECT)/.test(text),
      );
      expectAtMost(4, own);
    });
  });
});
