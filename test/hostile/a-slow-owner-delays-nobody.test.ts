import { afterEach, expect, test, vi } from 'vitest';
import { acmeForAll, heldUntilRemoved } from '../support/acme.ts';

const acme = acmeForAll();
afterEach(() => vi.restoreAllMocks());

const protect = { main: ['holdfast/freeze'] };

/** A repository of another owner, with a pull request, and a key of its admin. */
async function elsewhere(owner: string, base: string) {
  const { github } = acme;
  github.addUser(`${owner}-admin`);
  github.addOrganization(owner, { admins: [`${owner}-admin`] });
  const { fullName: quick } = github.addRepository(`${owner}/quick`, { protect });
  const { number } = github.openPullRequest(quick, { author: `${owner}-admin`, base });
  github.install(owner);
  await acme.quiet();
  return { quick, number, admin: await acme.key(owner, 'admin') };
}

const untilNow = { reason: 'Release', start: null, timezone: 'UTC', matching_conditions: ['base=main'] };

test('while GitHub answers nothing about one owner, pull requests of another one are held at once', async () => {
  const { github } = acme;
  const slow = await acme.repository(
    'slow',
    Array.from({ length: 6 }, () => ({})),
  );
  const { quick, number, admin } = await elsewhere('globex', 'next');
  await acme.call('POST', `/v1/repos/${quick}/scheduled_freeze`, { as: admin, body: untilNow });
  await acme.quiet();
  expect(acme.shown(quick, number)?.state).toBe('success');

  // More looks at once than one repository keeps workers, each without an answer.
  const questions = () => github.requests.filter(({ path }) => path === '/graphql').length;
  const hangs = github.faults.add({ kind: 'delay', ms: 60_000, match: { path: /graphql/ }, times: 3 });
  for (let look = 1; look <= 3; look++) {
    const before = questions();
    github.editTitle(slow, look, 'Slow');
    await vi.waitFor(() => expect(questions()).toBe(before + 1));
  }
  for (const each of [4, 5, 6]) github.editTitle(slow, each, 'Slow');
  // It was green, and now merges into the frozen branch.
  github.retarget(quick, number, 'main');
  await vi.waitFor(() => expect(acme.shown(quick, number)).toEqual(heldUntilRemoved));
  // Before any of the others was given up.
  expect(await acme.app.deps.db.job.count({ where: { attempt: { gt: 0 } } })).toBe(0);
  hangs.remove();
  await acme.quiet();
});

test('while GitHub hangs where a plan of one owner begins, a freeze of another owner begins at once', async () => {
  const { github } = acme;
  for (let index = 1; index <= 20; index++) {
    const { fullName } = github.addRepository(`acme/hangs-${index}`, { protect });
    github.openPullRequest(fullName, { author: 'bob', base: 'next' });
  }
  const { quick, number, admin } = await elsewhere('initech', 'main');
  const begun = () => github.requests.filter(({ path }) => /\/hangs-\d+\/stacks/.test(path)).length;
  const before = begun();
  const match = { path: /^\/repos\/acme\/hangs-\d+\/stacks/ };
  const hangs = github.faults.add({ kind: 'delay', ms: 60_000, match });
  // None is given up, so nobody gets a worker by that.
  vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => new AbortController().signal);
  const plan = { name: 'All', reason: 'All', repositories: { include: ['hangs-*'] }, timezone: 'UTC' };
  await acme.call('POST', '/v1/freeze_plans/acme', { as: acme.admin, body: { ...plan, start: null } });
  // As many as work for one owner.
  await vi.waitFor(() => expect(begun() - before).toBe(16), 20_000);
  await acme.call('POST', `/v1/repos/${quick}/scheduled_freeze`, { as: admin, body: untilNow });
  await vi.waitFor(() => expect(acme.shown(quick, number)).toEqual(heldUntilRemoved), 20_000);
  hangs.remove();
  await acme.quiet();
});
