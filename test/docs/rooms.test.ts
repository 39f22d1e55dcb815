// The rooms of src/: lint sees every kind of import, and documents and files say of each room what it is for.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Linter } from 'eslint';
import tseslint from 'typescript-eslint';
import { expect, test } from 'vitest';
import { circleOf, rules } from '../../lint/borders.ts';
import { doors, floors } from '../../lint/rooms.ts';
import { between, documentAt, rowsOf } from './documents.ts';

const linter = new Linter();

/** What the rules of floors and doors say of a file with this text. */
const problemsOf = (file: string, text: string): string[] =>
  linter
    .verify(
      text,
      {
        files: ['**/*.ts'],
        languageOptions: { parser: tseslint.parser as Linter.Parser },
        plugins: { borders: { rules } },
        rules: { 'borders/floors': 'error', 'borders/doors': 'error' },
      },
      resolve(file),
    )
    .map(({ message }) => message);

const upward = /^freezes stands below deps\.ts: it must not import from there\.$/;
const behind = /^src\/statuses\/drain\.ts is no door of statuses\/\./;

test.each([
  ['a value from above', 'src/freezes/a.ts', "import { a } from '../deps.ts';", upward],
  ['a type from above', 'src/freezes/a.ts', "import type { Deps } from '../deps.ts';", upward],
  ['a type among values', 'src/freezes/a.ts', "import { type Deps } from '../deps.ts';", upward],
  ['a type in place', 'src/freezes/a.ts', "type A = import('../deps.ts').Deps;", upward],
  ['what is handed on', 'src/freezes/a.ts', "export type { Deps } from '../deps.ts';", upward],
  ['all that is handed on', 'src/freezes/a.ts', "export * from '../deps.ts';", upward],
  ['what is loaded later', 'src/freezes/a.ts', "await import('../deps.ts');", upward],
  ['a file that is no door', 'src/api/a.ts', "import { a } from '../statuses/drain.ts';", behind],
  ['a type of it', 'src/api/a.ts', "import type { A } from '../statuses/drain.ts';", behind],
  [
    'more than tasks in the worker',
    'src/server/worker.ts',
    "import { aTask, b } from '../statuses/drain.ts';",
    behind,
  ],
  ['a task elsewhere', 'src/server/a.ts', "import { aTask } from '../statuses/drain.ts';", behind],
])('lint refuses %s', (_, file, text, message) => {
  expect(problemsOf(file, text)).toEqual([expect.stringMatching(message)]);
});

test.each([
  ['a door', 'src/api/a.ts', "import { a } from '../freezes/freeze.ts';"],
  ['a file of the same room', 'src/statuses/a.ts', "import { a } from './drain.ts';"],
  ['tasks in the worker', 'src/server/worker.ts', "import { aTask } from '../statuses/drain.ts';"],
  ['a file beside the rooms', 'src/api/a.ts', "import { a } from '../errors.ts';"],
])('lint takes %s', (_, file, text) => {
  expect(problemsOf(file, text)).toEqual([]);
});

test('a circle is what leads back, within a room', () => {
  const imports: Record<string, string[]> = {
    'src/a/1.ts': ['src/a/2.ts', 'src/a/4.ts'],
    'src/a/2.ts': ['src/a/3.ts', 'src/b/1.ts'],
    'src/a/3.ts': ['src/a/1.ts'],
    'src/b/1.ts': ['src/a/1.ts'],
  };
  const circle = (file: string) => circleOf(file, (each) => imports[each] ?? []);
  expect(circle('src/a/1.ts')).toEqual(['src/a/1.ts', 'src/a/2.ts', 'src/a/3.ts']);
  expect(circle('src/a/4.ts')).toEqual([]);
  expect(circle('src/b/1.ts')).toEqual([]);
});

const folders = floors.filter((room) => room in doors);

test('the table of rooms has each of them, the highest first', () => {
  const section = between(documentAt('docs/how-it-works.md'), '## The rooms of `src/`', '\n## ');
  const named = rowsOf(section).flatMap(([room]) => /^`(\w+)\/`$/.exec(room!)?.[1] ?? []);
  expect(named).toEqual(folders);
});

test.each(folders)('the first door of %s/ says what the room is for, in five lines at most', (room) => {
  const [door] = doors[room]!;
  const [head] = /^(\/\/ .+\n)+/.exec(readFileSync(`src/${room}/${door}`, 'utf8')) ?? [''];
  expect(head).toMatch(new RegExp(`^// \`${room}/\` `));
  expect(head.trim().split('\n').length).toBeLessThanOrEqual(5);
});
