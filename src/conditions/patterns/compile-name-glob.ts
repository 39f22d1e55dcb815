import { LRUCache } from 'lru-cache';
import { mapInSlices } from '../../time/slices.ts';
import type { TextTest } from '../ast.ts';
import { compileGlob, expandBraces, expressionOf, mostExpanded, unescape } from './compile-glob.ts';

/** Replaces `/`, which has no special meaning in a name. No GitHub name contains this character. */
const slash = '\ufdd3';
const folded = (text: string): string => text.toLowerCase().replaceAll('/', slash);

/**
 * Compiles a glob of names, such as those of repositories and environments: `*`, `?`, `[abc]`, `{a,b}` match the whole
 * name, in any letter case. A name that stands there letter by letter, such as `prod [eu]`, matches itself too. Every glob
 * takes linear time.
 * @throws ParseError if its braces do not match, or it is too large.
 */
export function compileNameGlob(glob: string): TextTest {
  const known = lately.get(glob);
  if (known) return known;
  const exact = folded(glob);
  const test = compileGlob(exact);
  const isName = (name: string) => folded(name) === exact || test(folded(name));
  const ofName: TextTest = Object.assign(isName, { size: test.size });
  lately.set(glob, ofName);
  return ofName;
}

/** The globs of names that were used lately: as much as one request can name. */
const lately = new LRUCache<string, TextTest>({
  maxSize: 50 * mostExpanded,
  sizeCalculation: ({ size }, glob) => 1 + glob.length + (size ?? 0),
});

/** Compiles globs of names in slices, so that others are answered meanwhile. Who uses them after that finds them compiled. */
export const compileAhead = async (globs: string[]): Promise<void> =>
  // The first use compiles it.
  void (await mapInSlices(globs, (glob) => compileNameGlob(glob)('')));

/** Whether a glob is a plain name. */
export const isPlainName = (glob: string): boolean => !/[*?[\]{}\\]/.test(glob);

/** PostgreSQL writes characters in another way than RE2, and has no class without members. */
const forPostgreSql = (expression: string): string =>
  expression
    .replaceAll('[^\\x{0}-\\x{10FFFF}]', '(?!)')
    .replace(/\\x\{([0-9a-f]+)\}/g, (_, code: string) => `\\U${code.padStart(8, '0')}`);

/**
 * What globs of names match, as a regular expression of PostgreSQL (`name ~* …`).
 * @throws ParseError like `compileNameGlob`.
 */
export const nameExpression = (globs: string[]): string =>
  `^(?:${globs
    .flatMap((glob) => expandBraces(folded(glob)))
    .map((glob) => forPostgreSql(expressionOf(unescape(glob))))
    .join('|')})$`;
