import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startCalendarFile } from '../../sandbox/calendar-file.ts';
import { acmeForAll } from '../support/acme.ts';
import { type CommandLine, commandLineFor } from '../support/command-line.ts';

const acme = acmeForAll();
let line: CommandLine;
beforeAll(async () => {
  line = commandLineFor(acme, acme.admin);
  await acme.repository('web', [{}]);
  await acme.repository('docs', [{}]);
});
afterEach(() => acme.quiet());
afterAll(() => line.close());

test('a plan: previewed, made, shown, changed, its progress asked, deleted', async () => {
  const times = ['--from', '2026-03-06T18:00', '--until', '2026-03-09T08:00', '--zone', 'UTC'];
  const rule = ['--rule', 'FREQ=WEEKLY;BYDAY=FR', '--not-on', '2026-03-13', '--last-date', '2026-12-31'];
  const words = [
    'plans',
    'create',
    'acme',
    '-m',
    'Weekend\nQuiet',
    '--include',
    '*',
    '--except',
    'do*',
    ...times,
  ];
  const dry = await line.holdfast([...words, ...rule, '--dry-run', '--json']);
  expect([dry.code, dry.json().preview.repositories_matched]).toEqual([0, 1]);
  const read = await line.holdfast([...words, ...rule, '--dry-run']);
  expect(read.out).toContain('acme/web#1\t');
  expect(read.out).toContain('  2026-03-20 18:00 UTC (2026-03-20 19:00 Europe/Paris) until');
  const made = await line.holdfast([...words, ...rule, '--json']);
  expect(made.err).toBe(
    'Planning freezes of acme from 2026-03-06 18:00 UTC (2026-03-06 19:00 Europe/Paris) until 2026-03-09 08:00 UTC (2026-03-09 09:00 Europe/Paris), 2 days 14 h, repeating by FREQ=WEEKLY;BYDAY=FR.\n',
  );
  const { plan } = made.json();
  expect(plan).toMatchObject({
    name: 'Weekend',
    reason: 'Weekend\nQuiet',
    repositories: { include: ['*'], exclude: ['do*'] },
    recurrence: { rule: 'FREQ=WEEKLY;BYDAY=FR', except: ['2026-03-13'], until: '2026-12-31' },
  });
  const shown = await line.holdfast(['plans', 'show', plan.id]);
  expect(shown.out).toContain(
    '  2026-03-20 18:00 UTC (2026-03-20 19:00 Europe/Paris) until 2026-03-23 08:00 UTC',
  );
  expect(shown.out).toContain('  Repeats: FREQ=WEEKLY;BYDAY=FR, not on 2026-03-13, until 2026-12-31');
  const listed = await line.holdfast(['plans', 'list', 'acme']);
  expect(listed.out.split('\t').slice(0, 2)).toEqual(['Weekend', '1']);
  const changed = await line.holdfast([
    ...[
      'plans',
      'update',
      plan.id,
      '--name',
      'Fridays',
      '--include',
      'web',
      '--until',
      '2026-03-08T08:00',
      '--json',
    ],
  ]);
  expect(changed.json().plan).toMatchObject({
    name: 'Fridays',
    start: '2026-03-06T18:00:00',
    end: '2026-03-08T08:00:00',
    repositories: { include: ['web'] },
  });
  const repeating = await line.holdfast(['extend', plan.id, '--for', '1h']);
  expect([repeating.code, repeating.err]).toEqual([1, expect.stringContaining('This plan repeats')]);
  const of20 = [plan.id, '2026-03-20T18:00'];
  const skipped = await line.holdfast(['plans', 'skip', ...of20, '--json']);
  expect(skipped.json().plan.detached).toMatchObject([{ start: '2026-03-20T18:00:00' }]);
  await line.holdfast(['plans', 'skip', ...of20, '--undo']);
  const moved = await line.holdfast(['plans', 'move', ...of20, '--from', '2026-03-21T18:00', '--json']);
  expect(moved.json().plan.next_occurrences[1]).toMatchObject({ start: '2026-03-21T18:00:00' });
  expect((await line.holdfast(['plans', 'move', ...of20])).code).toBe(2);
  expect((await line.holdfast(['plans', 'update', plan.id, '--once', '--json'])).json().plan.recurrence).toBe(
    null,
  );
  await acme.advanceTo('2026-03-06T18:00:10Z');
  const progress = await line.holdfast(['plans', 'progress', plan.id]);
  expect([progress.code, progress.out]).toEqual([
    0,
    expect.stringContaining('1 of 1 pull requests are blocked in 1 '),
  ]);
  expect((await line.holdfast(['plans', 'delete', plan.id, '-m', 'No more'])).code).toBe(0);
  expect((await line.holdfast(['plans', 'list', 'acme'])).out).toBe('acme has no plans.\n');
});

test.each([
  [
    [
      'plans',
      'create',
      'acme',
      '-m',
      'x',
      '--from',
      'tomorrow 8:00',
      '--for',
      '1h',
      '--not-on',
      '2026-03-13',
    ],
    2,
  ],
  [
    ['plans', 'create', 'acme', '-m', 'x', '--from', 'tomorrow 8:00', '--for', '1h', '--rule', 'FREQ=HOURLY'],
    1,
  ],
  [['plans', 'create', 'acme/web', '-m', 'x'], 2],
  [['plans', 'show', '0b7d1c57-4a0c-4f0e-8d5e-0f1b7f0a1f6e'], 1],
  [['plans'], 2],
])('%j exits with %i', async (words, code) => expect((await line.holdfast(words)).code).toBe(code));

test('keys: the secret is the one line of output, it works, and is revoked', async () => {
  const made = await line.holdfast([
    'keys',
    'create',
    'acme',
    '--name',
    'release',
    '--scope',
    'ci',
    '--for',
    '90d',
  ]);
  expect(made.out).toMatch(/^hf_ci_\S+\n$/);
  expect(made.err).toContain('It expires at 2026-');
  const secret = made.out.trim();
  const [id] = /[0-9a-f-]{36}/.exec(made.err)!;
  const pushed = await line.holdfast(['scopes', 'push', 'acme/web#1', 'payments', 'api', '--token', secret]);
  expect([pushed.code, pushed.out]).toEqual([0, 'acme/web#1 touches payments, api.\n']);
  expect((await line.holdfast(['keys', 'list', 'acme'])).out).toContain(`release\tci\t`);
  expect((await line.holdfast(['keys', 'revoke', 'acme', id!])).code).toBe(0);
  const after = await line.holdfast(['scopes', 'push', 'acme/web#1', '--all', '--token', secret]);
  expect([after.code, after.err]).toEqual([1, expect.stringContaining('Not authenticated')]);
  expect((await line.holdfast(['keys', 'revoke', 'acme', id!])).code).toBe(1);
});

test('scopes need a name or --all', async () => {
  expect((await line.holdfast(['scopes', 'push', 'acme/web#1'])).code).toBe(2);
});

test('products: listed, set, none, and the default', async () => {
  expect((await line.holdfast(['products', 'set', 'acme/docs', 'none'])).out).toBe(
    'acme/docs has no products.\n',
  );
  await line.holdfast(['products', 'set', 'acme/web', 'merge_protections']);
  expect((await line.holdfast(['products', 'list', 'acme'])).out).toBe(
    'acme/docs\tnone\nacme/web\tmerge_protections\n',
  );
  const set = await line.holdfast(['products', 'default', 'acme', 'merge_queue', '--json']);
  expect(set.json()).toEqual({ products: ['merge_queue'] });
  expect((await line.holdfast(['products', 'default', 'acme'])).out).toContain('start with merge_queue.');
  expect((await line.holdfast(['products', 'set', 'acme/web', 'merge_frotections'])).code).toBe(1);
});

test('OIDC rules: made, listed, deleted', async () => {
  const nothing = await line.holdfast(['oidc-rules', 'list', 'acme']);
  expect(nothing.out).toBe('acme has no rule, so Holdfast lets in no jobs.\n');
  const made = await line.holdfast(
    'oidc-rules create acme --name release --repository web --repository api-* --ref refs/heads/main --freeze --json'.split(
      ' ',
    ),
  );
  expect([made.code, made.json()]).toEqual([
    0,
    expect.objectContaining({
      name: 'release',
      repositories: ['web', 'api-*'],
      refs: ['refs/heads/main'],
      environments: null,
      may: ['push_scopes', 'freeze'],
    }),
  ]);
  const { id } = made.json();
  const listed = await line.holdfast(['oidc-rules', 'list', 'acme']);
  expect(listed.out).toBe(
    `${['release', 'web api-*', 'refs/heads/main', 'any', 'push_scopes freeze', 'admin key', id].join('\t')}\n`,
  );
  const unsafe = await line.holdfast(['oidc-rules', 'create', 'acme', '--name', 'all', '--freeze']);
  expect([unsafe.code, unsafe.err]).toEqual([
    1,
    expect.stringContaining('everybody who can push a branch can freeze'),
  ]);
  const deleted = await line.holdfast(['oidc-rules', 'delete', 'acme', id]);
  expect([deleted.code, deleted.out]).toEqual([0, `Deleted OIDC rule ${id} of acme.\n`]);
  const scopes = await line.holdfast(['oidc-rules', 'create', 'acme', '--name', 'scopes']);
  expect(scopes.out).toMatch(/^Created OIDC rule [0-9a-f-]{36} of acme\.\n$/);
});

test('settings of a repository and of its owner: shown, changed, and left to the owner again', async () => {
  const ofOwner = await line.holdfast(['settings', 'acme', 'longest_open_end_hours=72', 'freezers=ada']);
  expect([ofOwner.code, ofOwner.out]).toEqual([0, expect.stringContaining('freezers\tada\tacme')]);
  const words = ['settings', 'acme/web', 'comment_commands=requests', 'freezers=[]', '--json'];
  const changed = (await line.holdfast(words)).json();
  expect(changed).toMatchObject({ comment_commands: 'requests', freezers: [], longest_open_end_hours: 72 });
  const back = await line.holdfast(['settings', 'acme/web', 'freezers=', 'comment_commands=']);
  expect(back.out).toContain('freezers\tada\towner or default');
  const odd = await line.holdfast(['settings', 'acme/web', 'colour=red']);
  expect(odd.err).toContain('Warning: `colour`');
  expect((await line.holdfast(['settings', 'acme/web', 'colour'])).code).toBe(2);
  const wrong = await line.holdfast(['settings', 'acme/web', 'longest_open_end_hours=soon']);
  expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining('longest_open_end_hours')]);
  await line.holdfast(['settings', 'acme', 'freezers=', 'longest_open_end_hours=']);
});

test('webhooks: made from standard input, listed, changed, tested, rotated and deleted', async () => {
  const address = 'https://hooks.example/services/T1/B2/secret-9f2c';
  const words = ['webhooks', 'create', 'acme', '--kind', 'slack', '--address', '-', '--repository', 'web'];
  const made = await line.holdfast([...words, '--event', 'freeze.started', '--json'], {
    input: `${address}\n`,
  });
  const { id } = made.json();
  expect(made.json()).toMatchObject({ kind: 'slack', repositories: ['web'], events: ['freeze.started'] });
  const listed = await line.holdfast(['webhooks', 'list', 'acme']);
  expect(listed.out).toBe(`slack\thooks.example/…9f2c\tenabled\tweb\tfreeze.started\t${id}\n`);
  const change = ['--repository', '*', '--event', '*', '--public-text', '--json'];
  expect((await line.holdfast(['webhooks', 'update', 'acme', id, ...change])).json()).toMatchObject({
    ...{ repositories: null, events: null, public_text: true, enabled: true },
  });
  expect((await line.holdfast(['webhooks', 'test', 'acme', id])).code).toBe(0);
  const deliveries = await line.holdfast(['webhooks', 'deliveries', 'acme', id]);
  expect(deliveries.out).toContain('webhook.test\t');
  const off = await line.holdfast(['webhooks', 'update', 'acme', id, '--disable', '--all-text', '--json']);
  expect(off.json()).toMatchObject({ enabled: false, public_text: false });
  const delivery = (await line.holdfast(['webhooks', 'deliveries', 'acme', id, '--json'])).json()
    .deliveries[0].id;
  const refused = await line.holdfast(['webhooks', 'replay', 'acme', id, delivery]);
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('This webhook is disabled.')]);
  await line.holdfast(['webhooks', 'update', 'acme', id, '--enable']);
  expect((await line.holdfast(['webhooks', 'replay', 'acme', id, delivery])).out).toContain('again');
  expect((await line.holdfast(['webhooks', 'rotate-secret', 'acme', id])).code).toBe(1);
  expect((await line.holdfast(['webhooks', 'delete', 'acme', id])).code).toBe(0);
  expect((await line.holdfast(['webhooks', 'list', 'acme'])).out).toBe('acme has no outgoing webhooks.\n');
});

test('the secret of a standard webhook is the one line of output', async () => {
  const url = 'https://ops.example/hook';
  const made = await line.holdfast(['webhooks', 'create', 'acme', '--kind', 'standard', '--address', url]);
  expect(made.out).toMatch(/^whsec_\S+\n$/);
  const [id] = /[0-9a-f-]{36}/.exec(made.err)!;
  const rotated = await line.holdfast(['webhooks', 'rotate-secret', 'acme', id!]);
  expect(rotated.out).toMatch(/^whsec_\S+\n$/);
  expect(rotated.out).not.toBe(made.out);
  const nothing = await line.holdfast(['webhooks', 'update', 'acme', id!]);
  expect([nothing.code, nothing.err]).toEqual([2, expect.stringContaining('Name what to change.')]);
  await line.holdfast(['webhooks', 'delete', 'acme', id!]);
});

test('a plan that follows a calendar', async () => {
  const calendar = await startCalendarFile();
  calendar.publish(
    ['UID:a', 'SUMMARY:Code freeze', 'DTSTART:20260406'],
    ['UID:b', 'SUMMARY:Party', 'DTSTART:20260501'],
  );
  const words = ['plans', 'create', 'acme', '-m', 'Quiet', '--source', calendar.url, '--zone', 'UTC'];
  const { code, err } = await line.holdfast([...words, '--until', '2026-12-24T10:00']);
  expect([code, err]).toEqual([2, expect.stringContaining('--source has the times of the calendar')]);
  const made = await line.holdfast([...words, '--title', '*freeze*', '--json']);
  const { plan } = made.json();
  expect(plan).toMatchObject({ start: null, source: { url: calendar.url, titles: ['*freeze*'] } });
  const shown = await line.holdfast(['plans', 'show', plan.id]);
  expect(shown.out).toContain(`  Follows ${calendar.url}: *freeze*\n  2026-04-06 00:00 UTC`);
  const changed = await line.holdfast(['plans', 'update', plan.id, '--title', 'party', '--json']);
  expect(changed.json().plan.next_occurrences).toHaveLength(1);
  expect((await line.holdfast(['plans', 'list', 'acme'])).out).toContain('by a calendar');
  await line.holdfast(['plans', 'delete', plan.id, '-m', 'Over']);
  await calendar.close();
});

test.each([
  [
    'loose',
    1,
    /^0 of 1 pull requests are blocked in 1 .*\n1 would not: nothing requires the check in acme\.\n/,
  ],
  [
    'mute',
    0,
    /^1 of 1 pull requests have their status in 1 .*\nIt is not known whether GitHub would block 1 in acme\.\n/,
  ],
])('progress of a plan in %s calls blocked only what GitHub refuses', async (name, code, says) => {
  const repository = await acme.repository(name, [{}], name === 'loose' ? { protect: {} } : {});
  const body = { name, reason: name, repositories: { include: [name] }, start: null, timezone: 'UTC' };
  const { id } = (await acme.call('POST', '/v1/freeze_plans/acme', { as: acme.admin, body })).body;
  await acme.quiet();
  const silent = {
    match: { path: new RegExp(`^/repos/${repository}/`) },
    kind: 'status',
    status: 502,
  } as const;
  const fault = name === 'mute' ? acme.github.faults.add(silent) : null;
  const progress = await line.holdfast(['plans', 'progress', id]);
  fault?.remove();
  expect(progress.out).toMatch(says);
  expect(progress.code).toBe(code);
});
