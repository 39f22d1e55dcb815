import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Acme, startAcme } from './support/acme.ts';

// GitHub tells only a part. What a condition then asks for is not known, and not known holds: in both lists.

let acme: Acme;
let names = 0;
beforeAll(async () => {
  acme = await startAcme();
});
afterAll(() => acme.close());

const unjudged = (why: string) => ({
  state: 'pending',
  description: `Frozen until removed: could not be judged: ${why}`,
});

/** By GraphQL field: conditions that read it and that a whole answer would make let the pull request go. */
const fields: [string, string, string][] = [
  ['labels', 'label=x', 'GitHub did not give its labels'],
  ['assignees', 'assignee=bob', 'GitHub did not give its assignees'],
  ['reviewRequests', 'review-requested=bob', 'GitHub did not give its review requests'],
  ['latestOpinionatedReviews', '#approved-reviews-by>0', 'GitHub did not give its reviews'],
  ['reviews', 'commented-reviews-by=bob', 'GitHub did not give its reviewing comments'],
  ['reviewThreads', '#review-threads-resolved>0', 'GitHub did not give its review threads'],
  ['files', 'files~=^infra/', 'GitHub did not give its files'],
  ['statusCheckRollup', 'check-failure=ci', 'GitHub did not give its checks'],
  ['deployments', 'deployment-failure=staging', 'GitHub did not give its deployments'],
  ['reviewDecision', 'github-review-decision=APPROVED', 'GitHub did not give its review decision'],
];

test.each(fields)(
  '%s is missing: it holds, selected or excluded, and lets go once GitHub tells',
  async (field, condition, why) => {
    const repository = await acme.repository(`partial-${names++}`, [{}]);
    const path = new RegExp(`${repository}/pulls/1/files`);
    const faults = [
      acme.github.faults.add({ kind: 'partial', field, pullRequests: [`${repository}#1`] }),
      // Files are asked for in another way, too.
      acme.github.faults.add({ kind: 'status', status: 404, match: { path } }),
    ];
    const { id } = await acme.freeze(repository, { matching_conditions: [condition] });
    expect(acme.shown(repository, 1)).toEqual(unjudged(why));
    await acme.update(repository, id, { matching_conditions: [], exclude_conditions: [{ not: condition }] });
    expect(acme.shown(repository, 1)).toEqual(unjudged(why));
    for (const fault of faults) fault.remove();
    acme.github.editTitle(repository, 1, 'Look again');
    await acme.quiet();
    expect(acme.frozen(repository)).toEqual([]);
  },
);

describe('a permission that the installation has not accepted', () => {
  test.each<[string, string]>([
    ['checks', 'check-failure=ci'],
    ['deployments', 'deployment-failure=staging'],
    ['members', 'author=@acme/core'],
  ])('%s: conditions that need it hold, others work', async (permission, condition) => {
    const other = await startAcme();
    try {
      other.github.addTeam('acme', 'core', ['bob']);
      const all = { ...other.github.app.permissions };
      delete all[permission];
      other.github.acceptPermissions('acme', all);
      const vault = await other.repository('vault', [{}, { base: 'release' }], { private: true });
      await other.freeze(vault, { matching_conditions: ['base=main', condition] });
      expect(other.frozen(vault)).toEqual([1]);
      expect(other.shown(vault, 1)?.description).toMatch(/could not be judged: .*accept its new permissions/);

      other.github.acceptPermissions('acme', other.github.app.permissions);
      other.github.editTitle(vault, 1, 'Look again');
      await other.quiet();
      expect(other.frozen(vault)).toEqual([]);
    } finally {
      await other.close();
    }
  });
});

test('the log says which pull requests could not be judged, and why', async () => {
  const repository = await acme.repository(`partial-${names++}`, [{}]);
  const fault = acme.github.faults.add({
    kind: 'partial',
    field: 'labels',
    pullRequests: [`${repository}#1`],
  });
  acme.logs.length = 0;
  await acme.freeze(repository, { matching_conditions: ['label=x'] });
  fault.remove();
  expect(acme.shown(repository, 1)).toEqual(unjudged('GitHub did not give its labels'));
  const lines = acme.logs.filter((line) => line.includes('conditions could not be judged'));
  expect(lines.length).toBeGreaterThan(0);
  expect(lines[0]).toContain('GitHub did not give its labels');
  expect(lines[0]).toContain(`"repository":"${repository}"`);
});
