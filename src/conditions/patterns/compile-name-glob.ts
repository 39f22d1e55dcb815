import { compileGlob } from './compile-glob.ts';
import type { TextTest } from './text-test.ts';

/** Stands for `/`, which is a character like any other in a name; no name of GitHub's has it. */
const slash = '\ufdd3';
const folded = (text: string): string => text.toLowerCase().replaceAll('/', slash);

/**
 * Compiles a glob over names, such as those of repositories and environments: `*`, `?`, `[abc]`, `{a,b}` over the
 * whole name, in any case of letters. It takes linear time, whatever the glob.
 * @throws PatternError when its braces do not match, or it is too large.
 */
export function compileNameGlob(glob: string): TextTest {
  const test = compileGlob(folded(glob));
  return (name) => test(folded(name));
}

/** Whether a glob names one thing as it stands. */
export const isPlainName = (glob: string): boolean => !/[*?[\]{}\\]/.test(glob);
