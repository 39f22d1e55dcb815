import type { Leaf } from './ast.ts';
import { attributeOf, type ValueName, type CommitFacts, type ConditionFacts } from './attributes.ts';
import {
  countOfAttribute,
  foundAhead,
  isAmongTexts,
  judgeLeaf,
  type LeafValue,
  valueNameOf,
  type LeafVerdict,
} from './judge-leaf.ts';
import type { Matcher, ConditionPath } from './match.ts';
import { mostFound as mostShown } from './search-ahead.ts';

/** What one leaf saw. */
export type ConditionReason = {
  path: ConditionPath;
  condition: string;
  match: LeafVerdict;
  /** The values that it was evaluated on, matching ones first. Timestamps in ISO 8601. Null if unknown. */
  saw: (string | number | boolean)[] | null;
  /** How many more values there are than in `saw`. */
  more: number;
  /** Why it could not be evaluated; null if it could. */
  why: string | null;
  /** Whether the overall result depends on it. */
  decides: boolean;
};

type Explanation = { match: LeafVerdict; reasons: ConditionReason[] };

/** Evaluates conditions and explains each leaf. Slower than `judge`, with the same result. */
export function explain(matcher: Matcher, facts: ConditionFacts, now: number): Explanation {
  const reasons: ConditionReason[] = [];
  const mark = explainNode(matcher, facts, now, reasons);
  mark();
  return { match: matcher.judge(facts, now), reasons };
}

/** @returns a function that marks the leaves that decide this node. */
function explainNode(
  matcher: Matcher,
  facts: ConditionFacts,
  now: number,
  reasons: ConditionReason[],
): () => void {
  switch (matcher.kind) {
    case 'leaf': {
      const { leaf, path } = matcher;
      const match = matcher.judge(facts, now);
      const reason = {
        path,
        condition: leaf.text,
        match,
        ...seenBy(leaf, match, facts, now),
        decides: false,
      };
      reasons.push(reason);
      return () => {
        reason.decides = true;
      };
    }
    case 'not':
      return explainNode(matcher.node, facts, now, reasons);
    default: {
      const verdict = matcher.judge(facts, now);
      const marks = matcher.nodes.map((node) => explainNode(node, facts, now, reasons));
      // A false `and` depends on its false items, a true `or` on its true items. Otherwise all items decide.
      const restsOnAll = verdict === (matcher.kind === 'and');
      return () => {
        matcher.nodes.forEach((node, index) => {
          if (restsOnAll || node.judge(facts, now) === verdict) marks[index]!();
        });
      };
    }
  }
}

function seenBy(
  leaf: Leaf,
  match: LeafVerdict,
  facts: ConditionFacts,
  now: number,
): Pick<ConditionReason, 'saw' | 'more' | 'why'> {
  const name = valueNameOf(leaf);
  if (name === null) return { saw: [new Date(now).toISOString()], more: 0, why: null };
  const value = valueOf(name, facts);
  if (leaf.attribute === 'scope' && facts.hasEveryScope) {
    const why = match === 'unknown' ? 'CI says that it touches every scope' : null;
    return { saw: ['(all)'], more: 0, why };
  }
  if (value === undefined) return { saw: null, more: 0, why: whyUnknown(leaf, name, facts) };
  const all = shownValue(leaf, value);
  const saw = all.length > mostShown ? matchingFirst(leaf, all, facts, now) : [...all];
  return {
    saw,
    more: all.length - saw.length,
    why: match === 'unknown' ? whyUnknown(leaf, name, facts) : null,
  };
}

/** In a stack, `base` sees both branches. */
function valueOf(name: ValueName, { values, stack }: ConditionFacts): LeafValue | undefined {
  if (name !== 'base' || !stack || stack.base === values.base) return values[name] as LeafValue | undefined;
  return [...(typeof values.base !== 'string' ? [] : [values.base]), stack.base];
}

function whyUnknown(leaf: Leaf, name: ValueName, { whyNotKnown, values, partial }: ConditionFacts): string {
  const { test, attribute } = leaf;
  if (values[name] === undefined || partial?.has(name))
    return whyNotKnown[name] ?? whyNotKnown[attribute] ?? `its \`${attribute}\` was not loaded`;
  if (test.type === 'team') return whyNotKnown[test.team] ?? `the members of ${test.team} are not known`;
  return 'its author’s account was deleted';
}

/** The value for readers: the count for `#`, and the requested field of commits. */
function shownValue(leaf: Leaf, value: LeafValue): readonly (string | number | boolean)[] {
  if (leaf.isCounted) return [countOfAttribute(value)];
  if (value === null) return [];
  if (!Array.isArray(value)) return [presentReason(leaf, value as string | number | boolean)];
  if (leaf.attribute !== 'commits') return value as string[];
  const commits = value as CommitFacts[];
  const { index, field } = leaf.commit ?? { index: '*', field: 'commit_message' };
  const asked = index === '*' ? commits : [commits.at(index)];
  return asked
    .map((commit) => commit?.[field as keyof CommitFacts] ?? null)
    .filter((each) => each !== null)
    .map((each) => presentReason(leaf, each));
}

function presentReason(
  { attribute, commit }: Leaf,
  value: string | number | boolean,
): string | number | boolean {
  const isInstant = commit ? commit.field.startsWith('date_') : attributeOf(attribute).type === 'timestamp';
  return isInstant ? new Date(value as number).toISOString() : value;
}

/** A few of very many values: those that match come first, because a reader looks for them. */
function matchingFirst(
  leaf: Leaf,
  all: readonly (string | number | boolean)[],
  facts: ConditionFacts,
  now: number,
): (string | number | boolean)[] {
  const found = leaf.attribute === 'commits' ? [] : foundIn(leaf, all as readonly string[], facts, now);
  return [...found, ...take(all, (each) => !found.includes(each as string), mostShown - found.length)];
}

/** Values that match, the first ones in their order: as many as are shown, or all. */
function foundIn(leaf: Leaf, all: readonly string[], facts: ConditionFacts, now: number): string[] {
  const { test } = leaf;
  const name = valueNameOf(leaf)!;
  if (test.type === 'text' && test.operator === '=' && !test.value.usesAuthor)
    return isAmongTexts(facts.values[name] as readonly string[], test.value.value) ? [test.value.value] : [];
  const ahead = foundAhead(leaf, facts);
  if (ahead) return ahead;
  const positive = judgeLeaf({ ...leaf, isNegated: false }, { isExclusion: false, isInverted: false });
  return take(
    all,
    (each) => positive({ ...facts, values: { ...facts.values, [name]: [each] } }, now) === true,
    mostShown,
  );
}

/** The first values that pass. */
function take<Each>(all: readonly Each[], passes: (each: Each) => boolean, most: number): Each[] {
  const taken: Each[] = [];
  for (const each of all) {
    if (taken.length >= most) break;
    if (passes(each)) taken.push(each);
  }
  return taken;
}
