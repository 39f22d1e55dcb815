import type { Leaf } from './ast.ts';
import { attributeOf } from './attributes.ts';
import type { Matcher } from './match.ts';

/**
 * The conditions by which the author of a pull request alone brings an exclusion about; none where somebody else has
 * a say. What nobody decides (the time, the base) stands in nobody's way.
 */
export const excludedByAuthor = (exclude: Matcher): string[] => waysTo(true, exclude, canSplit) ?? [];

/**
 * The conditions by which the author alone gets the same change out of what a freeze selects. The files that it
 * touches are no such condition: without them it is another change. Neither is its size: smaller ones are not meant.
 */
export const escapedByAuthor = (matching: Matcher): string[] => waysTo(false, matching, () => false) ?? [];

/** Whether the author can have less of what the leaf counts. */
type HasLess = (leaf: Leaf) => boolean;

/** The pieces of a change that is split up are small, and each goes through an exclusion of what is small. */
const canSplit: HasLess = ({ isCounted }) => isCounted;

/** The leaves with which the author makes a condition true or false; null: not without somebody else. */
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

/** What a condition becomes when its value grows: more of a list, a greater number, a later time, yes for no. */
function moreMakes({ test, isNegated }: Leaf): boolean[] {
  const operator = 'operator' in test ? test.operator : '=';
  // One more may be the number that is asked for, or be one too many.
  if (test.type === 'number' && (operator === '=' || operator === '!=')) return [true, false];
  const isOrdered = test.type === 'number' || test.type === 'instant' || test.type === 'age';
  const shrinks = isOrdered ? operator === '<' || operator === '<=' : operator === '!=';
  return [shrinks === isNegated];
}
