import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { readScopesFile, ScopesFileError, touchedScopes } from '../../../src/cli/scopes/scopes-file.ts';
import { amount } from '../../support/amounts.ts';

const touched = (file: string, paths: string[]) => {
  const { scopes, all } = touchedScopes(readScopesFile(file, 'scopes.yml'), paths);
  return { ...Object.fromEntries(scopes), ...(all.length > 0 && { '*': all }) };
};

/** Of one scope, whether a path is in it. */
const matches = (patterns: string[], path: string): boolean =>
  'a' in touched(stringify({ scopes: { a: patterns } }), [path]);

test('a file names scopes, with one pattern or several, and the paths that touch everything', () => {
  const file = `
# yaml-language-server: $schema=./schemas/scopes.schema.json
scopes:
  payments:
    - services/payments/**
    - '!**/*.md'
  docs: '**/*.md'
all_scopes:
  - package-lock.json
`;
  const paths = ['services/payments/a.ts', 'services/payments/README.md', 'x'];
  expect(touched(file, paths)).toEqual({
    payments: ['services/payments/a.ts'],
    docs: ['services/payments/README.md'],
  });
  expect(touched(file, ['package-lock.json'])).toEqual({ '*': ['package-lock.json'] });
  expect(touched(file, ['x'])).toEqual({});
});

test('an anchor can be used again', () => {
  const file = `scopes:\n  a: &code\n    - src/**\n  b: *code\n  c:\n    - &one x\n    - *one\n`;
  expect(touched(file, ['src/x', 'x'])).toEqual({ a: ['src/x'], b: ['src/x'], c: ['x'] });
});

describe('patterns', () => {
  test.each([
    // As GitHub's documentation has them for `paths`.
    [['*'], 'README.md', true],
    [['*'], 'docs/a.md', false],
    [['**'], 'all/the/files.md', true],
    [['*.js'], 'app.js', true],
    [['*.js'], 'js/app.js', false],
    [['docs/*'], 'docs/README.md', true],
    [['docs/*'], 'docs/a/b.md', false],
    [['docs/**'], 'docs/a/b.md', true],
    [['docs/**/*.md'], 'docs/README.md', true],
    [['**/docs/**'], 'docs/hello.md', true],
    [['**/docs/**'], 'dir/docs/my-file.txt', true],
    [['**/*-post.md'], 'my-post.md', true],
    [['**/*-post.md'], 'path/their-post.md', true],
    [['**/*.md', '!README.md'], 'README.md', false],
    [['**/*.md', '!README.md'], 'docs/README.md', true],
    [['**/*.md', '!README.md', '**/README*'], 'README.md', true],
    // Dot files are files, case counts, and braces are alternatives.
    [['**'], '.github/workflows/ci.yml', true],
    [['*'], '.env', true],
    [['src/**'], 'SRC/a', false],
    [['{web,api}/**/*.{ts,tsx}'], 'api/x/y.tsx', true],
    [['src/[ab].ts'], 'src/b.ts', true],
    [['docs'], 'docs/a', false],
    [['a b/**'], 'a b/c d\ne', true],
    [['\\{x\\}/**'], '{x}/y', true],
  ])('%j and %j: %s', (patterns, path, expected) => expect(matches(patterns, path)).toBe(expected));
});

// Folders and files with a few names, and patterns over them, so that they often meet.
const part = fc.constantFrom('a', 'b', '.c', 'd.md');
const path = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
const glob = fc
  .array(fc.oneof(part, fc.constantFrom('*', '**', '*.md', '?', '[ab]', '{a,b}')), {
    minLength: 1,
    maxLength: 4,
  })
  .map((parts) => parts.join('/'));
const patterns = fc
  .tuple(glob, fc.array(fc.tuple(fc.boolean(), glob), { maxLength: 3 }))
  .map(([first, more]) => [first, ...more.map(([isExclude, each]) => (isExclude ? '!' : '') + each)]);

describe('laws', () => {
  test('the last pattern that matches decides', () =>
    fc.assert(
      fc.property(patterns, path, (list, each) => {
        expect(matches([...list, '**'], each)).toBe(true);
        expect(matches([...list, '!**'], each)).toBe(false);
        const alone = (pattern: string) => matches([pattern.replace(/^!/, '')], each);
        const last = list.findLast(alone);
        expect(matches(list, each)).toBe(last !== undefined && !last.startsWith('!'));
      }),
    ));

  test('paths are judged one by one: their order and other paths make no difference', () =>
    fc.assert(
      fc.property(patterns, fc.uniqueArray(path, { maxLength: 6 }), (list, paths) => {
        const file = stringify({ scopes: { a: list } });
        const own = paths.filter((each) => matches(list, each));
        expect(touched(file, paths)).toEqual(own.length > 0 ? { a: own } : {});
      }),
    ));
});

describe('an error has its line and field, and says what to write', () => {
  const scopes = (...lines: string[]) => ['scopes:', ...lines.map((line) => `  ${line}`)].join('\n');
  test.each([
    ['', 1, 'The file does not name scopes. Write, for example:\nscopes:'],
    ['# nothing yet\n', 1, 'does not name scopes'],
    ['- a', 1, 'does not name scopes'],
    ['scopes:', 1, 'scopes names no scope'],
    ['all_scopes: x', 1, 'scopes names no scope'],
    ['payments: src/**', 1, 'no field "payments". Write scopes, with "payments" below it'],
    [scopes('a:'), 2, 'scopes.a is not a text'],
    [scopes('a: []'), 2, 'scopes.a has no pattern'],
    [scopes('a:', '  - x', '  - 1'), 4, "scopes.a[1] is not a text. Write a pattern, in quotes: 'src/**'"],
    [scopes('a:', '  - [x]'), 3, 'scopes.a[0] is not a text'],
    [scopes('2026: x'), 2, 'A name is a text. Write it in quotes.'],
    [scopes('"": x'), 2, '1 to 255 characters'],
    [scopes(`${'x'.repeat(256)}: x`), 2, '1 to 255 characters'],
    [scopes('a: x', 'a: y'), 3, 'Put the patterns of a scope into one list.'],
    [scopes('a:', '  - x', '  - !docs/**'), 4, "YAML reads a bare !. Write '!docs/**'."],
    [scopes('a:', '  - **/*.md'), 3, "YAML reads a bare *. Write '**/*.md'."],
    [scopes('a: {b,c}/x'), 2, 'Write patterns in quotes'],
    [scopes('a: @x'), 2, 'Write patterns in quotes'],
    ['scopes:\n\ta: x', 2, 'Indent with spaces.'],
    ['scopes: {a: x}\n---\nscopes: {a: x}\n', 2, 'Remove the line ---.'],
    [scopes("a: '!x'"), 2, 'comes first, so there is nothing for it to exclude'],
    [scopes('a: /src/**'), 2, 'paths begin at its root. Write src/**.'],
    [scopes('a: ./src/**'), 2, 'Write src/**.'],
    [scopes('a: src/'), 2, 'names a folder, and only files change. Write src/**.'],
    [scopes('a: src//x'), 2, 'one / between folders'],
    [scopes('a: src\\x'), 2, '/ between folders, on Windows too'],
    [scopes("a: '**.js'"), 2, 'Write **/ before, such as **/*.js.'],
    [scopes("a: [x, '!']"), 2, 'scopes.a[1]: A pattern is empty'],
    [scopes("a: [x, '!!y']"), 2, 'Write one ! to exclude.'],
    [scopes("a: ' x'"), 2, 'begins or ends with a space. Write "x".'],
    [scopes("a: '{x'"), 2, 'unbalanced `{`: write `\\{`'],
    [`${scopes('a: x')}\nall_scopes: ['!x']`, 3, 'all_scopes[0]: "!x" comes first'],
  ])('%j: line %i, %s', (text, line, message) => {
    const read = () => readScopesFile(text, 'ci/scopes.yml');
    expect(read).toThrow(ScopesFileError);
    expect(read).toThrow(`ci/scopes.yml:${line}: `);
    expect(read).toThrow(message);
  });

  test('500 scopes are accepted, and no more', () => {
    const file = (count: number) => scopes(...Array.from({ length: count }, (_, at) => `s${at}: x`));
    expect(readScopesFile(file(500), 'scopes.yml').scopes.size).toBe(500);
    expect(() => readScopesFile(file(501), 'scopes.yml')).toThrow(
      'scopes.yml:502: scopes names more than 500',
    );
  });
});

describe('schemas/scopes.schema.json', () => {
  const schema = JSON.parse(
    readFileSync(new URL('../../../schemas/scopes.schema.json', import.meta.url), 'utf8'),
  );
  const validate = new Ajv({ strict: true, strictTuples: false, strictTypes: false }).compile(schema);
  const isRead = (value: unknown): boolean => {
    try {
      readScopesFile(stringify(value), 'scopes.yml');
      return true;
    } catch (error) {
      if (error instanceof ScopesFileError) return false;
      throw error;
    }
  };

  // Braces are left out: no expression can count them.
  const rough = fc.string({ unit: fc.constantFrom('a', '!', '*', '/', '.', '\\', ' ', '['), maxLength: 7 });
  const oneOrMore = fc.oneof(
    { weight: 6, arbitrary: patterns },
    { weight: 3, arbitrary: glob },
    { weight: 1, arbitrary: rough },
    { weight: 1, arbitrary: fc.array(fc.oneof(rough, glob, fc.constant(null)), { maxLength: 3 }) },
  );
  const name = fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom('a', 'b', 'ä'.repeat(255)) },
    { weight: 1, arbitrary: fc.constantFrom('', 'x'.repeat(256)) },
  );
  const scopes = fc.dictionary(name, oneOrMore, { maxKeys: 3 });
  const anyFile = fc.oneof(
    { weight: 9, arbitrary: fc.record({ scopes }) },
    { weight: 9, arbitrary: fc.record({ scopes, all_scopes: oneOrMore }) },
    { weight: 2, arbitrary: fc.record({ scopes, other: glob }, { requiredKeys: [] }) },
    { weight: 1, arbitrary: fc.constantFrom(null, 'a', ['a'], {}, { scopes: null }) },
  );

  test('editors accept exactly what the reader accepts', () => {
    const seen = { true: 0, false: 0 };
    fc.assert(
      fc.property(anyFile, (file) => {
        const isValid = isRead(file);
        seen[`${isValid}`]++;
        expect([file, validate(file)]).toEqual([file, isValid]);
      }),
      { numRuns: amount(2000) },
    );
    expect(Math.min(seen.true, seen.false)).toBeGreaterThan(amount(100));
  });

  test('has the limits of the API', () => {
    const many = (count: number) => ({
      scopes: Object.fromEntries(Array.from({ length: count }, (_, at) => [`s${at}`, 'x'])),
    });
    expect([500, 501].map((count) => [validate(many(count)), isRead(many(count))])).toEqual([
      [true, true],
      [false, false],
    ]);
  });
});
