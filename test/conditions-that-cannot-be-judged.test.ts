import { beforeAll, describe, expect, test } from 'vitest';
import { type Acme, free, acmeForAll } from './support/acme.ts';

// GitHub tells only a part. What a condition then asks for is not known, and not known holds: in both lists.

const acme = acmeForAll();
let names = 0;

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

describe('a field is missing', () => {
  const seen: Record<'matching' | 'excluding' | 'told', ReturnType<Acme['shown']>[]> = {
    matching: [],
    excluding: [],
    told: [],
  };

  // In one repository, a pull request and a freeze for each field.
  beforeAll(async () => {
    const web = await acme.repository(
      'web',
      fields.map(() => ({})),
    );
    const shown = () => fields.map((_field, index) => acme.shown(web, index + 1));
    const faults = fields.map(([field], index) =>
      acme.github.faults.add({ kind: 'partial', field, pullRequests: [`${web}#${index + 1}`] }),
    );
    // Files are asked for in another way, too.
    faults.push(acme.github.faults.add({ kind: 'status', status: 404, match: { path: /\/files/ } }));
    const freezes: string[] = [];
    for (const [index, [, condition]] of fields.entries()) {
      const { id } = await acme.freeze(web, { matching_conditions: [`number=${index + 1}`, condition] });
      freezes.push(id);
    }
    seen.matching = shown();
    for (const [index, [, condition]] of fields.entries()) {
      const lists = {
        matching_conditions: [`number=${index + 1}`],
        exclude_conditions: [{ not: condition }],
      };
      await acme.update(web, freezes[index]!, lists);
    }
    seen.excluding = shown();
    for (const fault of faults) fault.remove();
    fields.forEach((_field, index) => acme.github.editTitle(web, index + 1, 'Look again'));
    await acme.quiet();
    seen.told = shown();
  });

  test.each(fields.map((row, index) => [...row, index] as const))(
    '%s: the freeze holds, selected or excluded, until GitHub says',
    (_field, _condition, why, index) => {
      expect(seen.matching[index]).toEqual(unjudged(why));
      expect(seen.excluding[index]).toEqual(unjudged(why));
      expect(seen.told[index]).toEqual(free);
    },
  );
});

test('conditions that need a permission that the installation has not accepted hold; others work', async () => {
  const { github } = acme;
  github.addTeam('acme', 'core', ['bob']);
  const needing = {
    checks: 'check-failure=ci',
    deployments: 'deployment-failure=staging',
    members: 'author=@acme/core',
  };
  const all = Object.entries(github.app.permissions);
  const without = Object.fromEntries(all.filter(([name]) => !Object.hasOwn(needing, name)));
  github.acceptPermissions('acme', without);
  const vault = await acme.repository('vault', [{}, {}, {}, { base: 'release' }], { private: true });
  for (const [index, condition] of Object.values(needing).entries()) {
    await acme.freeze(vault, { matching_conditions: ['base=main', `number=${index + 1}`, condition] });
  }
  expect(acme.frozen(vault)).toEqual([1, 2, 3]);
  for (const number of [1, 2, 3]) {
    expect(acme.shown(vault, number)?.description).toMatch(
      /could not be judged: .*accept its new permissions/,
    );
  }
  github.acceptPermissions('acme', Object.fromEntries(all));
  await acme.quiet();
  expect(acme.frozen(vault)).toEqual([]);
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
