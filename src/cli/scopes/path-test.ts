import { compileGlob } from '../../conditions/patterns/compile-glob.ts';
import { ParseError } from '../../conditions/scanner.ts';
import type { TextTest } from '../../conditions/ast.ts';

/** A pattern that no path can match, or that is misleading. The message says why, and what to write. */
export class UselessPattern extends Error {
  /** The index of the pattern, from 0. */
  readonly index: number;
  constructor(index: number, message: string) {
    super(message);
    this.index = index;
  }
}

/**
 * Whether these patterns match a path of the repository. They are globs, as in conditions, in order. A pattern that
 * begins with `!` excludes paths that earlier patterns match. The last pattern that matches a path decides.
 * @throws UselessPattern
 */
export function compilePathTest(patterns: string[]): TextTest {
  const rules = patterns.map((pattern, index) => {
    const isExclude = pattern.startsWith('!');
    const glob = isExclude ? pattern.slice(1) : pattern;
    const problem = isExclude && index === 0 ? nothingBefore(pattern) : problemOf(glob);
    if (problem) throw new UselessPattern(index, problem);
    return { isExclude, test: compiled(glob, index) };
  });
  const latestFirst = rules.toReversed();
  return (path) => {
    const rule = latestFirst.find(({ test }) => test(path));
    return rule !== undefined && !rule.isExclude;
  };
}

function compiled(glob: string, index: number): TextTest {
  try {
    return compileGlob(glob);
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    throw new UselessPattern(index, `"${glob}": ${error.message}.`);
  }
}

const nothingBefore = (pattern: string): string =>
  `"${pattern}" comes first, so there is nothing for it to exclude. Write what is included before it, such as '**'.`;

/** Why no path can match a glob, or why it is misleading; null for a good one. */
function problemOf(glob: string): string | null {
  const says = (why: string, write: string) => `"${glob}" ${why}. Write ${write}.`;
  if (glob === '') return 'A pattern is empty. Write one such as src/**, or remove the line.';
  if (glob.startsWith('!')) return says('begins with a second !', `one ! to exclude`);
  if (glob.trim() !== glob) return says('begins or ends with a space', `"${glob.trim()}"`);
  if (/^\.{0,2}\//.test(glob)) {
    const below = glob.replace(/^(?:\.{0,2}\/)+/, '');
    return says('begins outside of the repository: paths begin at its root', below || '**');
  }
  if (/\\(?![{},])/.test(glob)) return says('has a backslash', '/ between folders, on Windows too');
  if (glob.endsWith('/')) return says('names a folder, and only files change', `${glob}**`);
  if (glob.includes('//')) return says('has an empty folder name', 'one / between folders');
  const joined = glob.split('/').find((part) => part !== '**' && /\*\*/.test(part));
  if (joined !== undefined)
    return says(
      'has ** beside other characters, where it does not reach into folders',
      `**/ before, such as **/${joined.replace(/\*\*+/g, '*')}`,
    );
  return null;
}
