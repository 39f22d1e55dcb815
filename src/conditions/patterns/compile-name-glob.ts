import { compileGlob } from './compile-glob.ts';
import type { TextTest } from './text-test.ts';

/** Replaces `/`, which has no special meaning in a name. No GitHub name contains this character. */
const slash = '\ufdd3';
const folded = (text: string): string => text.toLowerCase().replaceAll('/', slash);

/**
 * Compiles a glob of names, such as those of repositories and environments: `*`, `?`, `[abc]`, `{a,b}` match the whole
 * name, in any letter case. Every glob takes linear time.
 * @throws PatternError if its braces do not match, or it is too large.
 */
export function compileNameGlob(glob: string): TextTest {
  const test = compileGlob(folded(glob));
  return (name) => test(folded(name));
}

/** Whether a glob is a plain name. */
export const isPlainName = (glob: string): boolean => !/[*?[\]{}\\]/.test(glob);
