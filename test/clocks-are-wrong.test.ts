// A clock that is wrong for seconds, of a machine or of one replica, changes nothing that is held.
import { beforeEach, describe, expect, test } from 'vitest';
import { acmeForAll } from './support/acme.ts';

const minute = 60_000;
const hour = 60 * minute;

const acme = acmeForAll();
beforeEach(async () => {
  await acme.clock.setWrong(0);
  await acme.quiet();
});

const pass = async (milliseconds: number) => {
  await acme.clock.tick(milliseconds);
  await acme.quiet();
};
const enforcementOf = async (repository: string, id = '') =>
  (
    await acme.call('GET', `/v1/repos/${repository}${id && `/scheduled_freeze/${id}`}/enforcement`, {
      as: acme.admin,
    })
  ).body;

/** All of a frozen repository is held, also what is pushed now, and everybody says so. */
async function expectHeld(repository: string, pullRequests: number[]): Promise<void> {
  const { github } = acme;
  github.push(repository, 2);
  const opened = github.openPullRequest(repository, { author: 'bob' }).number;
  await acme.quiet();
  const all = [...pullRequests, opened];
  expect(acme.frozen(repository)).toEqual(all);
  const emergency = await acme.freeze(repository, { reason: 'INC-10', end: '2026-03-01T20:00:00' });
  expect(await enforcementOf(repository, emergency.id)).toMatchObject({
    pull_requests: { to_hold: all.length, held: all.length },
  });
  await acme.remove(repository, emergency.id);
  const { findings, pull_requests } = await enforcementOf(repository);
  expect(pull_requests).toMatchObject({ to_hold: all.length, held: all.length });
  expect(findings).toContainEqual(
    expect.objectContaining({ check: 'clock', state: 'ok', message: "The clock agrees with GitHub's." }),
  );
  github.closePullRequest(repository, opened);
  await acme.quiet();
}

test.each([
  ['20 minutes ahead', 20 * minute],
  ['20 minutes behind', -20 * minute],
  ['8 hours ahead', 8 * hour],
])('a clock that is %s for eleven seconds holds what it held', async (name, wrong) => {
  const web = await acme.repository(name.replaceAll(' ', '-'), [{}, {}, {}]);
  await acme.freeze(web, { reason: 'INC-1', end: '2026-03-01T15:00:00' });
  await acme.clock.setWrong(wrong);
  acme.github.push(web, 2);
  await pass(11_000);
  expect(acme.frozen(web)).toEqual([1, 2, 3]);
  await acme.clock.setWrong(0);
  await pass(minute);
  await expectHeld(web, [1, 2, 3]);
});
