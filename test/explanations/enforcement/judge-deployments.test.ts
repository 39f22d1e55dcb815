import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import {
  enablingCommand,
  type EnvironmentFacts,
  judgeEnvironments,
  judgeHeldDeployments,
  judgeWorkflows,
} from '../../../src/explanations/enforcement/judge-environments.ts';
import { readJobs } from '../../../src/explanations/enforcement/read-environment.ts';
import { known, unknownFact } from '../../../src/github/pull-requests/pull-request.ts';
import type { StoredFreeze } from '../../../src/freezes/freeze.ts';

// Environments and workflows of every kind, also those that the sandbox cannot have.

const target = {
  web: 'https://github.com',
  api: 'https://api.github.com',
  repository: 'acme/web',
  context: 'holdfast/freeze',
  appId: 7,
};
const environment = (name: string, more: Partial<EnvironmentFacts> = {}): EnvironmentFacts => ({
  ...{ id: 5, name, waits: true, rules: 1, adminsBypass: false },
  ...more,
});
const off = { waits: false, rules: 0 };
const freeze = { holds: ['deployments'], environments: ['prod*'] } as StoredFreeze;
const judge = (environments: EnvironmentFacts[], more: { total?: number; isPrivate?: boolean } = {}) =>
  judgeEnvironments(
    known({ environments, total: more.total ?? environments.length }),
    [freeze],
    target,
    more.isPrivate ?? false,
  );
const settings = 'https://github.com/acme/web/settings/environments/5/edit';

test.each([
  ['with the rule', environment('production'), 'ok', null],
  ['that administrators bypass', environment('production', { adminsBypass: true }), 'warning', settings],
  ['without the rule, which a freeze holds', environment('production', off), 'warning', settings],
  ['without the rule, which no freeze holds', environment('staging', off), 'ok', settings],
  ['with six rules of others', environment('production', { waits: false, rules: 6 }), 'warning', 'the most'],
])('an environment %s', (_, facts, state, remedy) => {
  const [found] = judge([facts]);
  expect(found).toMatchObject({ check: 'deployments', state });
  expect(found!.message).toContain(`deploys to ${facts.name}`);
  if (remedy === null) expect(found!.remedy).toBeNull();
  else expect(found!.remedy).toContain(remedy);
  expect(found!.remedy ?? '').not.toContain(facts.rules === 6 ? 'gh api' : 'the most');
});

test('who edits workflows can name another environment, and what was not looked at is said', () => {
  const messages = judge([environment('production')], { total: 23 }).map(({ message }) => message);
  expect(messages).toContain(
    'Anybody who can edit a workflow can name another environment, which has no rule.',
  );
  expect(messages).toContain('Holdfast did not look at 22 more environments of acme/web.');
  expect(judge([])[0]).toMatchObject({
    state: 'warning',
    message: 'acme/web has no environments on GitHub.',
  });
});

test('of a private repository, a rule that is enabled shows that the plan has rules', () => {
  const plan = expect.objectContaining({
    state: 'unknown',
    message: expect.stringContaining('only with GitHub Enterprise'),
    remedy: expect.stringContaining('holdfast gate acme/web --environment NAME'),
  });
  expect(judge([environment('a', off)], { isPrivate: true })).toContainEqual(plan);
  expect(judgeEnvironments(unknownFact('why'), [], target, true)).toContainEqual(plan);
  expect(judge([environment('a')], { isPrivate: true })).not.toContainEqual(plan);
  expect(judge([environment('a', off)])).not.toContainEqual(plan);
  const server = { ...target, web: 'https://github.example.com' };
  expect(judgeEnvironments(known({ environments: [], total: 0 }), [], server, true)).not.toContainEqual(plan);
});

test.each(['production', 'Prod EU/1', 'it\'s $(id) `id` *?![a]{b,c} ü~&|;<>"\\', '~', '-x'])(
  'the call for %j comes through a shell whole',
  (name) => {
    const command = enablingCommand(target, name).replace('gh', `printf '%s\\n'`);
    const words = execFileSync('/bin/sh', ['-c', command], { encoding: 'utf8' }).trimEnd().split('\n');
    expect(words.slice(0, 3)).toEqual(['api', '--method', 'POST']);
    expect(words.slice(4)).toEqual(['-F', 'integration_id=7']);
    const [, , , , environments, encoded, rules] = words[3]!.split('/').toSpliced(0, 0, 'repos');
    expect([environments, rules]).toEqual(['environments', 'deployment_protection_rules']);
    expect(decodeURIComponent(encoded!)).toBe(name);
  },
);

test('the call names the host of a GitHub Enterprise Server', () => {
  expect(enablingCommand({ ...target, web: 'https://github.example.com' }, 'production')).toBe(
    'gh api --hostname github.example.com --method POST repos/acme/web/environments/production/deployment_protection_rules -F integration_id=7',
  );
});

test.each([
  ['all', [environment('production')], true, 'GitHub waits for Holdfast before it deploys to production.'],
  [
    'some',
    [environment('production'), environment('prod-eu', off)],
    false,
    'Deployments to prod-eu are not stopped: the rule is not enabled there. GitHub waits for Holdfast before it deploys to production.',
  ],
  [
    'none',
    [environment('production', off)],
    false,
    'Deployments to prod* are not stopped: no environment has the rule.',
  ],
  [
    'absent',
    [environment('staging')],
    false,
    'Deployments to prod* are not stopped: there is no such environment.',
  ],
])('a freeze of deployments: %s', (held, environments, enforced, sentence) => {
  const facts = known({ environments, total: environments.length });
  expect(judgeHeldDeployments(freeze, facts)).toMatchObject({ held, enforced, sentence });
});

test('whether a freeze of deployments is enforced may be unknown', () => {
  expect(judgeHeldDeployments(freeze, null).enforced).toBe('unknown');
  expect(judgeHeldDeployments(freeze, unknownFact('it needs Actions: read'))).toMatchObject({
    enforced: 'unknown',
    sentence: 'Holdfast cannot tell whether deployments to prod* are stopped: it needs Actions: read.',
  });
  const some = known({ environments: [environment('production')], total: 2 });
  expect(judgeHeldDeployments(freeze, some).enforced).toBe('unknown');
});

const path = '.github/workflows/deploy.yml';
const jobs = (...lines: string[]) => readJobs(path, ['on: push', 'jobs:', ...lines].join('\n'));
const without = (line: number, environment: string | null) => ({
  place: `${path}:${line}`,
  environment,
  without: 'deployment',
});
const unclear = (line: number) => ({ place: `${path}:${line}`, environment: null, without: 'cannot tell' });

test.each([
  [
    'in braces',
    ['  a:', '    environment: {name: production, deployment: false}'],
    [without(4, 'production')],
  ],
  [
    'in lines',
    ['  a:', '    environment:', '      name: production', '      deployment: false'],
    [without(6, 'production')],
  ],
  ['without a name', ['  a:', '    environment: {deployment: false}'], [without(4, null)]],
  [
    'as text, with quoted keys',
    ['  a: {"environment": {"name": x, "deployment": "false"}}'],
    [without(3, 'x')],
  ],
  [
    'for a name from an expression',
    ['  a:', '    environment: {name: "${{ inputs.e }}", deployment: false}'],
    [without(4, null)],
  ],
  [
    'by an anchor',
    ['  a:', '    environment: &e {name: x, deployment: false}', '  b:', '    environment: *e'],
    [without(4, 'x'), without(4, 'x')],
  ],
  [
    'not said',
    ['  a:', '    environment: production', '  b:', '    environment: {name: x, deployment: true}'],
    [],
  ],
  [
    'elsewhere',
    ['  a:', '    env: {deployment: false}', '    steps:', '      - with: {deployment: false}'],
    [],
  ],
  ['by an expression', ['  a:', '    environment: {name: x, deployment: "${{ inputs.d }}"}'], [unclear(4)]],
  ['by an expression for all', ['  a:', '    environment: ${{ matrix.environment }}'], [unclear(4)]],
  ['in another repository', ['  a:', '    uses: acme/ci/.github/workflows/deploy.yml@v1'], [unclear(4)]],
  ['in another file', ['  a:', '    uses: ./.github/workflows/other.yml'], []],
  ['in something else than jobs', ['  - deployment: false'], []],
  ['in nothing', ['  a:', '  b: {environment: , deployment: false}'], []],
])('deployment: false %s', (_, lines, expected) => expect(jobs(...lines)).toEqual(expected));

test('a file that is not YAML is unclear, and one without jobs says nothing', () => {
  expect(readJobs(path, 'jobs: {a: {environment: {deployment: false}')).toEqual([
    { place: path, environment: null, without: 'cannot tell' },
  ]);
  expect(readJobs(path, 'deployment: false')).toEqual([]);
  expect(readJobs(path, '')).toEqual([]);
});

test('a job without a deployment has failed only where a rule is on', () => {
  const job = (environment: string | null) =>
    ({ place: `${path}:4`, environment, without: 'deployment' }) as const;
  const environments = known({
    environments: [environment('Production'), environment('staging', off)],
    total: 2,
  });
  const statesOf = (name: string | null) =>
    judgeWorkflows(known({ jobs: [job(name)], unread: [] }), environments, 'acme/web').map(
      ({ state }) => state,
    );
  expect([statesOf('production'), statesOf('staging'), statesOf(null)]).toEqual([
    ['failed'],
    ['warning'],
    ['warning'],
  ]);
});

test('many findings are shortened, and what was not read is unknown', () => {
  const job = (place: string, without: 'deployment' | 'cannot tell') => ({
    place,
    environment: null,
    without,
  });
  const many = (without: 'deployment' | 'cannot tell') =>
    Array.from({ length: 12 }, (_, index) => job(`a.yml:${index}`, without));
  const found = judgeWorkflows(
    known({ jobs: [...many('deployment'), ...many('cannot tell')], unread: ['.github/workflows/big.yml'] }),
    null,
    'acme/web',
  );
  expect(found.map(({ state }) => state)).toEqual([...Array(11).fill('warning'), 'unknown', 'unknown']);
  expect(found[10]!.message).toBe('More jobs say deployment: false: a.yml:10, a.yml:11.');
  expect(found[11]!.message).toContain('a.yml:9 and 2 more.');
  expect(found[12]!.message).toContain('.github/workflows/big.yml');
  expect(judgeWorkflows(unknownFact('it needs Contents: read'), null, 'acme/web')).toMatchObject([
    { state: 'unknown', message: 'Holdfast cannot read the workflows of acme/web: it needs Contents: read.' },
  ]);
});
