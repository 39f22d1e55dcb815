import {
  type ConditionFacts,
  attributeOf,
  type CommitFacts,
  type CommitField,
  commitFields,
  type Searched,
  type ValueName,
} from './attributes.ts';
import type { AuthorText, Comparison, Leaf, Test, TextTest } from './ast.ts';

/** `unknown` means that a deciding fact is unknown. */
export type LeafVerdict = boolean | 'unknown';

export const not = (verdict: LeafVerdict): LeafVerdict => (verdict === 'unknown' ? verdict : !verdict);

/** Whether one of them is true. */
function either(one: LeafVerdict, other: LeafVerdict): LeafVerdict {
  if (one === true || other === true) return true;
  return one === 'unknown' ? one : other;
}

/** Evaluates a pull request at an instant (milliseconds since the epoch). Called often, so it allocates nothing. */
export type Judge = (facts: ConditionFacts, now: number) => LeafVerdict;

/** One item with the deciding verdict is enough: a false one for `and`, a true one for `or`. */
export function joined(kind: 'and' | 'or', judges: Judge[]): Judge {
  const deciding = kind === 'or';
  return (facts, now) => {
    let verdict: LeafVerdict = !deciding;
    for (const judge of judges) {
      const each = judge(facts, now);
      if (each === deciding) return deciding;
      if (each === 'unknown') verdict = each;
    }
    return verdict;
  };
}

/** A known value. */
export type LeafValue = boolean | number | string | null | readonly string[] | readonly CommitFacts[];

/** The texts that a condition looks at; null in the place of one that is missing. */
type Texts = readonly (string | null)[];

type Tests = (value: LeafValue, facts: ConditionFacts, now: number) => LeafVerdict;

/** Where a leaf stands: in a list that excludes or that selects, and whether an odd number of `not` surrounds it. */
export type Side = { isExclusion: boolean; isInverted: boolean };

export function judgeLeaf(leaf: Leaf, side: Side): Judge {
  const judge = judgeValue(leaf);
  if (leaf.attribute === 'base') return judgeBases(judge, side.isExclusion === side.isInverted);
  return leaf.attribute === 'scope' ? judgeScopes(leaf, side.isInverted, judge) : judge;
}

/**
 * A pull request in a stack has two bases: the branch that it names, and the one that the stack merges into. Whichever
 * holds more counts.
 * @param holdsIfTrue whether a freeze holds more if the condition is true.
 */
function judgeBases(judge: Judge, holdsIfTrue: boolean): Judge {
  return (facts, now) => {
    const verdict = judge(facts, now);
    const base = facts.stack?.base;
    if (base === undefined) return verdict;
    const ofStack = judge({ ...facts, values: { ...facts.values, base } }, now);
    return holdsIfTrue ? either(verdict, ofStack) : not(either(not(verdict), not(ofStack)));
  };
}

/** The name of the value in the facts; null for the clock, which needs none. */
export function valueNameOf({ attribute, isCounted, test }: Leaf): ValueName | null {
  if (attribute === 'schedule' || attribute === 'current-datetime') return null;
  if (test.type === 'app-check') return `@${attribute}` as ValueName;
  return isCounted && attributeOf(attribute).hasOwnCount ? (`#${attribute}` as ValueName) : attribute;
}

function judgeValue(leaf: Leaf): Judge {
  const { isNegated } = leaf;
  const name = valueNameOf(leaf);
  const test = testOf(leaf);
  if (name === null) return (facts, now) => test(null, facts, now);
  return (facts, now) => {
    const value = facts.values[name];
    if (value === undefined) return 'unknown';
    const verdict = test(value, facts, now);
    if (facts.partial?.has(name) && !staysFound(leaf, verdict)) return 'unknown';
    return isNegated ? not(verdict) : verdict;
  };
}

/** Whether a verdict on some values of a list stays when the others are known: one of these matches. */
const staysFound = ({ test, isCounted }: Leaf, verdict: LeafVerdict): boolean =>
  !isCounted &&
  (test.type === 'text' || test.type === 'pattern') &&
  verdict === !(test.type === 'text' && test.operator === '!=');

/**
 * With all_scopes, a pull request has every scope, no matter what CI named. Whether it lacks a scope, or how many it has,
 * is unknown in every spelling. So such a condition never excludes the pull request, and never leaves it unselected.
 */
function judgeScopes({ isNegated, test }: Leaf, isInverted: boolean, judge: Judge): Judge {
  const asksForAbsence = ('operator' in test && test.operator === '!=') !== isNegated;
  const isSure = test.type !== 'number' && asksForAbsence === isInverted;
  return (facts, now) => {
    if (!facts.hasEveryScope) return judge(facts, now);
    return isSure ? !isInverted : 'unknown';
  };
}

function testOf(leaf: Leaf): Tests {
  const test = testOfValue(leaf);
  return leaf.commit ? ofCommits(leaf.commit, test) : test;
}

function testOfValue({ test, attribute, isCounted, commit }: Leaf): Tests {
  switch (test.type) {
    case 'is-true':
      return (value) => value === true;
    case 'number': {
      const compares = comparesNumbers[test.operator];
      if (!isCounted) return (value) => compares(value as number, test.value);
      return (value) => compares(countOfAttribute(value), test.value);
    }
    case 'instant': {
      const compares = comparesNumbers[test.operator];
      return (value) => value !== null && compares(value as number, test.at);
    }
    case 'age': {
      const compares = comparesNumbers[test.operator];
      return (value, _facts, now) => value !== null && compares(value as number, now - test.ago);
    }
    case 'now': {
      const compares = comparesNumbers[test.operator];
      return (_value, _facts, now) => compares(now, test.at);
    }
    case 'clock':
      return (_value, _facts, now) => test.clock.holds(now) === (test.operator === '=');
    case 'team':
      return negatedIf(test.operator === '!=', (value, facts) => isOfTeam(value, test.team, facts));
    case 'app-check':
      return (value) => (value as readonly string[]).includes(test.value) === (test.operator === '=');
    default:
      return onText(test, attribute === 'commits' && !commit);
  }
}

function negatedIf(isNegated: boolean, test: Tests): Tests {
  return isNegated ? (value, facts, now) => not(test(value, facts, now)) : test;
}

/** The number of values or of characters, or GitHub's own count. */
export function countOfAttribute(value: LeafValue): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'string') return lengthOf(value);
  return Array.isArray(value) ? value.length : 0;
}

/** If a review is requested from the team itself, its members do not matter. */
function isOfTeam(value: LeafValue, team: string, { teams }: ConditionFacts): LeafVerdict {
  const people = typeof value === 'string' ? [value] : ((value ?? []) as readonly string[]);
  if (people.some((one) => one.startsWith('@') && one.toLowerCase() === team)) return true;
  const members = teams.get(team);
  // Unknown even if there are no values: a misspelled team must not make `-assignee=@team` true.
  return members ? people.some((one) => members.has(one)) : 'unknown';
}

type TextualTest = Extract<Test, { type: 'text' | 'pattern' }>;
type OnText = TextTest;

/** `=`, orderings and patterns need one matching value; `!=` needs none. So without a value, only `!=` is true. */
function onText(test: TextualTest, isOfMessages: boolean): Tests {
  const isNegated = test.type === 'text' && test.operator === '!=';
  if (test.type === 'text' && !test.value.usesAuthor && isEquality(test.operator) && !isOfMessages) {
    return equals(test.value.value, isNegated);
  }
  const matcher = matcherOf(test);
  return (value, { searched, values: { author } }) => {
    // A deleted account has no login to compare with.
    if (matcher.usesAuthor && typeof author !== 'string') return 'unknown';
    if (value === null) return isNegated;
    const known = searched?.get(matcher);
    if (known && isAbout(known, value)) return known.found.length > 0 !== isNegated;
    const matches = matcher.usesAuthor ? matcher.of(author as string) : matcher.value;
    if (typeof value === 'string') return matches(value) !== isNegated;
    const texts = isOfMessages
      ? fieldOf(value as readonly CommitFacts[], 'commit_message')
      : (value as Texts);
    for (const text of texts) if (text !== null && matches(text)) return !isNegated;
    return isNegated;
  };
}

/** Whether it was this value that was searched, and not another one in its place. */
const isAbout = ({ value }: Searched, other: LeafValue): boolean => value === other;

/** What a leaf looks for in texts; null if it looks at something else, or at one value that it can be equal to. */
export function matcherOfLeaf({ test, commit, attribute }: Leaf): AuthorText<OnText> | null {
  if (test.type === 'pattern') return test.matches;
  if (test.type !== 'text') return null;
  const isQuick = isEquality(test.operator) && !test.value.usesAuthor && (attribute !== 'commits' || commit);
  return isQuick ? null : matcherOf(test);
}

/** The first texts that match, if `searchAhead` noted them. */
export function foundAhead(leaf: Leaf, { searched, values }: ConditionFacts): string[] | null {
  const matcher = matcherOfLeaf(leaf);
  const known = matcher && searched?.get(matcher);
  const isAboutOthers = leaf.test.type === 'text' && leaf.test.operator === '!=';
  return known && !isAboutOthers && isAbout(known, values[valueNameOf(leaf)!] as LeafValue)
    ? known.found
    : null;
}

/** What the test of a leaf is given of a known value, and the texts in it. */
export function textsFor({ commit, attribute }: Leaf, value: LeafValue): { value: LeafValue; texts: Texts } {
  const given = commit ? ofField(commit, value as readonly CommitFacts[]) : value;
  if (given === null) return { value: given, texts: [] };
  if (typeof given === 'string') return { value: given, texts: [given] };
  if (attribute === 'commits' && !commit)
    return { value: given, texts: fieldOf(given as readonly CommitFacts[], 'commit_message') };
  return { value: given, texts: given as readonly string[] };
}

const isEquality = (operator: Comparison): boolean => operator === '=' || operator === '!=';

/** The most frequent test, so it has its own fast path. */
function equals(expected: string, isNegated: boolean): Tests {
  return (value) =>
    (typeof value === 'object' && value !== null
      ? isAmongTexts(value as readonly string[], expected)
      : value === expected) !== isNegated;
}

/** So many values are faster found in a set, because hundreds of conditions may ask. */
const many = 100;
const sets = new WeakMap<readonly string[], ReadonlySet<string>>();

export function isAmongTexts(list: readonly string[], expected: string): boolean {
  if (list.length < many) return list.includes(expected);
  const set = sets.get(list) ?? new Set(list);
  sets.set(list, set);
  return set.has(expected);
}

/** The same one each time, because `searchAhead` notes by it what it found. */
function matcherOf(test: TextualTest): AuthorText<OnText> {
  if (test.type === 'pattern') return test.matches;
  const { operator, value } = test;
  const of = (expected: string): OnText => {
    if (isEquality(operator)) return (text) => text === expected;
    const compares = comparesNumbers[operator];
    return (text) => compares(compareTexts(text, expected), 0);
  };
  const kept = matchers.get(test);
  const matcher =
    kept ??
    (value.usesAuthor
      ? { usesAuthor: true, of: (author) => of(value.of(author)) }
      : { usesAuthor: false, value: of(value.value) });
  if (!kept) matchers.set(test, matcher);
  return matcher;
}

const matchers = new WeakMap<TextualTest, AuthorText<OnText>>();

/** A field of one commit or of any commit. A missing commit has no value. */
function ofCommits(commit: NonNullable<Leaf['commit']>, test: Tests): Tests {
  const { index, field } = commit;
  return (value, facts, now) => {
    const commits = value as readonly CommitFacts[];
    // Like for every list, `!=` means that no value is equal.
    if (index !== '*' || commitFields[field] === 'text') return test(ofField(commit, commits), facts, now);
    return commits.some((each) => test(each[field], facts, now) === true);
  };
}

const ofField = (
  { index, field }: NonNullable<Leaf['commit']>,
  commits: readonly CommitFacts[],
): LeafValue =>
  index === '*' ? (fieldOf(commits, field) as readonly string[]) : (commits.at(index)?.[field] ?? null);

/** A textual field of all commits. The same list each time, because what was found in it is noted by it. */
function fieldOf(commits: readonly CommitFacts[], field: CommitField): Texts {
  const lists = textsOfCommits.get(commits) ?? {};
  textsOfCommits.set(commits, lists);
  return (lists[field] ??= commits.map((commit) => commit[field] as string | null));
}

const textsOfCommits = new WeakMap<readonly CommitFacts[], Partial<Record<CommitField, Texts>>>();

const comparesNumbers: Record<Comparison, (one: number, other: number) => boolean> = {
  '=': (one, other) => one === other,
  '!=': (one, other) => one !== other,
  '>=': (one, other) => one >= other,
  '<=': (one, other) => one <= other,
  '>': (one, other) => one > other,
  '<': (one, other) => one < other,
};

/** Compares texts by code points: negative, 0 or positive. JavaScript's `<` compares UTF-16 units. */
function compareTexts(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  for (let i = 0; i < length; i++) {
    if (one.charCodeAt(i) !== other.charCodeAt(i)) return codePointAt(one, i) - codePointAt(other, i);
  }
  return one.length - other.length;
}

/** The code point that this unit is part of. */
function codePointAt(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  const isSecondHalf = unit >= 0xdc00 && unit <= 0xdfff && at > 0;
  const whole = isSecondHalf ? text.codePointAt(at - 1)! : unit;
  return whole > 0xffff ? whole : text.codePointAt(at)!;
}

/** The number of characters as readers count them, not of UTF-16 units. */
function lengthOf(text: string): number {
  let length = 0;
  for (const _character of text) length += 1;
  return length;
}
