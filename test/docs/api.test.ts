import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { refusalStatus } from '../../src/errors.ts';
import { requireStatus, seed } from '../../demo/demo-seed.ts';
import { type Holdfast, startHoldfast } from '../support/holdfast.ts';
import { clockAhead, openShell } from '../support/interactive-shell.ts';
import { documentAt } from './documents.ts';

// docs/api.md, pasted into bash from top to bottom against what the demo shows: each block after a command is its output.

const page = documentAt('docs/api.md');
type Step = { command: string; language: string | undefined; output: string };
const steps = [...page.matchAll(/```sh\n(.*?)```(?:\s+```(json|text)\n(.*?)```)?/gs)]
  .map(([, command, language, output]): Step => ({ command: command!, language, output: output ?? '' }))
  // The values that each reader puts in.
  .filter(({ command }) => !command.includes('…'));

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

/** A text in which `…` stands for whatever is different each time. */
const pattern = (text: string): RegExp => new RegExp(`^${text.split('…').map(escaped).join('[^\\s"]+')}$`);

function expectLike(actual: unknown, shown: unknown): void {
  if (typeof shown === 'string') expect(actual).toMatch(pattern(shown));
  else if (typeof shown !== 'object' || shown === null) expect(actual).toBe(shown);
  else {
    expect(Object.keys(actual as object)).toEqual(Object.keys(shown));
    for (const [key, value] of Object.entries(shown))
      expectLike((actual as Record<string, unknown>)[key], value);
  }
}

test('the page has commands, and each shows its output', () => {
  expect(steps.length).toBeGreaterThan(8);
  for (const { command, language } of steps) expect(language, command).toBeDefined();
});

/** The days of the page, of the first block. */
const days = [...page.matchAll(/^[A-Z]+=\$\(date .*$/gm)].map(([line]) => line);

describe.each([
  ['today', 0],
  ['a year ahead', 365],
])('%s', (_, ahead) => {
  let holdfast: Holdfast;
  let printed: string[];
  const statuses = new Set<string>();
  beforeAll(async () => {
    let githubToken = '';
    holdfast = await startHoldfast((github) => {
      githubToken = seed(github).ada;
      github.install('acme');
      requireStatus(github);
    });
    await holdfast.advanceTo(new Date(Date.now() + ahead * 86_400_000));
    holdfast.github.onStatus(({ state }) => void statuses.add(state));
    const [admin, ci] = [await holdfast.key('acme', 'admin'), await holdfast.key('acme', 'ci')];
    const shell = openShell({
      PATH: process.env['PATH'],
      HOLDFAST: holdfast.app.url,
      ADMIN_KEY: admin,
      CI_KEY: ci,
      GITHUB_TOKEN: githubToken,
    });
    await shell.paste(`set -u\n${clockAhead(ahead)}\n${days.join('\n')}`);
    printed = [];
    for (const { command } of steps) printed.push((await shell.paste(command)).out);
    await shell.leave();
    await holdfast.quiet();
  });
  afterAll(() => holdfast.close());

  test.each(steps.map((step, index) => ({ ...step, index })))('$command', ({ language, output, index }) => {
    const actual = printed[index]!.trim();
    if (language === 'json') expectLike(JSON.parse(actual), JSON.parse(output));
    else expect(actual.replaceAll('\r', '')).toMatch(pattern(output.trim()));
  });

  test('blocks no pull request', () => expect(statuses).not.toContain('pending'));
});

test('every status of an error is in the table', () => {
  const rows = [...page.matchAll(/^\| (\d{3}) /gm)].map(([, status]) => Number(status));
  // 405 is not refused but not served, and 500 is a bug.
  expect(rows).toEqual([...new Set([...Object.values(refusalStatus), 405, 500])].toSorted((a, b) => a - b));
});
