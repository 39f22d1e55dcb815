import { classEnd } from './glob-class.ts';
import { PatternError } from './pattern-error.ts';

const mostAlternatives = 128;
const deepest = 32;
/** The maximum length of all alternatives together. */
const mostCharacters = 4000;

/**
 * Expands a glob with braces into globs without braces. Drops an empty alternative, unless a group has nothing else.
 * `\{`, `\}` and `\,` stay escaped.
 * @throws PatternError if braces do not match or expand to too much.
 */
export function expandBraces(glob: string): string[] {
  const { alternatives, end } = readSequence(glob, 0, 0);
  if (end < glob.length) throw new PatternError('unbalanced `}`: write `\\}` for the character', end);
  return alternatives;
}

/** Reads up to the end of the alternative that begins here. */
function readSequence(glob: string, start: number, depth: number): { alternatives: string[]; end: number } {
  let alternatives = [''];
  let at = start;
  while (at < glob.length) {
    const character = glob[at]!;
    if (character === '}' || (character === ',' && depth > 0)) break;
    if (character === '{') {
      const group = readGroup(glob, at, depth + 1);
      alternatives = combine(alternatives, group.alternatives, at);
      at = group.end;
    } else {
      const end = tokenEnd(glob, at);
      const token = glob.slice(at, end);
      alternatives = alternatives.map((each) => each + token);
      at = end;
    }
  }
  return { alternatives, end: at };
}

/** A character, an escaped character, or a whole class, where braces and commas have no meaning. */
function tokenEnd(glob: string, at: number): number {
  if (glob[at] === '\\' && /[{},]/.test(glob[at + 1] ?? '')) return at + 2;
  return glob[at] === '[' ? (classEnd(glob, at) ?? at + 1) : at + 1;
}

function readGroup(glob: string, open: number, depth: number): { alternatives: string[]; end: number } {
  if (depth > deepest) throw new PatternError(`braces nest more than ${deepest} levels deep`, open);
  const all: string[] = [];
  let at = open;
  do {
    const { alternatives, end } = readSequence(glob, at + 1, depth);
    all.push(...alternatives.filter((each) => each !== ''));
    checkCount(all.length, open);
    at = end;
    if (at >= glob.length) throw new PatternError('unbalanced `{`: write `\\{` for the character', open);
  } while (glob[at] === ',');
  return { alternatives: all.length > 0 ? all : [''], end: at + 1 };
}

function combine(before: string[], after: string[], at: number): string[] {
  checkCount(before.length * after.length, at);
  const combined = before.flatMap((one) => after.map((other) => one + other));
  if (combined.reduce((sum, { length }) => sum + length, 0) > mostCharacters) {
    throw new PatternError(`its alternatives have more than ${mostCharacters} characters`, at);
  }
  return combined;
}

function checkCount(count: number, at: number): void {
  if (count > mostAlternatives)
    throw new PatternError(`it stands for more than ${mostAlternatives} alternatives`, at);
}
