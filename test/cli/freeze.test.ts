import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { acmeForAll } from '../support/acme.ts';
import { type CommandLine, commandLineFor } from '../support/command-line.ts';

const acme = acmeForAll();
let line: CommandLine;
beforeAll(async () => {
  line = commandLineFor(acme, acme.admin);
  await acme.repository('web', [{}, { labels: ['hotfix'] }]);
  await acme.repository('api', [{}]);
  await acme.repository('infra', [{}], { protect: {} });
});
afterEach(async () => {
  await line.holdfast(['unfreeze', 'acme', '--all', '--yes', '-m', 'Next story']);
  await acme.quiet();
});
afterAll(() => line.close());

test('a repository for two hours: printed with the zone before it is sent, and ended again', async () => {
  const made = await line.holdfast(['freeze', 'acme/web', '--for', '2h', '-m', 'INC-4711']);
  expect([made.code, made.err]).toEqual([
    0,
    'Freezing acme/web from now until 2026-03-01 12:00 Europe/Paris, 2 h.\n',
  ]);
  await acme.quiet();
  expect(acme.frozen('acme/web')).toEqual([1, 2]);
  expect(acme.shown('acme/web', 1)?.description).toBe('Frozen until 2026-03-01 12:00 Europe/Paris: INC-4711');
  const ended = await line.holdfast(['unfreeze', 'acme/web', '-m', 'Fixed', '--json']);
  expect(ended.json()).toEqual({ ended: [{ kind: 'freeze', id: expect.any(String), in: 'acme/web' }] });
  expect(made.out).toContain(ended.json().ended[0].id);
  await acme.quiet();
  expect(acme.frozen('acme/web')).toEqual([]);
});

test('conditions, a public reason and a window ahead', async () => {
  const words = [
    '--from',
    'fri 18:00',
    '--until',
    'mon 08:00',
    '--zone',
    'America/New_York',
    '-m',
    'Weekend',
  ];
  const conditions = [
    '--match',
    'base=main',
    '--exclude',
    'label=hotfix',
    '--exclude',
    '{"not": "author=ada"}',
  ];
  const made = await line.holdfast([
    ...['freeze', 'acme/web', '--json', '--public-reason', 'Quiet days', ...words, ...conditions],
  ]);
  expect(made.json()).toEqual({
    kind: 'freeze',
    repository: 'acme/web',
    freeze: expect.objectContaining({
      reason: 'Weekend',
      public_reason: 'Quiet days',
      timezone: 'America/New_York',
      start: '2026-03-06T18:00:00',
      end: '2026-03-09T08:00:00',
      matching_conditions: ['base=main'],
      exclude_conditions: [{ or: ['label=hotfix', { not: 'author=ada' }] }],
    }),
  });
  await line.holdfast(['unfreeze', made.json().freeze.id, '-m', 'Not this week']);
});

test('a whole owner with --wait: until GitHub holds, and 1 because one repository is not enforced', async () => {
  const made = await line.holdfast(['freeze', 'acme', '--all', '--for', '2h', '-m', 'INC-4711', '--wait']);
  expect(made.code, made.err).toBe(1);
  const rows = made.out.split('\n').map((row) => row.split('\t'));
  expect(rows).toContainEqual(['acme/web', 'held', '2 of 2']);
  expect(rows).toContainEqual(['acme/api', 'held', '1 of 1']);
  expect(rows).toContainEqual(['acme/infra', 'not enforced', expect.any(String)]);
  expect(made.err).toContain('What to do in acme/infra: holdfast doctor acme/infra');
  expect(acme.frozen('acme/web')).toEqual([1, 2]);
  const ended = await line.holdfast(['unfreeze', 'acme', '-m', 'over']);
  expect(ended.out).toMatch(/^Ended plan \S+ of acme\.\n$/);
  await acme.quiet();
  expect(acme.frozen('acme/api')).toEqual([]);
});

test('two repositories with --wait exit with 0, and --except leaves some alone', async () => {
  const two = await line.holdfast(['freeze', 'acme/web', 'acme/api', '-m', 'Release', '--wait', '--json']);
  expect(two.code, two.err).toBe(0);
  expect(two.json()).toMatchObject({
    kind: 'plan',
    owner: 'acme',
    plan: { repositories: { include: ['web', 'api'], exclude: [] }, end: null, recurrence: null },
    held: [{ repository: 'web' }, { repository: 'api' }],
  });
  const all = await line.holdfast([
    'freeze',
    'acme',
    '--all',
    '--except',
    'inf*',
    '-m',
    'Release',
    '--wait',
    '--json',
  ]);
  expect(
    all
      .json()
      .held.map(({ repository }: { repository: string }) => repository)
      .toSorted(),
  ).toEqual(['api', 'web']);
});

test('repositories that were frozen together are unfrozen together, or one of them alone', async () => {
  const both = ['acme/web', 'acme/api'];
  await line.holdfast(['freeze', ...both, '-m', 'Release', '--wait']);
  const one = await line.holdfast(['unfreeze', 'acme/api', '-m', 'This one is out', '--json']);
  expect(one.json().ended).toMatchObject([{ kind: 'freeze', in: 'acme/api' }]);
  await acme.quiet();
  expect([acme.frozen('acme/web'), acme.frozen('acme/api')]).toEqual([[1, 2], []]);
  const again = await line.holdfast(['unfreeze', 'acme/api', '-m', 'Again']);
  expect([again.code, again.err]).toEqual([1, expect.stringContaining('was created from this machine')]);
  const rest = await line.holdfast(['unfreeze', 'acme/web', '-m', 'Over', '--json']);
  expect(rest.json().ended).toMatchObject([{ kind: 'freeze', in: 'acme/web' }]);
  await line.holdfast(['unfreeze', 'acme', '-m', 'Tidy']);
  await line.holdfast(['freeze', ...both, '-m', 'Release', '--wait']);
  const all = await line.holdfast(['unfreeze', 'acme/api', 'ACME/Web', '-m', 'Over', '--json']);
  expect(all.json().ended).toMatchObject([{ kind: 'plan', in: 'acme' }]);
  await acme.quiet();
  expect([acme.frozen('acme/web'), acme.frozen('acme/api')]).toEqual([[], []]);
});

test('--wait does not exit with 0 while statuses wait', async () => {
  acme.github.goDown();
  let time = acme.clock.now();
  const made = await line.holdfast(['freeze', 'acme/web', '-m', 'Now', '--wait', '--timeout', '3m'], {
    now: () => time,
    // The queue does not come to rest while GitHub is away.
    delay: async (milliseconds) => void (time += milliseconds * 60),
  });
  acme.github.comeBack();
  expect(made.code, made.out).toBe(2);
  expect(made.out).toContain('acme/web\twaiting\t');
  expect(made.err).toContain('Writing to GitHub: 0 of 1 repositories are done.\n');
});

test.each([
  [['--exclude', 'label=a', '--exclude', 'label=b'], 'label=a or label=b'],
  [['--exclude-all', 'label=a', '--exclude-all', 'label=b'], 'label=a and label=b'],
  [
    ['--exclude', 'label=a', '--exclude-all', 'label=b', '--exclude-all', 'label=c'],
    'label=a or (label=b and label=c)',
  ],
  [['--exclude-all', 'label=b'], 'label=b'],
])('%j excludes what matches %s', async (options, words) => {
  const seen = await line.holdfast(['freeze', 'acme/web', ...options, '-m', 'Try', '--dry-run']);
  expect(seen.out).toContain(`except those that match ${words}.\n`);
});

test('--dry-run shows what would be blocked, and makes nothing', async () => {
  const one = await line.holdfast([
    'freeze',
    'acme/web',
    '--exclude',
    'label=hotfix',
    '-m',
    'Try',
    '--dry-run',
  ]);
  expect(one.code, one.err).toBe(0);
  expect(one.out).toMatch(/^acme\/web#1\tblocked\t.*\nacme\/web#2\texcluded\t.*\nOf 2 open pull requests/);
  expect(one.out).toContain('It blocks all pull requests, except those that match label=hotfix.\n');
  expect(one.out).toContain('1 pull request is blocked within about 1 second.\n');
  const all = await line.holdfast(['freeze', 'acme', '--all', '-m', 'Try', '--dry-run', '--json']);
  expect(all.code).toBe(1);
  expect(all.json().preview.repositories).toContainEqual(
    expect.objectContaining({ name: 'web', to_hold: 2, excluded: 0, enforced: 'yes' }),
  );
  expect(all.json().preview.time_until_held.message).toMatch(
    /^All \d+ pull requests are blocked within about/,
  );
  const missing = await line.holdfast(['freeze', 'acme/infra', '-m', 'Try', '--dry-run']);
  expect([missing.code, missing.err]).toEqual([1, expect.stringContaining('holdfast doctor acme/infra')]);
  expect((await line.holdfast(['list', 'acme', '--json'])).json()).toEqual({ freezes: [] });
});

test('warnings of the service are printed, and --json stays one JSON value', async () => {
  const made = await line.holdfast(['freeze', 'acme/infra', '-m', 'Nothing holds', '--json']);
  expect(made.code).toBe(0);
  expect(made.err).toMatch(/^Warning: .*holdfast\/freeze/m);
  expect(made.json().freeze.warnings).toHaveLength(1);
});

test('unfreeze ends freezes of others only with --all, and only the ongoing ones of a plan that repeats', async () => {
  const other = await acme.freeze('acme/web', { reason: 'By somebody else' });
  // It has been seen here, and was not made here.
  expect((await line.holdfast(['list', 'acme/web'])).out).toContain(other.id);
  const none = await line.holdfast(['unfreeze', 'acme/web', '-m', 'Over']);
  expect([none.code, none.err]).toEqual([1, expect.stringContaining('was created from this machine')]);
  expect(acme.frozen('acme/web')).toEqual([1, 2]);
  const weekly = await line.holdfast([
    ...['plans', 'create', 'acme', '-m', 'Sundays', '--zone', 'UTC', '--json', '--include', 'api'],
    ...['--from', 'now', '--for', '2h', '--rule', 'FREQ=WEEKLY;BYDAY=SU'],
  ]);
  expect(weekly.code, weekly.err).toBe(0);
  await acme.quiet();
  const words = ['unfreeze', 'acme', '--all', '-m', 'Over', '--json'];
  const unasked = await line.holdfast(words);
  expect([unasked.code, unasked.err]).toEqual([2, expect.stringContaining('add --yes')]);
  for (const input of ['n\n', '']) {
    const no = await line.holdfast(words, { isTTY: true, input });
    expect([no.code, no.err]).toEqual([1, expect.stringContaining('End these 2 freezes and plans? [y/N]')]);
    expect(no.err).toContain(other.id);
  }
  expect(acme.frozen('acme/web')).toEqual([1, 2]);
  const all = await line.holdfast(words, { isTTY: true, input: 'y\n' });
  expect(all.json().ended).toHaveLength(2);
  expect(all.json().ended).toContainEqual({ kind: 'freeze', id: other.id, in: 'acme/web' });
  const left = (await line.holdfast(['plans', 'list', 'acme', '--json'])).json().freeze_plans;
  expect(left.map(({ id }: { id: string }) => id)).toEqual([weekly.json().plan.id]);
  await line.holdfast(['plans', 'delete', weekly.json().plan.id, '-m', 'Over']);
});

test('--holds, --environment and --on-deployment say what it holds', async () => {
  const words = ['--holds', 'deployments', '--environment', 'prod*', '--environment', 'live'];
  const made = await line.holdfast([
    ...['freeze', 'acme/web', '--for', '2h', '-m', 'Quiet', '--json', '--on-deployment', 'reject'],
    ...words,
  ]);
  expect(made.json().freeze).toMatchObject({
    holds: ['deployments'],
    environments: ['prod*', 'live'],
    on_deployment: 'reject',
  });
  const sentence = 'Deployments to prod* and live are rejected; merges are not blocked.';
  const listed = await line.holdfast(['list', 'acme/web'], { isTTY: true, env: { NO_COLOR: '1' } });
  expect(listed.out).toMatch(/REASON +BLOCKS +ID\n/);
  expect(listed.out).toContain(sentence);
  const dry = ['--on-deployment', 'reject', ...words, '--dry-run'];
  const preview = await line.holdfast(['freeze', 'acme/web', '--for', '2h', '-m', 'Quiet', ...dry]);
  expect(preview.out).toContain(`${sentence}\n`);
  const plan = ['plans', 'create', 'acme', '-m', 'Quiet', '--for', '2h', '--on-deployment', 'reject'];
  expect((await line.holdfast([...plan, ...words])).out).toContain(`  ${sentence}\n`);
  for (const wrong of [
    ['--holds', 'all'],
    ['--on-deployment', 'stop'],
  ])
    expect((await line.holdfast(['freeze', 'acme/web', '--for', '2h', '-m', 'x', ...wrong])).code).toBe(2);
  await line.holdfast(['unfreeze', 'acme', '--all', '--yes', '-m', 'Done']);
  await acme.quiet();
});

test('a pattern of names freezes every repository that it matches, with a plan', async () => {
  const words = ['freeze', 'acme/a*', '--except', 'at*', '-m', 'We buy Initech\non Friday', '--json'];
  const named = await line.holdfast(words);
  expect(named.json().plan.name).toBe('We buy Initech');
  expect((await line.holdfast(['unfreeze', named.json().plan.id, '-m', 'Over'])).code).toBe(0);
  const made = await line.holdfast([...words, '--public-reason', 'Quiet']);
  expect(made.json().plan).toMatchObject({
    name: 'Quiet',
    repositories: { include: ['a*'], exclude: ['at*'] },
  });
  expect((await line.holdfast(['unfreeze', made.json().plan.id, '-m', 'Over'])).code).toBe(0);
});

test('an id that this machine has not seen is found in the owner of the key, or where --in says', async () => {
  const { id } = await acme.freeze('acme/api');
  const elsewhere = commandLineFor(acme, acme.admin);
  expect((await elsewhere.holdfast(['extend', id, '--until', '2026-03-02T10:00'])).code).toBe(0);
  elsewhere.close();
  const person = commandLineFor(acme, acme.github.addToken('ada'));
  const lost = await person.holdfast(['unfreeze', id, '-m', 'Over']);
  expect([lost.code, lost.err]).toEqual([2, `Add --in acme or --in acme/web, where ${id} is.\n`]);
  const wrong = await person.holdfast(['unfreeze', id, '-m', 'Over', '--in', 'acme/web']);
  expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining('There is no freeze or plan')]);
  expect((await person.holdfast(['unfreeze', id, '-m', 'Over', '--in', 'acme'])).code).toBe(0);
  person.close();
});

test.each([
  [['freeze', 'acme', '-m', 'x'], 'or add --all for every repository of acme'],
  [['freeze', 'acme/web', '--all', '-m', 'x'], 'Name the owner with --all'],
  [['freeze', 'acme/web', 'globex/site', '-m', 'x'], 'Name repositories of one owner'],
  [['freeze', 'acme/web', '--except', 'a*', '-m', 'x'], '--except goes with --all'],
  [['freeze', 'acme/web/*', '-m', 'x'], 'is not a repository'],
  [['freeze', 'acme/web#5', '-m', 'x'], 'is a pull request. Write acme/web'],
  [['freeze', 'acme/web'], "required option '-m, --message <reason>' not specified"],
  [['freeze', 'acme/web', '-m', 'x', '--until', '08:00'], 'is 2026-03-01 08:00 Europe/Paris, which is past'],
  [
    ['freeze', 'acme/web', '-m', 'x', '--from', 'tomorrow 08:00', '--wait'],
    '--wait needs a freeze that begins now',
  ],
  [['freeze', 'acme/web', '-m', 'x', '--exclude', '{or'], 'looks like a group but is not JSON'],
  [['unfreeze', 'acme/web'], "required option '-m, --message <reason>' not specified"],
])('%j is used wrongly: 2, and nothing is frozen', async (words, why) => {
  const { code, out, err } = await line.holdfast(words);
  expect([code, out]).toEqual([2, '']);
  expect(err).toContain(why);
  await acme.quiet();
  expect(acme.frozen('acme/web')).toEqual([]);
});

test('a refusal is printed in the words of the service, with 1', async () => {
  const bad = await line.holdfast(['freeze', 'acme/web', '-m', 'x', '--match', 'labl=x', '--json']);
  expect(bad.code).toBe(1);
  expect(bad.json()).toEqual({ error: expect.stringContaining('matching_conditions.0: '), status: 422 });
  expect(bad.err).toContain('Did you mean `label`');
  const gone = await line.holdfast(['freeze', 'acme/nowhere', '-m', 'x']);
  expect([gone.code, gone.err]).toEqual([1, expect.stringContaining('There is no repository acme/nowhere')]);
});
