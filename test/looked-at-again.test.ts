import { expect, test } from 'vitest';
import { acmeForAll } from './support/acme.ts';

// A later look finds what a look cannot know and no event reports.

const acme = acmeForAll();
const later = (minutes: number) => acme.advanceTo(new Date(acme.clock.now() + minutes * 60_000));

test('a fact that GitHub did not give is asked for again', async () => {
  const web = await acme.repository('web', [{ labels: ['hotfix'] }]);
  const fault = acme.github.faults.add({ kind: 'partial', field: 'labels', pullRequests: [`${web}#1`] });
  await acme.freeze(web, { exclude_conditions: ['label=hotfix'] });
  expect(acme.frozen(web)).toEqual([1]);
  fault.remove();
  await later(10);
  expect(acme.frozen(web)).toEqual([]);
});

test('one pull request that GitHub fails on keeps no other from being judged', async () => {
  const api = await acme.repository('api', [{}, {}]);
  const { headSha } = acme.github.pullRequest(api, 2);
  const path = new RegExp(`compare/.*${headSha}`);
  const fault = acme.github.faults.add({ kind: 'status', status: 500, match: { path } });
  await acme.freeze(api, { matching_conditions: ['#commits-behind>0'] });
  await acme.freeze(api, { matching_conditions: ['number=1'] });
  expect(acme.frozen(api)).toEqual([1, 2]);
  fault.remove();
  await later(10);
  expect(acme.frozen(api)).toEqual([1]);
});

test('a check that is reported before its pull request was looked at is seen', async () => {
  const ops = await acme.repository('ops', [{}]);
  await acme.freeze(ops, { matching_conditions: ['check-failure=ci'] });
  acme.github.reportCheck(ops, 1, { name: 'ci', conclusion: 'failure' });
  await acme.app.deps.db.openPullRequest.deleteMany({});
  await acme.quiet();
  await later(1);
  expect(acme.frozen(ops)).toEqual([1]);
});

test('an instant that no database can store is never', async () => {
  const far = await acme.repository('far', [{}]);
  await acme.freeze(far, { matching_conditions: ['current-datetime<=9999-12-31T23:59:59.999'] });
  expect(acme.frozen(far)).toEqual([1]);
});

test('a merged dependency in another repository wakes the pull requests that depend on it', async () => {
  const lib = await acme.repository('lib', [{}]);
  const app = await acme.repository('app', [{ body: `Depends-On: ${lib}#1` }]);
  await acme.freeze(app, { matching_conditions: ['#depends-on=0'] });
  expect(acme.frozen(app)).toEqual([1]);
  acme.github.merge(lib, 1);
  await acme.quiet();
  expect(acme.frozen(app)).toEqual([]);
});

test('events that move an instant to later plan no job each', async () => {
  const busy = await acme.repository('busy', [{}]);
  await acme.freeze(busy, { matching_conditions: ['updated-at<7 days ago'] });
  const waiting = async () => {
    const [row] = await acme.app.deps.db.$queryRaw<{ count: bigint }[]>`
      SELECT count(*) FROM jobs WHERE task = 'reconcile-repository' AND NOT is_taken`;
    return Number(row!.count);
  };
  const before = await waiting();
  for (let edit = 0; edit < 5; edit++) {
    await later(1);
    acme.github.editTitle(busy, 1, `Edit ${edit}`);
    await acme.quiet();
  }
  expect(await waiting()).toBeLessThanOrEqual(before + 1);
});
