// Requests of the pages that explain the API, pasted into bash one after another: each is taken, today and in a year.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { requireStatus, seed } from '../../demo/demo-seed.ts';
import { type Holdfast, startHoldfast } from '../support/holdfast.ts';
import { clockAhead, openShell } from '../support/interactive-shell.ts';
import { documentAt } from './documents.ts';

const shells = (page: string): string[] =>
  [...documentAt(page).matchAll(/```sh\n(.*?)```/gs)].map(([, text]) => text!);

/** What readers put in, and what stands in the first block besides. */
const [first] = shells('docs/routes.md') as [string];
const setUp = first
  .split('\n')
  .filter((line) => !line.includes('…') && !line.startsWith('HOLDFAST='))
  .join('\n');
const requests = ['docs/routes.md', 'docs/roles.md', 'docs/exemptions.md'].flatMap((page) =>
  shells(page)
    .filter((text) => /\b(curl|ask) /.test(text) && text !== first)
    .map((text) => ({ page, text })),
);

test('every request can be pasted', () => {
  expect(requests.length).toBeGreaterThan(18);
  expect(requests.filter(({ text }) => text.includes('…'))).toEqual([]);
});

describe.each([
  ['today', 0],
  ['a year ahead', 365],
])('%s', (_, ahead) => {
  let holdfast: Holdfast;
  const printed: string[] = [];
  beforeAll(async () => {
    holdfast = await startHoldfast((github) => {
      seed(github);
      github.addTeam('acme', 'release', ['ada']);
      github.install('acme');
      requireStatus(github);
    });
    await holdfast.advanceTo(new Date(Date.now() + ahead * 86_400_000));
    const shell = openShell({
      PATH: process.env['PATH'],
      HOLDFAST: holdfast.app.url,
      ADMIN_KEY: await holdfast.key('acme', 'admin'),
      CI_KEY: await holdfast.key('acme', 'ci'),
    });
    // Each response ends with its status.
    await shell.paste(
      `set -u\n${clockAhead(ahead)}\ncurl() { command curl -w ' %{http_code}' "$@"; }\n${setUp}`,
    );
    for (const { text } of requests) {
      const { out } = await shell.paste(text);
      printed.push(out);
      const [, id] = /"id":"([^"]+)","reason":"Quarter end"/.exec(out) ?? [];
      if (id) await shell.paste(`FREEZE=${id}`);
    }
    await shell.leave();
    await holdfast.quiet();
  });
  afterAll(() => holdfast.close());

  test.each(requests.map((request, index) => ({ ...request, index })))('$page: $text', ({ index }) => {
    expect(printed[index]).toMatch(/ 20\d\s*$/);
  });

  test('begins no freeze', async () => {
    const as = await holdfast.key('acme', 'admin');
    const { body } = await holdfast.call('GET', '/v1/repos/acme/web/scheduled_freeze', { as });
    // One request pauses the queue now. The others are those of the plan.
    const made = body.scheduled_freezes as { start: string; reason: string }[];
    const starts = made.filter(({ reason }) => reason !== 'Broken main').map(({ start }) => start);
    expect(starts.length).toBeGreaterThan(0);
    expect(starts.filter((start) => Date.parse(`${start}Z`) <= holdfast.clock.now())).toEqual([]);
  });
});
