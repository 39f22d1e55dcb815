import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileGlob, quoteGlob, expandBraces } from '../../../src/conditions/patterns/compile-glob.ts';
import { ParseError } from '../../../src/conditions/scanner.ts';
import { amount } from '../../support/amounts.ts';

test.each<[string, string[], string[]]>([
  ['main', ['main'], ['Main', 'main2', 'a/main', '']],
  ['', [''], ['a']],
  ['src/**', ['src/a', 'src/a/b', 'src/'], ['src', 'a/src/b', 'srcs/a']],
  ['**', ['', 'a', 'a/b'], []],
  ['**/x', ['x', 'a/x', 'a/b/x'], ['yx', 'a/yx', 'x/a']],
  ['a/**/b', ['a/b', 'a/c/b', 'a/c/d/b'], ['a/c', 'ab', 'a/cb']],
  ['**/**/x', ['x', 'a/b/c/x'], ['xx']],
  ['**/*.sql', ['a.sql', 'x/y/a.sql', '.sql'], ['a.sqlx', 'a.sql/b']],
  ['**/*', ['a', 'a/b'], ['', 'a/']],
  ['*', ['a', '.hidden', 'ä😀'], ['', 'a/b']],
  ['*.md', ['a.md', '.md'], ['d/a.md', 'a.mdx']],
  ['release/*', ['release/1'], ['release/', 'release', 'release/1/2']],
  ['release*', ['release', 'release1'], ['release/1']],
  ['*/x', ['a/x'], ['/x', 'x', 'a/b/x']],
  ['a*b*c', ['abc', 'axxbyyc'], ['ab', 'a/b/c']],
  ['a**b', ['ab', 'axb'], ['a/b']],
  ['a/*/b', ['a/x/b'], ['a/b', 'a//b', 'a/x/y/b']],
  ['?', ['a', 'é', '😀', '\n'], ['', 'ab', '/']],
  ['a?c', ['abc'], ['a/c', 'ac']],
  ['[a-c]x', ['ax', 'cx'], ['dx', 'x']],
  ['[!a]x', ['bx', '😀x'], ['ax', '/x', 'x']],
  ['a[!b]c', ['adc'], ['abc', 'a/c']],
  ['[^a]', ['^', 'a'], ['b']],
  ['[]a]', [']', 'a'], ['b']],
  ['[!]a]', ['b'], [']', 'a']],
  ['[+--]', ['+', ',', '-'], ['.', '/']],
  ['[.-0]', ['.', '0'], ['/']],
  ['[b-a]', [], ['a', 'b', '']],
  ['[a-]', ['a', '-'], ['b']],
  ['[z', ['[z'], ['z']],
  ['x[a/b]y', ['x[a/b]y'], ['xay', 'xby']],
  ['a.c', ['a.c'], ['abc']],
  ['a+(b)|c$^', ['a+(b)|c$^'], ['aab']],
  ['a\\b', ['a\\b'], ['ab']],
  ['{web,api}/**', ['web/a', 'api/b/c'], ['web', 'docs/a']],
  ['{web,api}/**/*.{ts,tsx}', ['web/a.ts', 'api/b/c.tsx'], ['web/a.js', 'a.ts']],
  ['a{b,c{d,e}}f', ['abf', 'acdf', 'acef'], ['acf', 'adf']],
  ['foo{,.txt}', ['foo.txt'], ['foo']],
  ['{}', [''], ['a']],
  ['a{,}b', ['ab'], ['a,b']],
  ['\\{a\\,b\\}', ['{a,b}'], ['a', 'b', '{a', 'b}']],
  ['[{]a[}]', ['{a}'], ['a']],
  ['[,]{a,b}', [',a', ',b'], ['a']],
  ['a,b', ['a,b'], ['a']],
])('%s', (glob, matching, others) => {
  const test = compileGlob(glob);
  expect(matching.filter((text) => !test(text))).toEqual([]);
  expect(others.filter((text) => test(text))).toEqual([]);
});

test.each([
  ['{', 'unbalanced `{`: write `\\{` for the character', 0],
  ['a{b', 'unbalanced `{`', 1],
  ['{a,{b}', 'unbalanced `{`', 0],
  ['a}b', 'unbalanced `}`: write `\\}` for the character', 1],
  ['{'.repeat(33) + '}'.repeat(33), 'braces nest more than 32 levels deep', 32],
  ['{a,b}'.repeat(8), 'it stands for more than 128 alternatives', 35],
  [`{${'a,'.repeat(128)}a}`, 'it stands for more than 128 alternatives', 0],
  [`{${'a,'.repeat(127)}a}${'x'.repeat(300)}{c,d}`, 'it stands for more than 128 alternatives', 557],
  [`{a,b,c,d,e,f,g,h,i,j}${'x'.repeat(500)}{a,b}`, 'its alternatives have more than 4000 characters', 521],
  ['a'.repeat(1001), 'it has more than 1000 characters', 1000],
])('%s is refused: %s', (glob, message, offset) => {
  const compile = () => compileGlob(glob);
  expect(compile).toThrow(ParseError);
  expect(compile).toThrow(message);
  try {
    compile();
  } catch (error) {
    expect((error as ParseError).offset).toBe(offset);
  }
});

test('just within the limits', () => {
  expect(expandBraces('{a,b}'.repeat(7))).toHaveLength(128);
  expect(expandBraces(`${'{'.repeat(32)}a,b${'}'.repeat(32)}`)).toEqual(['a', 'b']);
});

/** The rules, as slowly and plainly as they can be said; without classes. */
function matches(glob: string, text: string): boolean {
  return matchSegments(glob.split('/'), text.split('/'));
}

function matchSegments([first, ...rest]: string[], segments: string[]): boolean {
  if (first === undefined) return segments.length === 0;
  if (first === '**' && rest.length === 0) return segments.length > 0;
  if (first === '**') {
    // At least one segment is left for what follows.
    return segments.some(
      (_segment, index) =>
        (index === 0 || segments.slice(0, index).join('/') !== '') &&
        matchSegments(rest, segments.slice(index)),
    );
  }
  const [segment, ...others] = segments;
  if (segment === undefined) return false;
  if (first === '*' && segment === '') return false;
  return matchSegment([...first], [...segment]) && matchSegments(rest, others);
}

function matchSegment([first, ...rest]: string[], characters: string[]): boolean {
  if (first === undefined) return characters.length === 0;
  if (first === '*')
    return (
      characters.some((_each, index) => matchSegment(rest, characters.slice(index))) || matchSegment(rest, [])
    );
  const [character, ...others] = characters;
  return character !== undefined && (first === '?' || first === character) && matchSegment(rest, others);
}

describe('laws', () => {
  const piece = fc.constantFrom('a', 'b', '.', '*', '**', '?', '/', '/', '😀');
  const glob = fc.array(piece, { maxLength: 7 }).map((pieces) => pieces.join(''));
  const text = fc
    .array(fc.constantFrom('a', 'b', '.', '/', '😀'), { maxLength: 7 })
    .map((pieces) => pieces.join(''));
  // A `**` in front of an empty first segment is where observations differ, and no path or branch begins with a slash.
  const paths = text.filter((path) => !path.startsWith('/') && !path.includes('//'));

  test('the fast way and the expression agree with a naive matcher', () => {
    fc.assert(
      fc.property(glob, paths, (pattern, path) => {
        expect(compileGlob(pattern)(path)).toBe(matches(pattern, path));
      }),
      { numRuns: amount(5000) },
    );
  });

  test('braces are the alternatives, one by one', () => {
    fc.assert(
      fc.property(
        glob,
        fc.array(glob, { minLength: 1, maxLength: 3 }),
        glob,
        text,
        (before, choices, after, path) => {
          const given = choices.filter((choice) => choice !== '');
          const one = compileGlob(`${before}{${choices.join(',')}}${after}`)(path);
          const each = (given.length > 0 ? given : ['']).some((choice) =>
            compileGlob(before + choice + after)(path),
          );
          expect(one).toBe(each);
        },
      ),
    );
  });

  test('a quoted text matches only itself', () => {
    const any = fc.string({
      unit: fc.constantFrom('a', '*', '?', '[', ']', '{', '}', ',', '!', '-', '/'),
      maxLength: 8,
    });
    fc.assert(
      fc.property(any, any, (wanted, other) => {
        expect(compileGlob(quoteGlob(wanted))(wanted)).toBe(true);
        expect(compileGlob(quoteGlob(wanted))(other)).toBe(wanted === other);
      }),
    );
  });

  test('every text is compiled or refused, and a compiled glob answers', () => {
    const any = fc.string({
      unit: fc.constantFrom('a', '-', '*', '?', '[', ']', '{', '}', ',', '!', '\\', '/', '^', '😀'),
      maxLength: 20,
    });
    fc.assert(
      fc.property(any, any, (pattern, path) => {
        try {
          expect(compileGlob(pattern)(path)).toBeTypeOf('boolean');
        } catch (error) {
          expect(error).toBeInstanceOf(ParseError);
          const { offset } = error as ParseError;
          expect(offset).toBeGreaterThanOrEqual(0);
          expect(offset).toBeLessThan(pattern.length);
        }
      }),
      { numRuns: amount(2000) },
    );
  });
});
