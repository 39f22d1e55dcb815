import { expect, test, vi } from 'vitest';
import { acmeForAll, heldUntilRemoved } from '../support/acme.ts';

const acme = acmeForAll();

test('while GitHub answers nothing about one owner, pull requests of another one are held at once', async () => {
  const { github } = acme;
  const slow = await acme.repository(
    'slow',
    Array.from({ length: 6 }, () => ({})),
  );
  github.addUser('zoe');
  github.addOrganization('globex', { admins: ['zoe'] });
  const { fullName: quick } = github.addRepository('globex/quick', {
    protect: { main: ['holdfast/freeze'] },
  });
  const { number } = github.openPullRequest(quick, { author: 'zoe', base: 'next' });
  github.install('globex');
  await acme.quiet();
  const admin = await acme.key('globex', 'admin');
  const body = { reason: 'Release', start: null, timezone: 'UTC', matching_conditions: ['base=main'] };
  await acme.call('POST', `/v1/repos/${quick}/scheduled_freeze`, { as: admin, body });
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
