import { expect, test } from 'vitest';
import type { Deps } from '../../src/deps.ts';
import type { Job } from '../../src/database/queue/jobs.ts';
import { reconcilePullRequests, reconcileRepository } from '../../src/statuses/reconcile.ts';
import { acmeForAll } from '../support/acme.ts';
import { expectAtMost, statementsDuring } from '../support/statements.ts';

const acme = acmeForAll();
const sent: Job[][] = [];

/** The statements of some work, without the job queue's: what it sends is only counted in `sent`. */
async function statementsOf(work: (deps: Deps) => Promise<unknown>): Promise<string[]> {
  const queue = { ...acme.app.deps.queue, send: async (jobs: Job[]) => void sent.push(jobs) };
  sent.length = 0;
  const statements = await statementsDuring(() => work({ ...acme.app.deps, queue }));
  return statements.filter((text) => !/\bjobs\b|SELECT 1$/i.test(text));
}

const repositoryId = async (fullName: string) => {
  const name = fullName.split('/')[1]!;
  const { id } = await acme.app.deps.db.repository.findFirstOrThrow({ where: { nameKey: name } });
  return id;
};
const told = (number: number) => ({ number, installationId: null });
const onPostgres = test.skipIf(!process.env.TEST_DATABASE_URL);

onPostgres.each(['free', 'held'])(
  'a pull request that is %s takes one statement and one transaction',
  async (how) => {
    const repository = await acme.repository(`one-${how}`, [{ labels: ['risky'] }]);
    const id = await repositoryId(repository);
    if (how === 'held') await acme.freeze(repository, { matching_conditions: ['label=risky'] });
    await acme.app.deps.db.headStatus.deleteMany({ where: { repositoryId: id } });
    await acme.app.deps.db.openPullRequest.deleteMany({ where: { repositoryId: id } });
    const statements = await statementsOf((deps) => reconcilePullRequests(deps, id, [told(1)]));
    // The observation; BEGIN, lock, read, write, COMMIT.
    expectAtMost(6, statements);
    expect(sent).toHaveLength(1);
    expect(sent.flat().map(({ task }) => task)).toEqual(how === 'held' ? ['ask-merge-states'] : []);
  },
);

onPostgres('many pull requests that wait together take as many statements as one', async () => {
  const repository = await acme.repository(
    'many',
    Array.from({ length: 30 }, () => ({})),
  );
  const id = await repositoryId(repository);
  const all = Array.from({ length: 30 }, (_, index) => told(index + 1));
  expectAtMost(6, await statementsOf((deps) => reconcilePullRequests(deps, id, all)));
  // Besides: heads that nobody has any more.
  expectAtMost(7, await statementsOf((deps) => reconcileRepository(deps, id)));
});
