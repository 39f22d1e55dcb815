import type { Leaf } from '../conditions/ast.ts';
import type { Matcher } from '../conditions/match.ts';
import type { PullRequestFacts } from '../github/pull-requests/pull-request.ts';
import type { FreezeConditions } from './judge-freeze.ts';

// What people mean by a value that nothing has: one in another case of letters, a list, or a glob.

/** What values can be compared with. @property labels of the repository, as far as they were asked for. */
export type KnownValues = { open: PullRequestFacts[]; labels: string[] };

/** The comparisons of a condition. */
const leavesOf = (item: Matcher): Leaf[] => {
  if (item.kind === 'leaf') return [item.leaf];
  return item.kind === 'not' ? leavesOf(item.node) : item.nodes.flatMap(leavesOf);
};

/** The one value that a comparison asks for, letter by letter; null if it asks otherwise. */
function valueOf({ test }: Leaf): string | null {
  return test.type === 'text' && test.operator === '=' && !test.value.usesAuthor ? test.value.value : null;
}

/** How many values a text is compared with: pull requests can have thousands of files. */
const mostCompared = 5_000;

function valuesOf(attribute: Leaf['attribute'], open: PullRequestFacts[]): unknown[] {
  const found: unknown[] = [];
  for (const { values } of open) {
    if (found.length >= mostCompared) break;
    found.push(...[(values as Record<string, unknown>)[attribute]].flat().slice(0, mostCompared));
  }
  return found;
}

/** The labels that a freeze names and no open pull request has. */
export function labelsOnNone({ matching, exclude }: FreezeConditions, open: PullRequestFacts[]): string[] {
  const named = [matching, ...(exclude ? [exclude] : [])]
    .flatMap(leavesOf)
    .filter(({ attribute }) => attribute === 'label')
    .flatMap((leaf) => valueOf(leaf) ?? []);
  if (named.length === 0) return [];
  const used = new Set(valuesOf('label', open));
  return [...new Set(named)].filter((label) => !used.has(label));
}

/** What is meant by a value that nothing has, as a sentence with a blank before it; empty if it says nothing. */
function hintOf(leaf: Leaf, { open, labels }: KnownValues): string {
  const { attribute } = leaf;
  const value = valueOf(leaf);
  if (value === null) return '';
  const known = valuesOf(attribute, open);
  const names = attribute === 'label' ? labels : [];
  if (known.includes(value) || names.includes(value)) return '';
  const isNear = (each: unknown): each is string =>
    typeof each === 'string' && each.toLowerCase() === value.toLowerCase();
  const near = known.find(isNear);
  if (near !== undefined) return ` A pull request has \`${near}\`: the case of letters counts.`;
  const label = names.find(isNear);
  if (label !== undefined) return ` The repository has \`${label}\`: the case of letters counts.`;
  if (/^\[.*\]$|[,|]| or /.test(value))
    return ` A condition has one value: write one for each, as \`{"or": ["${attribute}=…", "${attribute}=…"]}\`.`;
  return /[*?]/.test(value) ? ' For a glob, use `*=`.' : '';
}

/** Of how many conditions, and of how many comparisons in each, we ask what is meant. */
const mostHinted = 10;

/** The first condition that matches none of some pull requests and is meant as something else; null if there is none. */
export function meantAmong(
  items: Matcher[],
  some: PullRequestFacts[],
  seen: KnownValues & { at: Date },
): { item: Matcher; hint: string } | null {
  const now = seen.at.getTime();
  for (const item of items.slice(0, mostHinted)) {
    if (!some.every((facts) => item.judge(facts, now) === false)) continue;
    const hints = leavesOf(item)
      .slice(0, mostHinted)
      .map((leaf) => hintOf(leaf, seen));
    const hint = hints.find((each) => each !== '');
    if (hint) return { item, hint };
  }
  return null;
}
