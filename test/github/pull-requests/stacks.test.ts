import { describe, expect, test } from 'vitest';
import { loadRepository } from '../../../src/github/pull-requests/load-pull-requests.ts';
import { stackPlacesIn, readStacks, stackedWith } from '../../../src/github/pull-requests/stacks.ts';
import { fakeGitHub, json } from './fake-github.ts';
import type { Stack } from '../../../src/github/pull-requests/pull-request.ts';

const listed = (number: number, base: string, ...members: number[]) => ({
  number,
  open: true,
  base: { ref: base },
  pull_requests: members.map((member) => ({ number: member })),
});
const open = (number: number, stack?: object) => ({ number, ...(stack && { stack }) });
const former = { ...listed(1, 'main', 7, 1), open: false };
const hundred = json(new Array(100).fill(former));
const onMain = (position: number) => ({ number: 50, size: 3, position, base: { ref: 'main' } });
const places = (...members: number[]) =>
  members.map((pullRequest, index) => ({ pullRequest, position: index + 1 }));

/** What is read from these answers, by path and page, and what was asked. */
async function read(answers: Record<string, Response>) {
  const github = fakeGitHub();
  const asked: string[] = [];
  github.stacks = (url) => {
    const name = `${url.pathname.replace('/repos/acme/web', '')} ${url.searchParams.get('page') ?? 1}`;
    asked.push(name);
    return answers[name]!.clone();
  };
  const again = () => readStacks(github.from()).catch((error: Error) => error);
  return { stacks: await again(), again, asked };
}

describe('reading stacks', () => {
  test('one question lists them, bottom first', async () => {
    const { stacks, asked } = await read({
      '/stacks 1': json([listed(50, 'main', 7, 9), listed(51, 'release', 8, 3, 4)]),
    });
    expect(stacks).toEqual([
      { number: 50, base: 'main', size: 2, places: places(7, 9) },
      { number: 51, base: 'release', size: 3, places: places(8, 3, 4) },
    ]);
    expect(asked).toEqual(['/stacks 1']);
  });

  test('of more than fit on a page, the open ones count, also for a pull request that was in a former one', async () => {
    const { stacks, asked } = await read({
      '/stacks 1': hundred,
      '/stacks 2': json([listed(101, 'main', 7, 9), former]),
    });
    expect(stacks).toEqual([{ number: 101, base: 'main', size: 2, places: places(7, 9) }]);
    expect(asked).toEqual(['/stacks 1', '/stacks 2']);
  });

  const ten = Array.from({ length: 10 }, (_, index) => [`/stacks ${index + 1}`, hundred] as const);
  test.each([
    ['does not list them', { '/stacks 1': json({ message: 'Not Found' }, 404) }],
    ['refuses the list', { '/stacks 1': json({ message: 'Resource not accessible by integration' }, 403) }],
    ['has had more than fit on ten pages', Object.fromEntries(ten)],
  ])('open pull requests say where they are if GitHub %s', async (_, answers) => {
    const first = new Array(100).fill(null).map((_, index) => open(200 - index));
    first[3] = open(9, onMain(2));
    const { stacks, asked } = await read({
      ...answers,
      '/pulls 1': json(first),
      '/pulls 2': json([open(7, onMain(1)), open(5)]),
    });
    const members = [
      { pullRequest: 9, position: 2 },
      { pullRequest: 7, position: 1 },
    ];
    expect(stacks).toEqual([{ number: 50, base: 'main', size: 3, places: members }]);
    expect(asked).toEqual([...Object.keys(answers), '/pulls 1', '/pulls 2']);
  });

  test('a GitHub that knows no stacks is asked once an hour', async () => {
    const { stacks, again, asked } = await read({
      '/stacks 1': json({ message: 'Not Found' }, 404),
      '/pulls 1': json([open(1)]),
    });
    expect([stacks, await again()]).toEqual([[], []]);
    expect(asked).toEqual(['/stacks 1', '/pulls 1']);
  });

  const unknown = json({ message: 'Not Found' }, 404);
  test.each([
    ['without open pull requests', unknown, json([])],
    ['after a refusal', json({ message: 'Resource not accessible by integration' }, 403), json([open(1)])],
    ['while one says that it is in a stack', unknown, json([open(2), open(9, onMain(1))])],
  ])('it is asked again %s', async (_, stacks, pulls) => {
    const { again, asked } = await read({ '/stacks 1': stacks, '/pulls 1': pulls });
    await again();
    expect(asked).toEqual(['/stacks 1', '/pulls 1', '/stacks 1', '/pulls 1']);
  });

  test.each([
    ['an outage', json({ message: 'Oops' }, 502), 502],
    ['a rate limit', json({ message: 'Wait' }, 403, { 'retry-after': '60' }), 403],
  ])('%s is thrown', async (_, answer, status) => {
    const { stacks, asked } = await read({ '/stacks 1': answer });
    expect(stacks).toMatchObject({ status });
    expect(new Set(asked)).toEqual(new Set(['/stacks 1']));
  });
});

describe('a repository asks for its stacks', () => {
  test.each([
    ['if a pull request merges into another branch than the default branch', ['main', 'change-1'], [], 1],
    ['if it had stacks', ['main', 'main'], [{ number: 50, base: 'main', size: 2, places: places(1, 2) }], 1],
    ['not if all merge into the default branch', ['main', 'main'], [], 0],
    ['not without open pull requests', [], [], 0],
  ])('%s', async (_, bases, known, requests) => {
    const github = fakeGitHub();
    github.pullRequests = bases.map((base, index) => ({ number: index + 1, baseRefName: base }));
    let asked = 0;
    github.stacks = () => (asked++, json([]));
    await loadRepository({ ...github.from(), stacks: known });
    expect(asked).toBe(requests);
  });
});

const stacks: Stack[] = [
  { number: 50, base: 'main', size: 2, places: places(7, 9) },
  { number: 51, base: 'release', size: 1, places: places(8) },
];

test('each pull request has its place', () => {
  expect(stackPlacesIn(stacks).get(9)).toEqual({ number: 50, base: 'main', size: 2, position: 2 });
  expect(stackPlacesIn(stacks).get(1)).toBeUndefined();
});

test('those of a stack go together', () => {
  expect(stackedWith(stacks, [9])).toEqual([7, 9]);
  expect(stackedWith(stacks, [1, 8])).toEqual([8]);
});
