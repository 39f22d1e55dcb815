import { expect, test } from 'vitest';
import { acmeForAll } from './support/acme.ts';

// What people mean by a value of a condition that nothing has.

const acme = acmeForAll();
const pullRequests = [{ title: 'A' }, { title: 'B', labels: ['hotfix'] }, { title: 'C' }, { title: 'D' }];
const hotfix = ' A pull request has `hotfix`: the case of letters counts.';
let count = 0;

const ask = async (repository: string, rest: string, conditions: object) => {
  const body = { reason: 'Release', start: null, timezone: 'UTC', ...conditions };
  const path = `/v1/repos/${repository}/scheduled_freeze${rest}`;
  return acme.call('POST', path, { as: acme.admin, body });
};

/** @param condition that matches no pull request. */
const excludesNone = (condition: string): string =>
  `exclude_conditions exclude none of the open pull requests (4): \`${condition}\` matches none.`;

test.each<[string[] | object[], string, string]>([
  [['label=Hotfix', 'base=main'], 'label=Hotfix', hotfix],
  [
    ['base=main', 'label=["hotfix","security"]'],
    'label=["hotfix","security"]',
    ' A condition has one value: write one for each, as `{"or": ["label=…", "label=…"]}`.',
  ],
  [[{ or: ['label=Hotfix', 'label=urgent'] }], '{"or":["label=Hotfix","label=urgent"]}', hotfix],
  [['label=Later'], 'label=Later', ' The repository has `later`: the case of letters counts.'],
  [['label=later'], 'label=later', ''],
])('exclusions exclude nothing: %j', async (exclude_conditions, condition, hint) => {
  const repository = await acme.repository(`meant-${++count}`, [...pullRequests, { labels: ['later'] }]);
  acme.github.closePullRequest(repository, 5);
  await acme.quiet();
  const made = await ask(repository, '', { exclude_conditions });
  expect(made.body.warnings).toContain(`${excludesNone(condition)}${hint}`);
  const [preview] = (await ask(repository, '/preview', { exclude_conditions })).body.warnings.filter(
    ({ type }: { type: string }) => type === 'excludes_nothing',
  );
  expect(preview.message).toBe(`${excludesNone(condition)}${hint}`);
});

test('conditions that match nothing are told what is meant', async () => {
  const repository = await acme.repository(`meant-${++count}`, pullRequests);
  const made = await ask(repository, '', { matching_conditions: ['base=main', 'label=HOTFIX'] });
  expect(made.body.warnings).toEqual([
    'This freeze holds none of the open pull requests (4).',
    'matching_conditions match none of the open pull requests: `label=HOTFIX` matches none. A pull request has `hotfix`: the case of letters counts.',
  ]);
  // Clients of the interface get the header that they know.
  expect(made.headers.get('warning')).not.toContain('HOTFIX');
});

test('two exclusions that narrow each other, and match nothing now, are no mistake', async () => {
  const repository = await acme.repository(`meant-${++count}`, pullRequests);
  const made = await ask(repository, '', { exclude_conditions: ['label=urgent', 'base=release'] });
  expect(made.body).not.toHaveProperty('warnings');
});

test.each([
  ['what is not meant so', ['base=release', { not: 'label=HOTFIX' }]],
  ['what another one decides', [{ or: ['label=HOTFIX', 'base=main'] }, 'base=release']],
])('a condition that matches something is not said to match none: %s', async (_, matching_conditions) => {
  const repository = await acme.repository(`meant-${++count}`, pullRequests);
  const made = await ask(repository, '', { matching_conditions });
  expect(made.body.warnings).toEqual(['This freeze holds none of the open pull requests (4).']);
});
