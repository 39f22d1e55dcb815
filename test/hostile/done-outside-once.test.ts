// Every kind of what Holdfast does outside, under the same faults: what comes late, is lost, doubled, killed, limited or
// refused. Two services work on one database, and where one of them must be slow, the test is a third.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  accepts,
  fails,
  hangs,
  isGone,
  isTooBusy,
  type Receiver,
  resets,
  startReceiver,
} from '../../sandbox/receiver.ts';
import type { Database } from '../../src/database/database.ts';
import type { SqlTx } from '../../src/database/sql.ts';
import type { TaskName } from '../../src/database/queue/jobs.ts';
import { createJobQueue, type TakenJob } from '../../src/database/queue/queue.ts';
import { tasks } from '../../src/server/worker.ts';
import { grantDeployments } from '../support/deployments.ts';
import { addWebhook } from '../support/outgoing.ts';
import { type InSlack, startInSlack } from '../support/slack.ts';

let acme: InSlack;
let receiver: Receiver;
let web: string;
let ada: string;
let count = 0;
beforeAll(async () => {
  acme = await startInSlack();
  await acme.replica();
  ada = await acme.link('ada');
  await grantDeployments(acme);
});
afterAll(() => acme.close());
beforeEach(async () => {
  receiver = await startReceiver({ now: () => new Date(acme.clock.now()) });
  await acme.app.deps.db.commentAnswer.deleteMany();
  await acme.app.deps.db.slackRequest.deleteMany();
  await acme.app.deps.db.deployment.deleteMany();
  web = await acme.repository(`web-${++count}`, [{}]);
});
afterEach(async () => {
  acme.github.faults.clear();
  await acme.app.deps.db.outgoingWebhook.deleteMany();
  await receiver.close();
  await acme.quiet();
});

const pass = (seconds: number) => acme.advanceTo(new Date(acme.clock.now() + seconds * 1000));
const commenting = { method: 'POST', path: /\/issues\/\d+\/comments$/ };
const whispers = () => acme.slack.whispers.filter(({ to }) => to === ada).length;
const reviewing = { method: 'POST', path: /\/deployment_protection_rule$/ };
const requests = ({ path: where } = commenting) =>
  acme.github.requests.filter(
    ({ method, path }) => method === 'POST' && where.test(path) && path.startsWith(`/repos/${web}/`),
  ).length;

/**
 * A kind: the task of its lanes, how somebody asks for one thing, how often it is there, and what its place does with it.
 * @property mayRepeat its place does not say what is there, so what may have arrived is sent once more.
 */
type Kind = {
  task: TaskName;
  mayRepeat: boolean;
  begin(): Promise<void>;
  ask(): Promise<unknown>;
  arrived(): number;
  tried(): number;
  isOver(): Promise<boolean>;
  recordedBy: { table: string; when: string };
  goDown(): void;
  comeBack(): void;
  lose(): void;
  limit(): void;
  refuse(): void;
  /** It takes the next one, and answers when this is called. */
  hold(): () => void;
};

let before = 0;
const db = () => acme.app.deps.db;

/** What faults of GitHub do to requests of a kind. */
const atGitHub = (match: typeof commenting) => ({
  goDown: () => acme.github.faults.add({ match, kind: 'status', status: 502 }),
  comeBack: () => acme.github.faults.clear(),
  lose: () => acme.github.faults.add({ match, kind: 'reset-after', times: 1 }),
  limit: () => acme.github.faults.add({ match, kind: 'secondary-limit', retryAfter: 60, times: 1 }),
  hold: () => {
    const delay = acme.github.faults.add({ match, kind: 'delay', ms: 60_000, times: 1 });
    return () => delay.remove();
  },
});

/** What GitHub is told of a deployment that waits. No runner is free, so no event wakes anybody. */
function review(state: 'approved' | 'pending', recorded: string, prepare: () => unknown): Kind {
  let isCancelled = false;
  const isSettled = { OR: [{ state: { not: 'waiting' } }, { reports: { gt: 0 }, attempted: null }] };
  return {
    task: 'review-deployments',
    mayRepeat: false,
    begin: async () => {
      acme.github.addEnvironment(web, 'production');
      acme.github.occupyRunners(web);
      await prepare();
      await acme.quiet();
      [before, isCancelled] = [requests(reviewing), false];
    },
    ask: async () => {
      const { id } = acme.github.runWorkflow(web, { environments: ['production'] });
      if (isCancelled) acme.github.cancelRun(web, id);
    },
    arrived: () =>
      acme.github
        .runsOf(web)
        .flatMap(({ id }) => acme.github.reviewsOf(web, id))
        .filter((each) => each.state === state).length,
    tried: () => requests(reviewing) - before,
    isOver: async () =>
      (await db().deployment.count({
        where: { ...isSettled, repository: { nameKey: web.split('/')[1]! } },
      })) === 1,
    recordedBy: { table: 'deployments', when: recorded },
    ...atGitHub(reviewing),
    refuse: () => (isCancelled = true),
  };
}

const kinds: [string, Kind][] = [
  [
    'a message to an outgoing webhook',
    {
      task: 'send-messages',
      mayRepeat: true,
      begin: async () => void (await addWebhook(acme, receiver.url, { events: ['freeze.started'] })),
      ask: () =>
        acme.call('POST', `/v1/repos/${web}/scheduled_freeze`, {
          as: acme.admin,
          body: { reason: 'x', start: null, timezone: 'UTC' },
        }),
      arrived: () => receiver.arrivals.filter(({ status }) => status === null || status < 300).length,
      tried: () => receiver.arrivals.length,
      isOver: async () => (await db().outgoingDelivery.count({ where: { state: 'waiting' } })) === 0,
      recordedBy: { table: 'outgoing_deliveries', when: `NEW.state <> 'waiting'` },
      goDown: () => receiver.now(fails),
      comeBack: () => receiver.now(accepts),
      lose: () => receiver.next(resets),
      limit: () => receiver.next(isTooBusy(60)),
      refuse: () => receiver.next(isGone),
      hold: () => (receiver.next(hangs), () => receiver.release()),
    },
  ],
  [
    'the answer to a comment',
    {
      task: 'write-comment',
      mayRepeat: false,
      begin: async () => void (before = requests()),
      ask: async () => acme.github.comment(web, 1, { by: 'ada', body: '/holdfast status' }),
      arrived: () => acme.answers(web, 1).length,
      tried: () => requests() - before,
      isOver: async () => (await db().commentAnswer.count({ where: { isSettled: false } })) === 0,
      recordedBy: { table: 'comment_answers', when: 'NEW.is_settled' },
      ...atGitHub(commenting),
      refuse: () => acme.github.lock(web, 1),
    },
  ],
  [
    'an answer in Slack',
    {
      task: 'reply-in-slack',
      mayRepeat: true,
      begin: async () => void (before = whispers()),
      ask: () => acme.slack.command(ada, acme.channel, `status ${web}`),
      arrived: () => whispers() - before,
      tried: () => whispers() - before,
      isOver: async () => (await db().slackRequest.count({ where: { isSettled: false } })) === 0,
      recordedBy: { table: 'slack_requests', when: 'NEW.is_settled' },
      goDown: () => acme.slack.goDown(),
      comeBack: () => acme.slack.comeBack(),
      lose: () => acme.slack.next('lost'),
      limit: () => acme.slack.next('limited'),
      refuse: () => acme.slack.next('refused', 'refused'),
      hold: () => (acme.slack.next('held'), () => acme.slack.release()),
    },
  ],
  ['a decision on a deployment', review('approved', `NEW.state <> 'waiting'`, () => {})],
  [
    'a report on a deployment that is held',
    review('pending', 'NEW.reports > OLD.reports', () => acme.freeze(web, { holds: ['deployments'] })),
  ],
];

describe.each(kinds)('%s', (_, kind) => {
  const queueOn = (sql: SqlTx) =>
    createJobQueue(
      { sql: sql as Database['sql'], listen: () => Promise.reject(new Error('not here')) },
      acme.clock,
    );
  const takeBy = (sql: SqlTx): Promise<TakenJob[]> =>
    queueOn(sql).exchange([], [{ task: kind.task, jobs: 10, inLanes: true }]);
  const running = () => db().job.findMany({ where: { task: kind.task, isTaken: true } });
  /** Whoever saw that something changed asks the lane again. */
  const askAgain = async () => {
    const { task, key, about, data, lane } = (await db().job.findFirst({ where: { task: kind.task } }))!;
    await acme.app.deps.queue.send([{ task, key, about, data, lane } as never]);
  };
  const once = kind.mayRepeat ? [1, 2] : [1];
  beforeEach(() => kind.begin());

  test('late: it is down for a while, and then it is there once', async () => {
    kind.goDown();
    await kind.ask();
    await acme.quiet();
    expect([kind.arrived(), await kind.isOver()]).toEqual([0, false]);
    kind.comeBack();
    await pass(70);
    expect([kind.arrived(), await kind.isOver()]).toEqual([1, true]);
  });

  test('lost: it arrives, and its answer does not', async () => {
    kind.lose();
    await kind.ask();
    await acme.quiet();
    expect([kind.arrived(), await kind.isOver()]).toEqual([1, false]);
    await pass(70);
    expect(once).toContain(kind.arrived());
    expect(await kind.isOver()).toBe(true);
  });

  test('doubled: while it is under way, whoever asks again and however often, nobody does it beside', async () => {
    const release = kind.hold();
    await kind.ask();
    await vi.waitFor(() => expect(kind.tried()).toBe(1));
    await Promise.all([askAgain(), askAgain(), askAgain()]);
    expect(await takeBy(acme.app.deps.sql)).toEqual([]);
    release();
    await acme.quiet();
    expect([kind.arrived(), await kind.isOver()]).toEqual([1, true]);
    expect(await running()).toEqual([]);
  });

  test('killed: the process ends between the act and its record', async () => {
    const { table, when } = kind.recordedBy;
    await db().$executeRawUnsafe(`CREATE FUNCTION lose_record() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF ${when} THEN RAISE 'killed'; END IF; RETURN NEW; END $$`);
    await db().$executeRawUnsafe(
      `CREATE TRIGGER lose_record BEFORE UPDATE ON ${table} FOR EACH ROW EXECUTE FUNCTION lose_record()`,
    );
    await kind.ask();
    await acme.quiet();
    await db().$executeRawUnsafe(`DROP TRIGGER lose_record ON ${table}`);
    await db().$executeRawUnsafe(`DROP FUNCTION lose_record`);
    expect([kind.arrived(), await kind.isOver()]).toEqual([1, false]);
    await pass(10);
    expect(once).toContain(kind.arrived());
    expect(await kind.isOver()).toBe(true);
  });

  test('stood still: another process took the lane meanwhile, and what the first one brings changes nothing', async () => {
    const release = kind.hold();
    await kind.ask();
    await vi.waitFor(() => expect(kind.tried()).toBe(1));
    // At once, or the replica takes it.
    const [taken] = await acme.app.deps.sql.transaction(async (tx) => {
      const late = `UPDATE jobs SET due_at = job_now() - interval '1 minute' WHERE task = $1 AND is_taken`;
      await tx.query('let a process stand still', late, [kind.task]);
      return takeBy(tx);
    });
    release();
    await vi.waitFor(() => expect(kind.arrived()).toBe(1));
    await acme.app.settled();
    expect(await kind.isOver()).toBe(false);
    await tasks.find(({ task }) => task === kind.task)!.run(acme.app.deps, [taken!.job]);
    expect(once).toContain(kind.arrived());
    expect(await kind.isOver()).toBe(true);
    await queueOn(acme.app.deps.sql).exchange([taken!], []);
  });

  test('limited: nothing goes there before, whoever asks, and then it is there once', async () => {
    kind.limit();
    await kind.ask();
    await acme.quiet();
    const tried = kind.tried();
    await pass(50);
    await askAgain();
    await acme.quiet();
    expect([kind.arrived(), kind.tried(), await kind.isOver()]).toEqual([0, tried, false]);
    await pass(20);
    expect([kind.arrived(), await kind.isOver()]).toEqual([1, true]);
  });

  test('refused: it is given up, and not tried again', async () => {
    kind.refuse();
    await kind.ask();
    await acme.quiet();
    expect([kind.arrived(), await kind.isOver()]).toEqual([0, true]);
    const tried = kind.tried();
    await pass(120);
    expect(kind.tried()).toBe(tried);
  });
});
