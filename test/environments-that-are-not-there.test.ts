// A freeze names environments that no repository of it has: its answer says so.
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { acmeForAll } from './support/acme.ts';
import { grantDeployments } from './support/deployments.ts';
import { shortenPatience } from './support/patience.ts';
import { unknownEnvironments } from '../src/freezes/freeze-warnings.ts';

const acme = acmeForAll();
const asks = (repository: string) =>
  acme.github.requests.filter(({ path }) => path.includes(`/repos/${repository}/environments`)).length;

beforeAll(async () => {
  await grantDeployments(acme);
  for (const [name, environments] of [
    ['web', ['production', 'staging', 'prod [eu]']],
    ['api', ['production']],
    ['lib', []],
  ] as const) {
    await acme.repository(name, [{}]);
    for (const environment of environments) acme.github.addEnvironment(`acme/${name}`, environment);
  }
});

const freezes = (repository: string, rest = '') => `/v1/repos/acme/${repository}/scheduled_freeze${rest}`;
let count = 0;
const newFreeze = (environments?: string[]) => ({
  ...{ reason: `Release ${(count += 1)}`, start: null, end: '2026-03-01T12:00:00', timezone: 'UTC' },
  ...{ holds: ['deployments'], ...(environments && { environments }) },
});
const newPlan = (environments: string[], include = ['*']) => ({
  name: 'Release',
  ...newFreeze(environments),
  repositories: { include, exclude: [] },
});

async function send(method: string, path: string, body: object) {
  const answer = await acme.call(method, path, { as: acme.admin, body });
  expect([200, 201], answer.text).toContain(answer.status);
  return answer;
}
const warningsOf = async (method: string, path: string, body: object): Promise<string[]> =>
  (await send(method, path, body)).body.warnings ?? [];

const misspelled = 'No environment of acme/web matches `prodcution`. Did you mean `production`?';

describe('a freeze', () => {
  test.each<[string[] | undefined, string[]]>([
    [undefined, []],
    [['*'], []],
    [['production'], []],
    [['PRODUCTION', 'stag*'], []],
    [['prod [eu]'], []],
    [['prodcution'], [misspelled]],
    [['live-*', 'production'], ['No environment of acme/web matches `live-*`.']],
    [
      ['a', 'b'],
      ['No environment of acme/web matches `a`.', 'No environment of acme/web matches `b`.'],
    ],
  ])('that holds deployments to %j', async (environments, warnings) => {
    expect(await warningsOf('POST', freezes('web'), newFreeze(environments))).toEqual(warnings);
  });

  test('in a repository without environments', async () => {
    expect(await warningsOf('POST', freezes('lib'), newFreeze(['production']))).toEqual([
      'No environment of acme/lib matches `production`.',
    ]);
  });

  test('that is changed or previewed', async () => {
    const { body } = await send('POST', freezes('web'), newFreeze(['production']));
    const change = { environments: ['prodcution'] };
    expect(await warningsOf('PATCH', freezes('web', `/${body.id}`), change)).toEqual([misspelled]);
    const preview = await send('POST', freezes('web', '/preview'), newFreeze(['prodcution']));
    expect(preview.body.warnings).toContainEqual({ type: 'environment_unknown', message: misspelled });
  });

  test('that holds only merges', async () => {
    const body = { ...newFreeze(['prodcution']), holds: ['merges'] };
    expect(await warningsOf('POST', freezes('web'), body)).toEqual([]);
  });

  test('is not told of in the header', async () => {
    const { headers } = await send('POST', freezes('web'), newFreeze(['prodcution']));
    expect(headers.get('warning')).toBeNull();
  });
});

describe('a plan', () => {
  const missing = [
    'No environment of acme/lib matches `production`.',
    'No environment of acme/api, acme/lib and acme/web matches `live`.',
  ];
  const plans = '/v1/freeze_plans/acme';

  test('names the repositories when it is created, changed and previewed', async () => {
    const { body } = await send('POST', plans, newPlan(['production', 'live']));
    expect(body.warnings).toEqual(missing);
    const preview = await send('POST', `${plans}/preview`, newPlan(['production', 'live']));
    expect(preview.body.warnings).toEqual(missing);
    const change = { environments: ['production'], repositories: { include: ['web', 'api'] } };
    expect(await warningsOf('PATCH', `${plans}/${body.id}`, change)).toEqual([]);
    expect(await warningsOf('PATCH', `${plans}/${body.id}`, { environments: ['live'] })).toEqual([
      'No environment of acme/api and acme/web matches `live`.',
    ]);
  });
});

describe('GitHub', () => {
  const later = (seconds: number) => acme.advanceTo(new Date(acme.clock.now() + seconds * 1000));

  test('is asked once for what exists, and again for what did not', async () => {
    await later(700);
    const before = asks('acme/api');
    for (let times = 0; times < 3; times += 1)
      await warningsOf('POST', freezes('api'), newFreeze(['production']));
    expect(asks('acme/api') - before).toBe(1);
    const fresh = 'No environment of acme/api matches `fresh`.';
    expect(await warningsOf('POST', freezes('api'), newFreeze(['fresh']))).toEqual([fresh]);
    acme.github.addEnvironment('acme/api', 'fresh');
    await later(11);
    expect(await warningsOf('POST', freezes('api'), newFreeze(['fresh']))).toEqual([]);
  });

  test.each([502, 403, 404])('warns of nothing with %i', async (status) => {
    await later(700);
    const fault = acme.github.faults.add({ match: { path: /\/environments$/ }, kind: 'status', status });
    expect(await warningsOf('POST', freezes('api'), newFreeze(['prodcution']))).toEqual([]);
    fault.remove();
  });

  test('has no time to answer', async () => {
    await later(700);
    shortenPatience();
    const fault = acme.github.faults.add({ match: { path: /\/environments$/ }, kind: 'delay', ms: 60_000 });
    expect(await warningsOf('POST', freezes('api'), newFreeze(['prodcution']))).toEqual([]);
    fault.remove();
    vi.restoreAllMocks();
  });
});

test('sentences stay few and short', () => {
  const places = ['a', 'b', 'c', 'd', 'e'].map((repository) => ({ repository, names: ['production'] }));
  const named = Array.from({ length: 9 }, (_, index) => `x${index}`.repeat(60));
  const sentences = unknownEnvironments(named, places);
  expect(sentences).toHaveLength(6);
  expect(sentences[0]).toMatch(/^No environment of a, b, c and 2 more repositories matches `(x0)+x?…`\.$/);
  expect(sentences[5]).toBe('No environment of a, b, c and 2 more repositories matches 4 more names.');
});
