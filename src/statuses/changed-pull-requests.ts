import type { Judged } from './judge.ts';
import type { Observed } from './observe.ts';
import type { LastSeen } from './open-pull-request-store.ts';

// Which pull requests an observation found changed, for pages that update themselves.

/** Of more pull requests, all pages hear at once. */
const mostChanged = 20;

/** The pull requests that freezes began or ceased to hold, whose held head is another, or that are gone; an empty text for all. */
export function changedIn(
  { freezes }: Observed,
  lastSeen: LastSeen[],
  judged: Judged[],
  gone: number[],
  isWhole: boolean,
): string[] {
  const before = new Map(lastSeen.map((seen) => [seen.number, seen]));
  const changed = judged.flatMap(({ pullRequest: { facts }, holds }) => {
    const { heldBy = '{}', headSha } = before.get(facts.number) ?? {};
    const isOther = heldBy !== `{${freezesOf(holds).join(',')}}`;
    return isOther || (holds.length > 0 && headSha !== facts.headSha) ? facts.number : [];
  });
  const numbers = [...changed, ...gone];
  // Pages also say whether what is on has been judged.
  return (isWhole && freezes.length > 0) || numbers.length > mostChanged ? [''] : numbers.map(String);
}

/** The ids of the freezes that hold a pull request. */
export const freezesOf = (holds: Judged['holds']): string[] => [
  ...new Set(holds.map(({ freeze }) => freeze.id)),
];
