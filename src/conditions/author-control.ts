import type { Leaf } from './ast.ts';
import { attributeOf } from './attributes.ts';
import type { Matcher } from './match.ts';

/**
 * The conditions that let the author of a pull request get an exclusion alone; empty if somebody else must act. What
 * nobody decides, such as the time or the base, does not stop the author.
 */
export const excludedByAuthor = (exclude: Matcher): string[] =>
  waysTo(true, exclude, waysOfAuthor({ canSplit: true })) ?? [];

/**
 * The conditions that let the author alone avoid a freeze with the same change. The changed files do not count, because
 * other files are another change. Neither does the size, because a smaller change is another change.
 */
export const escapedByAuthor = (matching: Matcher): string[] =>
  waysTo(false, matching, waysOfAuthor({ canSplit: false })) ?? [];

/**
 * The conditions on the author that exclude a pull request no matter who pushes to its branch; empty if the exclusion
 * also asks who pushed.
 */
export const excludedForPushers = (exclude: Matcher): string[] => waysTo(true, exclude, waysOfPusher) ?? [];

/** The leaves that let somebody alone make a condition true or false; null if somebody else must act. */
type WaysOfLeaf = (wanted: boolean, leaf: Leaf) => string[] | null;

function waysTo(wanted: boolean, matcher: Matcher, waysOfLeaf: WaysOfLeaf): string[] | null {
  if (matcher.kind === 'leaf') return waysOfLeaf(wanted, matcher.leaf);
  if (matcher.kind === 'not') return waysTo(!wanted, matcher.node, waysOfLeaf);
  const ways = matcher.nodes.map((node) => waysTo(wanted, node, waysOfLeaf));
  const needsAll = (matcher.kind === 'and') === wanted;
  const isBlocked = needsAll ? ways.includes(null) : ways.every((way) => way === null);
  return isBlocked ? null : ways.flatMap((way) => way ?? []);
}

/** @param canSplit into small changes, which an exclusion of small changes excludes one by one. */
const waysOfAuthor =
  ({ canSplit }: { canSplit: boolean }): WaysOfLeaf =>
  (wanted, leaf) => {
    const own = [leaf.text];
    switch (attributeOf(leaf.attribute).decidedBy) {
      case 'author':
        return own;
      case 'author-adds':
        return (canSplit && leaf.isCounted) || moreMakes(leaf).includes(wanted) ? own : null;
      case 'author-clears':
        return moreMakes(leaf).includes(!wanted) ? own : null;
      case 'nobody':
      case 'author-elsewhere':
        return [];
      default:
        return null;
    }
  };

/** Who pushes to a branch of somebody else keeps what the pull request has, such as its author and its labels. */
const waysOfPusher: WaysOfLeaf = (wanted, leaf) => {
  if (leaf.attribute === 'author') return [leaf.text];
  const { decidedBy } = attributeOf(leaf.attribute);
  const isAboutPushes = decidedBy === 'pusher' || decidedBy === 'dependabot';
  return isAboutPushes && !leaf.isCounted && names(leaf) === wanted ? null : [];
};

/** Whether a condition asks for a value, and not for any other. */
const names = ({ test, isNegated }: Leaf): boolean =>
  ('operator' in test && test.operator === '!=') === isNegated;

/** How a condition changes when its value grows: a longer list, a greater number, a later time, or yes instead of no. */
function moreMakes({ test, isNegated }: Leaf): boolean[] {
  const operator = 'operator' in test ? test.operator : '=';
  // One more may reach the requested number or exceed it.
  if (test.type === 'number' && (operator === '=' || operator === '!=')) return [true, false];
  const isOrdered = test.type === 'number' || test.type === 'instant' || test.type === 'age';
  const shrinks = isOrdered ? operator === '<' || operator === '<=' : operator === '!=';
  return [shrinks === isNegated];
}
