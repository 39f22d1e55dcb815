import { beforeAll, expect, test } from 'vitest';
import { keepReports } from '../src/reports/freeze-report.ts';
import { acmeForAll } from './support/acme.ts';
import { Visitor, words } from './support/visitor.ts';

// When freezes of a plan are over, its page says what they did together, also when only their reports are left.

const acme = acmeForAll();
const [ada, bob] = [new Visitor(acme), new Visitor(acme)];
const minute = 60_000;
/** GitHub, which works in the background, is asked twice meanwhile. */
async function later(minutes: number) {
  const to = acme.clock.now() + minutes * minute;
  for (const seconds of [15, 30]) await acme.advanceTo(new Date(acme.clock.now() + seconds * 1000));
  await acme.advanceTo(new Date(to));
}
const wallClock = (minutes: number) =>
  new Date(acme.clock.now() + minutes * minute).toISOString().slice(0, 19);

async function makePlan(more: object): Promise<string> {
  const body = { name: 'Release', reason: 'Release', timezone: 'UTC', ...more };
  const {
    status,
    body: made,
    text,
  } = await acme.call('POST', '/v1/freeze_plans/acme', { as: acme.admin, body });
  expect(status, text).toBe(201);
  await acme.quiet();
  return made.id;
}

const see = async (visitor: Visitor, id: string) => {
  const page = await visitor.open(`/owners/acme/plans/${id}`);
  expect(page.status).toBe(200);
  return words(page);
};
/** From its heading to the next one. */
const reportIn = (text: string) => / Report (Over .*?) Freezes of the last year /.exec(text)?.[1] ?? null;

let id: string;

beforeAll(async () => {
  await acme.repository('web', [{}, {}]);
  await acme.repository('api', []);
  await acme.repository('docs', [{}]);
  await ada.signIn('ada');
  await bob.signIn('bob');
});

test('while it goes on there is no report; then its freezes have one together', async () => {
  id = await makePlan({ repositories: { include: ['web', 'api'] }, start: null, end: wallClock(120) });
  expect(reportIn(await see(ada, id))).toBe(null);
  await later(30);
  acme.github.closePullRequest('acme/web', 1);
  await later(30);
  acme.github.openPullRequest('acme/api', { author: 'ada' });
  await acme.quiet();
  await later(60);
  await later(1);
  acme.github.closePullRequest('acme/web', 2);
  await later(20);
  // They waited 30 min, 1 h and 2 h: no median of the medians of both freezes.
  expect(reportIn(await see(ada, id))).toMatch(
    /^Over 2 freezes that are over\. A pull request counts once for each freeze that blocked it\. Pull requests blocked 3 Median wait 1 h Longest wait 2 h Deployments held 0 Exemptions 0 Past the freeze 0 2 pull requests waited until the end\. 1 was merged or closed since, 1 min after the end\. Reports of 2 freezes .* web .* 2 2 h api .* 1 1 h$/,
  );
  const { text } = await ada.open(`/owners/acme/plans/${id}`);
  expect(text.match(/href="\/repos\/acme\/(web|api)\/freezes\/[\w-]+"/g)).toHaveLength(2);
  // Who may read the repositories sees the numbers, without who went past.
  const bobs = reportIn(await see(bob, id));
  expect(bobs).toContain('Pull requests blocked 3');
  expect(bobs).not.toMatch(/Exemptions|Past the freeze/);
});

test('it says the same when only the reports of its freezes are kept', async () => {
  const { deps } = acme.app;
  const before = reportIn(await see(ada, id));
  await keepReports(deps.sql, new Date(acme.clock.now() + 25 * 60 * minute));
  expect(await deps.db.freezeReport.count()).toBe(2);
  expect(await deps.db.freezeWait.count()).toBe(0);
  expect(reportIn(await see(ada, id))).toBe(before);
  // What an earlier version kept has no single waits: each counts with the median of its freeze.
  await deps.db.$executeRaw`UPDATE freeze_reports SET waited = NULL, emptied = NULL`;
  expect(reportIn(await see(ada, id))).toMatch(/blocked 3 Median wait 1 h 1[456] min Longest wait 2 h/);
});

test('of a plan that goes on it counts what is over, however much that is', async () => {
  const daily = await makePlan({
    ...{ repositories: { include: ['docs'] }, start: wallClock(60), end: wallClock(120) },
    recurrence: { rule: 'FREQ=DAILY' },
  });
  expect(reportIn(await see(ada, daily))).toBe(null);
  // Freezes of the 150 days before, each of which held two pull requests for an hour.
  const { db } = acme.app.deps;
  const { id: repositoryId } = await db.repository.findFirstOrThrow({ where: { name: 'docs' } });
  const one = await db.freeze.findFirstOrThrow({ where: { planId: daily } });
  const past = Array.from({ length: 150 }, (_, at) => {
    const startsAt = new Date(acme.clock.now() - (at + 1) * 24 * 60 * minute);
    return { ...one, id: crypto.randomUUID(), startsAt, endsAt: new Date(startsAt.getTime() + 60 * minute) };
  });
  const lists = {
    matchingConditions: one.matchingConditions as [],
    excludeConditions: one.excludeConditions as [],
    createdBy: one.createdBy as object,
    ...{ updatedBy: one.updatedBy as object, deletedBy: undefined, restores: undefined },
  };
  await db.freeze.createMany({
    data: past.map((each, at) => ({ ...each, ...lists, occurrence: `past ${at}`, reportDueAt: null })),
  });
  const wait = { median_wait_seconds: 3600, longest_wait_seconds: 3600, longest: 1 };
  const report = {
    pull_requests: { held: 2, ...wait },
    thaw: { waiting: 2, closed: 0, median_seconds: null, last_seconds: null },
    ...{ exemptions: [], exemptions_count: 1, bypasses: [], bypasses_count: 0, deployments_held: 3 },
  };
  await db.freezeReport.createMany({
    data: past.map(({ id: freezeId, endsAt: endedAt }) => ({
      ...{ freezeId, repositoryId, endedAt, report },
      waited: [3600, 3600],
    })),
  });
  const text = reportIn(await see(ada, daily))!;
  expect(text).toMatch(
    /^Over 150 freezes that are over\. .*Pull requests blocked 300 Median wait 1 h Longest wait 1 h Deployments held 450 Exemptions 150 Past the freeze 0 300 pull requests waited until the end\. Since then, none of them was merged or closed while no freeze held it\. Reports of 150 freezes .* These are the newest 100\.$/,
  );
});
