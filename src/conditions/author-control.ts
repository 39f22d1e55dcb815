import type { Leaf } from './ast.ts';
import { attributeOf } from './attributes.ts';
import type { Matcher } from './match.ts';

/**
 * The conditions that let the author of a pull request get an exclusion alone; empty if somebody else must act. What
 * nobody decides, such as the time or the base, does not stop the author.
 */
export const excludedByAuthor = (exclude: Matcher): string[] => waysTo(true, exclude, canSplit) ?? [];

/**
 * The conditions that let the author alone avoid a freeze with the same change. The changed files do not count, because
 * other files are another change. Neither does the size, because a smaller change is another change.
 */
export const escapedByAuthor = (matching: Matcher): string[] => waysTo(false, matching, () => false) ?? [];

/** Whether the author can reduce what the leaf counts. */
type HasLess = (leaf: Leaf) => boolean;

/** An author can split a change into small pieces, which an exclusion of small changes excludes one by one. */
const canSplit: HasLess = ({ isCounted }) => isCounted;

/** The leaves that let the author alone make a condition true or false; null if somebody else must act. */
function waysTo(wanted: boolean, matcher: Matcher, hasLess: HasLess): string[] | null {
  if (matcher.kind === 'leaf') return waysOfLeaf(wanted, matcher.leaf, hasLess);
  if (matcher.kind === 'not') return waysTo(!wanted, matcher.node, hasLess);
  const ways = matcher.nodes.map((node) => waysTo(wanted, node, hasLess));
  const needsAll = (matcher.kind === 'and') === wanted;
  const isBlocked = needsAll ? ways.includes(null) : ways.every((way) => way === null);
  return isBlocked ? null : ways.flatMap((way) => way ?? []);
}

function waysOfLeaf(wanted: boolean, leaf: Leaf, hasLess: HasLess): string[] | null {
  const own = [leaf.text];
  switch (attributeOf(leaf.attribute).decidedBy) {
    case 'author':
      return own;
    case 'author-adds':
      return hasLess(leaf) || moreMakes(leaf).includes(wanted) ? own : null;
    case 'author-clears':
      return moreMakes(leaf).includes(!wanted) ? own : null;
    case 'nobody':
    case 'author-elsewhere':
      return [];
    default:
      return null;
  }
}

/** How a condition changes when its value grows: a longer list, a greater number, a later time, or yes instead of no. */
function moreMakes({ test, isNegated }: Leaf): boolean[] {
  const operator = 'operator' in test ? test.operator : '=';
  // One more may reach the requested number or exceed it.
  if (test.type === 'number' && (operator === '=' || operator === '!=')) return [true, false];
  const isOrdered = test.type === 'number' || test.type === 'instant' || test.type === 'age';
  const shrinks = isOrdered ? operator === '<' || operator === '<=' : operator === '!=';
  return [shrinks === isNegated];
}
