import { afterAll, beforeAll, expect, test } from 'vitest';
import { exitCodes, CommandStop } from '../../src/cli/stop.ts';
import { acmeForAll } from '../support/acme.ts';
import { type CommandLine, commandLineFor } from '../support/command-line.ts';
import { Visitor } from '../support/visitor.ts';

// Who did what, what is frozen in a month, and whose credential the commands use.

const acme = acmeForAll();
let line: CommandLine;
const classic = (login: string) =>
  acme.github.addToken(login, { kind: 'classic', scopes: ['repo', 'admin:org'] });

beforeAll(async () => {
  line = commandLineFor(acme, acme.admin);
  await acme.repository('web', [{}]);
  await acme.repository('api', [{}]);
});
afterAll(() => line.close());

const rowsOf = (out: string) =>
  out
    .trimEnd()
    .split('\n')
    .map((row) => row.split('\t'));

test('who did what: oldest first, with the values before and after, and the person behind a key', async () => {
  const { id } = await acme.freeze('acme/web', { end: '2026-03-01T20:00:00' });
  await acme.update('acme/web', id, { end: '2026-03-02T08:00:00' });
  await acme.remove('acme/web', id);
  const { out, code } = await line.holdfast(['audit', 'acme/web', '--limit', '3']);
  expect(code).toBe(0);
  expect(rowsOf(out)).toEqual([
    [
      '2026-03-01 10:00 Europe/Paris',
      'the application key admin key of test',
      'acme/web',
      'created a freeze: Release',
    ],
    [
      ...['2026-03-01 10:00 Europe/Paris', 'the application key admin key of test', 'acme/web'],
      'changed a freeze: Release. End: 2026-03-01 20:00 → 2026-03-02 08:00',
    ],
    [
      ...['2026-03-01 10:00 Europe/Paris', 'the application key admin key of test', 'acme/web'],
      'deleted a freeze: Release. Deletion reason: Done',
    ],
  ]);
  const seen = await line.holdfast(['audit', 'acme/web'], { isTTY: true, env: { NO_COLOR: '1' } });
  expect(seen.out).toMatch(/WHEN +WHO +WHERE +WHAT/);
});

test('by type, person and time', async () => {
  await line.holdfast(['freeze', 'acme/api', '-m', 'By ada'], { env: { HOLDFAST_TOKEN: classic('ada') } });
  await acme.quiet();
  const whats = async (...words: string[]) =>
    rowsOf((await line.holdfast(['audit', ...words])).out).map((row) => row.at(-1));
  expect(await whats('acme', '--by', 'Ada')).toEqual(['created a freeze: By ada']);
  expect(await whats('acme', '--type', 'scheduled_freeze.delete')).toEqual([
    'deleted a freeze: Release. Deletion reason: Done',
  ]);
  expect(await whats('acme', '--by', 'ada', '--until', '1h')).toEqual(['']);
  expect(
    await whats('acme', '--by', 'ada', '--since', '2026-03-01', '--until', '2026-03-01T23:00'),
  ).toHaveLength(1);
  const unknown = await line.holdfast(['audit', 'acme/web', '--type', 'freeze.bypased']);
  expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining('freeze.bypassed')]);
  for (const words of [
    ['--since', 'ages'],
    ['--format', 'xml'],
    ['--limit', '0'],
    ['--trigger', 'email'],
    ['--follow', '--until', '1h'],
  ])
    expect((await line.holdfast(['audit', 'acme', ...words])).code).toBe(2);
});

test('an owner’s log has its repositories and its own events; the owner is that of the key', async () => {
  await line.holdfast(['keys', 'create', 'acme', '--name', 'seen in the log', '--scope', 'ci']);
  const { out } = await line.holdfast(['audit']);
  expect(out).toContain('created the application key seen in the log. Scope: ci');
  expect(out).toContain('created a freeze: By ada');
  const person = await line.holdfast(['audit'], { env: { HOLDFAST_TOKEN: classic('ada') } });
  expect([person.code, person.err]).toEqual([2, expect.stringContaining('Name an owner or a repository')]);
});

test('as CSV and as lines of JSON, also under the name that it had', async () => {
  const csv = await line.holdfast(['audit', 'acme', '--format', 'csv', '--by', 'ada']);
  const [head, row, ...more] = csv.out.trimEnd().split('\r\n');
  expect(head).toBe(
    'id,received_at,actor,on_behalf_of,repository,pull_request,type,outcome,event,about,about_id,changes,trigger',
  );
  expect(row).toMatch(/^\d+,2026-03-01T09:00:00\.\d{3}Z,ada,,acme\/api,,scheduled_freeze\.create,success,/);
  expect(more).toEqual([]);
  const words = ['acme/web', '--type', 'scheduled_freeze.delete', '--limit', '1'];
  const jsonl = await line.holdfast(['audit', ...words, '--format', 'jsonl']);
  expect(jsonl.json()).toMatchObject({ type: 'scheduled_freeze.delete', on_behalf_of: { name: 'test' } });
  expect((await line.holdfast(['logs', ...words, '--json'])).out).toBe(jsonl.out);
});

test('--follow prints each event once, in its order', async () => {
  let looks = 0;
  const followed = await line.holdfast(['audit', 'acme/api', '--follow', '--json'], {
    async delay() {
      looks++;
      if (looks === 2) await acme.freeze('acme/api', { reason: 'Seen' });
      if (looks === 3) await acme.freeze('acme/api', { reason: 'Seen, too' });
      if (looks === 5) throw new CommandStop(exitCodes.done, 'Enough.');
    },
  });
  const events = followed.out
    .trimEnd()
    .split('\n')
    .slice(0, -1)
    .map((row) => JSON.parse(row));
  const ids = events.map(({ id }) => id);
  expect(ids).toEqual([...new Set(ids)].toSorted((one, other) => one - other));
  const reasons = events
    .map(({ metadata }) => JSON.stringify(metadata))
    .filter((text) => text.includes('"Seen'));
  expect(reasons).toEqual([expect.stringContaining('"Seen"'), expect.stringContaining('"Seen, too"')]);
});

test('the calendar of a month: a row for each freeze, in 80 columns', async () => {
  await acme.repository('quiet', []);
  await acme.freeze('acme/quiet', {
    reason: 'A release with a name that is much longer than there is room for it',
    start: '2026-12-24T18:00:00',
    end: '2026-12-28T00:00:00',
    timezone: 'Europe/Paris',
  });
  await line.holdfast([
    ...['freeze', 'acme/web', 'acme/quiet', '-m', 'Both'],
    ...['--from', '2026-12-30T18:00', '--until', '2027-01-02T08:00'],
  ]);
  const { out } = await line.holdfast(['calendar', 'acme/quiet', '--month', '2026-12']);
  const lines = out.trimEnd().split('\n');
  expect(Math.max(...lines.map((each) => each.length))).toBe(80);
  expect(lines[0]).toBe('December 2026, Europe/Paris');
  expect(lines[2]).toBe(`${' '.repeat(49)}1234567890123456789012345678901`);
  expect(lines[3]).toBe(`${' '.repeat(49)}TWTFSSMTWTFSSMTWTFSSMTWTFSSMTWT`);
  expect(lines[4]).toBe('acme/quiet: A release with a name that is much … ....  .....  .....  ...####....');
  expect(lines[5]).toMatch(/^acme\/quiet: Both +\.{4} {2}[.# ]*##$/);
  const all = await line.holdfast(['calendar', '--month', '2026-12']);
  expect(all.out).toContain('acme (2): Both');
  const json = await line.holdfast(['calendar', 'acme/quiet', '--month', '2026-12', '--json']);
  expect(json.json()).toMatchObject({
    month: '2026-12',
    freezes: [
      { days: ['2026-12-24', '2026-12-25', '2026-12-26', '2026-12-27'] },
      { days: ['2026-12-30', '2026-12-31'] },
    ],
  });
  expect((await line.holdfast(['calendar', 'acme/quiet'])).out).toContain('No ongoing or scheduled freeze');
  expect((await line.holdfast(['calendar', 'acme', '--month', 'December'])).code).toBe(2);
});

test('whoami: a key, a person’s token, and the token of a job', async () => {
  const key = (await line.holdfast(['whoami', '--json'])).json();
  expect(key).toEqual({
    kind: 'application key',
    name: 'admin key',
    scope: 'admin',
    owner: 'acme',
    expires_at: null,
  });
  const env = { GITHUB_API_URL: acme.github.url };
  const person = await line.holdfast(['whoami'], { env: { ...env, HOLDFAST_TOKEN: classic('ada') } });
  expect(person.out).toBe('GitHub token\tada\trepo, admin:org\tnone\tnever\n');
  const payload = { repository: 'acme/web', workflow: 'ci', run_id: '7', exp: 1772359200 };
  const job = ['e30', Buffer.from(JSON.stringify(payload)).toString('base64url'), 'x'].join('.');
  expect((await line.holdfast(['whoami', '--json'], { env: { HOLDFAST_TOKEN: job } })).json()).toEqual({
    kind: 'OIDC token of a job',
    name: 'acme/web ci run 7',
    scope: null,
    owner: 'acme',
    expires_at: '2026-03-01T10:00:00.000Z',
  });
  const unknown = await line.holdfast(['whoami'], { env: { ...env, HOLDFAST_TOKEN: 'ghp_nobody' } });
  expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining('does not know this token')]);
});

test('by road, which the person is named with', async () => {
  const ada = new Visitor(acme);
  await ada.signIn('ada');
  const { id } = await acme.freeze('acme/web');
  const ended = { repository: 'web', ongoing: `freezes ${id}`, delete_reason: 'By a page' };
  expect((await ada.sendOnce('/owners/acme/unfreeze', ended)).status).toBe(303);
  await acme.quiet();
  const { out } = await line.holdfast(['audit', 'acme', '--trigger', 'page', '--trigger', 'slack']);
  expect(rowsOf(out).map((row) => row.slice(1))).toEqual([
    ['ada (Page)', 'acme/web', 'deleted a freeze: Release. Deletion reason: By a page'],
  ]);
});
