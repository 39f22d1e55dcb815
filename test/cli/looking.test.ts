import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { acmeForAll } from '../support/acme.ts';
import { type CommandLine, commandLineFor } from '../support/command-line.ts';

const acme = acmeForAll();
let line: CommandLine;
beforeAll(async () => {
  line = commandLineFor(acme, acme.admin);
  await acme.repository('web', [{ title: 'Faster checkout' }, { labels: ['hotfix'] }]);
  await acme.repository('api', [{}]);
});
afterEach(async () => {
  await line.holdfast(['unfreeze', 'acme', '--all', '--yes', '-m', 'Next story']);
  await acme.quiet();
});
afterAll(() => line.close());

test('list: for people columns, for programs tabs, JSON on demand, and the ids are known from then on', async () => {
  await acme.freeze('acme/web', { reason: 'A\treason\nof \u001b[31mtwo lines' });
  await line.holdfast(['freeze', 'acme/web', 'acme/api', '--for', '2h', '-m', 'Both']);
  const seen = await line.holdfast(['list', 'acme'], { isTTY: true, env: { NO_COLOR: '1' } });
  const [head, ...rows] = seen.out.trimEnd().split('\n');
  expect(head).toMatch(/^STATE +WHERE +FROM +UNTIL +REASON +ID$/);
  expect(rows).toHaveLength(2);
  expect(rows.every((row) => row.indexOf('2026-03-01') === head!.indexOf('FROM'))).toBe(true);
  expect(rows.join('\n')).toContain('A reason of \uFFFD[31mtwo lines');
  expect(rows.join('\n')).toContain('acme (2)');
  const narrow = await line.holdfast(['list', 'acme'], { isTTY: true, columns: 80, env: { NO_COLOR: '1' } });
  const lines = narrow.out.trimEnd().split('\n');
  expect(lines.filter((text) => text.length > 80)).toEqual([]);
  expect(lines).toHaveLength(5);
  expect(lines[2]).toMatch(/^ {2}[0-9a-f-]{36}$/);
  const coloured = await line.holdfast(['list', 'acme'], { isTTY: true });
  expect(coloured.out).toContain('\u001b[33mon ');
  const piped = await line.holdfast(['list', 'acme', '--each']);
  expect(piped.out).not.toContain('\u001b');
  expect(
    piped.out
      .trimEnd()
      .split('\n')
      .map((row) => row.split('\t').length),
  ).toEqual([6, 6, 6]);
  const { freezes } = (await line.holdfast(['list', 'acme/api', '--json'])).json();
  expect(freezes).toEqual([
    {
      repository: 'acme/api',
      state: 'on',
      starts_at: '2026-03-01T09:00:00.000Z',
      ends_at: '2026-03-01T11:00:00.000Z',
      freeze: expect.objectContaining({ reason: 'Both', plan_id: expect.any(String) }),
    },
  ]);
});

test('list of nothing says so', async () => {
  expect((await line.holdfast(['list', 'acme'])).out).toBe('No freeze is active or scheduled in acme.\n');
});

test('status of a pull request: what holds it, why and until when', async () => {
  const words = ['freeze', 'acme/web', '--for', '2h', '-m', 'INC-4711'];
  await line.holdfast([...words, '--match', 'base=main', '--exclude', 'label=hotfix']);
  await acme.quiet();
  const held = await line.holdfast(['status', 'acme/web#1']);
  expect(held.code).toBe(0);
  expect(held.out).toContain('Frozen  acme/web#1 Faster checkout');
  expect(held.out).toContain('blocked by  INC-4711');
  expect(held.out).toMatch(/^ {2}[0-9a-f-]{36}, until 2026-03-01 12:00 Europe\/Paris$/m);
  expect(held.out).toContain('matches: base=main');
  const free = await line.holdfast(['status', 'https://github.com/acme/web/pull/2', '--exit-code']);
  expect([free.code, free.out]).toEqual([0, expect.stringContaining('matches: label=hotfix')]);
  const asked = await line.holdfast(['status', 'acme/web#1', '--exit-code', '--json']);
  expect([asked.code, asked.json().frozen]).toEqual([1, true]);
});

test('status of a repository: 1 if a freeze is not enforced', async () => {
  await acme.repository('bare', [{}], { protect: {} });
  expect((await line.holdfast(['status', 'acme/bare'])).code).toBe(0);
  await acme.freeze('acme/bare');
  const bare = await line.holdfast(['status', 'acme/bare']);
  expect([bare.code, bare.out, bare.err]).toEqual([
    1,
    expect.stringContaining('enforced: no'),
    expect.stringContaining('holdfast doctor acme/bare'),
  ]);
  await acme.freeze('acme/web');
  expect((await line.holdfast(['status', 'acme/web'])).code).toBe(0);
  const asked = await line.holdfast(['status', 'acme/web', '--base', 'main', '--exit-code', '--json']);
  expect([asked.code, asked.json()]).toEqual([1, expect.objectContaining({ frozen: true, enforced: 'yes' })]);
  expect((await line.holdfast(['status', 'acme'])).code).toBe(2);
});

test('extend moves the end of a freeze and of a plan, and refuses those without an end', async () => {
  const made = await line.holdfast(['freeze', 'acme/web', '--for', '2h', '-m', 'INC-4711', '--json']);
  const { id } = made.json().freeze;
  const longer = await line.holdfast(['extend', id, '--for', '1h', '--json']);
  expect(longer.err).toBe('Moving the end to 2026-03-01 13:00 Europe/Paris.\n');
  expect(longer.json()).toMatchObject({
    kind: 'freeze',
    in: 'acme/web',
    freeze: { end: '2026-03-01T13:00:00' },
  });
  const plan = await line.holdfast(['freeze', 'acme/web', 'acme/api', '--for', '1h', '-m', 'Both', '--json']);
  const later = await line.holdfast(['extend', plan.json().plan.id, '--until', 'tomorrow 08:00', '--json']);
  expect(later.json().plan.end).toBe('2026-03-02T08:00:00');
  const open = await acme.freeze('acme/api');
  const none = await line.holdfast(['extend', open.id, '--for', '1h']);
  expect([none.code, none.err]).toEqual([1, expect.stringContaining('has no end that --for could move')]);
  const past = await line.holdfast(['extend', id, '--until', '08:00']);
  expect([past.code, past.err]).toEqual([2, expect.stringContaining('which is past')]);
  const doubtful = await line.holdfast(['extend', id, '--until', '18h']);
  expect([doubtful.code, doubtful.err]).toEqual([
    2,
    expect.stringContaining('may be 18:00 or 18 hours from now'),
  ]);
  expect((await line.holdfast(['extend', id])).code).toBe(2);
});
